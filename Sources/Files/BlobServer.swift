public import ParleyLedger
public import ParleyWire

/// Serves peers the blobs they want, one piece at a time, so that messages go first.
///
/// Whether a peer may have a blob is decided outside, and told by ``grant(_:to:)``.
/// Source: `Protocol/13-files.md`, "Serving".
public struct BlobServer<Link: Hashable & Comparable & Sendable>: Sendable {
    /// Pieces that one peer may have asked for and not got.
    public static var pieceCountMax: Int { 256 }
    /// Blobs that one peer may be given on a link without another look at whether it may have them.
    public static var grantCountMax: Int { 256 }

    private enum Piece: Sendable {
        case section(BlobID, SectionIndex)
        case chunk(BlobID, ChunkIndex)

        var blob: BlobID {
            switch self {
            case .section(let blob, _), .chunk(let blob, _): blob
            }
        }
    }

    private struct Client: Sendable {
        var granted: Set<BlobID> = []
        /// The blobs it asked about: it is told once there is more of them.
        var asked: Set<BlobID> = []
        var pieces: Queue<Piece> = []
    }

    private var clients: [Link: Client] = [:]

    /// Serves nobody yet.
    public init() {}

    /// Links whose peers wait for something, ascending.
    public var waiting: [Link] {
        clients.filter { !$0.value.pieces.isEmpty }.keys.sorted()
    }

    /// Whether a peer was granted a blob, lately.
    public func isGranted(_ blob: BlobID, to link: Link) -> Bool {
        clients[link]?.granted.contains(blob) ?? false
    }

    /// Records that a peer asked about a blob, granted or not.
    public mutating func note(_ blob: BlobID, askedOn link: Link) {
        var client = clients.removeValue(forKey: link) ?? Client()
        if client.asked.count < Self.grantCountMax { client.asked.insert(blob) }
        clients[link] = client
    }

    /// Links whose peers asked about a blob, ascending.
    public func askers(of blob: BlobID) -> [Link] {
        clients.filter { $0.value.asked.contains(blob) }.keys.sorted()
    }

    /// Lets a peer have a blob.
    public mutating func grant(_ blob: BlobID, to link: Link) {
        var client = clients.removeValue(forKey: link) ?? Client()
        // Who wants more at once is looked at again.
        if client.granted.count >= Self.grantCountMax { client.granted = [] }
        client.granted.insert(blob)
        clients[link] = client
    }

    /// Serves a blob to nobody any more: pending requests for it are dropped.
    public mutating func withdraw(_ blob: BlobID) {
        // Each by itself: no order can be seen.
        for link in clients.keys { clients[link]?.granted.remove(blob) }
    }

    /// The link is gone, with its pending requests.
    public mutating func close(_ link: Link) { clients[link] = nil }

    /// Records what a peer wants. Returns whether there was room for it.
    public mutating func take(_ want: BlobWant, on link: Link) -> Bool {
        guard isGranted(want.blob, to: link), var client = clients.removeValue(forKey: link) else {
            return false
        }
        defer { clients[link] = client }
        switch want.part {
        case .section(let index):
            guard client.pieces.count < Self.pieceCountMax else { return false }
            client.pieces.append(.section(want.blob, index))
        case .chunks(let first, let count):
            guard client.pieces.count + count <= Self.pieceCountMax else { return false }
            for chunk in first.through(first.raised(by: UInt64(count - 1))) {
                client.pieces.append(.chunk(want.blob, chunk))
            }
        }
        return true
    }

    /// The next piece for a peer, or what is held of its blob where that piece is not. Nil where nothing is
    /// wanted.
    public mutating func next(
        for link: Link, from store: some BlobStore
    ) throws(StoreError) -> Frame? {
        while let piece = clients[link]?.pieces.popFirst() {
            guard isGranted(piece.blob, to: link) else { continue }
            if let frame = try Self.frame(piece, from: store) { return frame }
            return .blobHave(try lacked(piece, on: link, in: store))
        }
        return nil
    }

    /// Drops requests for parts of a blob that are not held, and tells the peer: a blob without
    /// even the hashes of its chunks is not held at all.
    private mutating func lacked(
        _ piece: Piece, on link: Link, in store: some BlobStore
    ) throws(StoreError) -> BlobHolding {
        var holding = try Self.holding(of: piece.blob, in: store)
        if case .section = piece { holding.ranges = [] }
        var chunks = ChunkSet(of: Limits.chunkCountMax)
        chunks.insert(holding.ranges)
        clients[link]?.pieces.removeAll { other in
            guard other.blob == piece.blob else { return false }
            guard case .chunk(_, let index) = other else { return holding.ranges.isEmpty }
            return !chunks.contains(Int(index.value))
        }
        return holding
    }

    private static func frame(
        _ piece: Piece, from store: some BlobStore
    ) throws(StoreError) -> Frame? {
        switch piece {
        case .section(let blob, let index):
            return try store.section(index, of: blob).map(Frame.blobSection)
        case .chunk(let blob, let index):
            return try store.soundChunk(index, of: blob).map { bytes in
                .blobChunk(BlobChunk(blob: blob, index: index, bytes: bytes))
            }
        }
    }

    /// What is held of a blob, as a peer is told.
    public static func holding(
        of blob: BlobID, in store: some BlobStore
    ) throws(StoreError) -> BlobHolding {
        BlobHolding(blob: blob, ranges: try store.heldBlob(blob)?.chunks.ranges() ?? [])
    }
}
