import ParleyConversation
import ParleyFiles
import ParleyLedger
import ParleyRoster
import ParleyWire

/// Who else has the files that were sent from here: what only this device has is never given up by itself.
/// Source: `Protocol/13-files.md`, "Room".
extension NodeCore {
    /// Asks a peer whether it holds files of this device that others may lack. It answers, and tells again
    /// once it holds more.
    mutating func inquireAfterFiles(on link: LinkID, _ turn: inout some Turn) throws(StoreError) {
        guard let person = links[link]?.peer.person, links[link]?.session != nil else { return }
        var asked: [BlobID] = []
        for blob in fileDesk.holders.unshared
        where !fileDesk.holders.isInquired(blob, on: link) {
            guard try HeldFile.kept(blob, in: turn.store)?.holders.contains(person) == false,
                try isNamed(blob, toPeerOn: link, turn.store)
            else { continue }
            asked.append(blob)
        }
        guard !asked.isEmpty else { return }
        fileDesk.holders.inquire(asked, on: link)
        turn.emit(.send(link, Frame.blobAsk(asked.sorted()).encoded()))
    }

    /// A peer told what it holds of a file: of all of one that it was asked about it is noted.
    mutating func noteHolder(
        _ holding: BlobHolding, on link: LinkID, _ turn: inout some Turn
    ) throws(StoreError) {
        guard fileDesk.holders.isInquired(holding.blob, on: link),
            let person = links[link]?.peer.person,
            var row = try HeldFile.kept(holding.blob, in: turn.store)
        else { return }
        var chunks = ChunkSet(of: row.shape.chunkCount)
        chunks.insert(holding.ranges)
        guard chunks.isWhole, row.note(holder: person) else { return }
        try row.keep(in: turn.store)
        guard try !isLackedByOthers(holding.blob, turn.store) else { return }
        fileDesk.holders.remove(holding.blob)
        // It may be given up from now on.
        try holdBound(&turn)
    }

    /// Whether somebody who takes part in a conversation that names a file is not known to have it.
    func isLackedByOthers(_ blob: BlobID, _ store: some Store) throws(StoreError) -> Bool {
        guard let row = try HeldFile.kept(blob, in: store),
            row.holders.count < HeldFile.holderCountMax
        else { return false }
        let holders = Set(row.holders)
        for entry in try store.naming(blob, limit: Self.namingCountMax) {
            guard let space = try store.space(entry.space),
                let roster = try RosterReader.roster(of: space, in: store)
            else { continue }
            if roster.participants.contains(where: {
                $0.person != identity.person && !holders.contains($0.person)
            }) {
                return true
            }
        }
        return false
    }
}

/// Files of this device that others may lack, and who was asked about them.
struct FileHolders: Sendable {
    /// Files that are asked about at a time: the newest.
    static let unsharedCountMax = 64

    private var files: [BlobID] = []
    private var inquired: [LinkID: Set<BlobID>] = [:]

    /// The files, the newest last.
    var unshared: [BlobID] { files }

    /// A file was sent.
    mutating func add(_ blob: BlobID) {
        files.removeAll { $0 == blob }
        files = (files + [blob]).suffix(Self.unsharedCountMax)
    }

    /// Nobody is asked about a file any more.
    mutating func remove(_ blob: BlobID) {
        files.removeAll { $0 == blob }
        // Each by itself: no order can be seen.
        for link in inquired.keys { inquired[link]?.remove(blob) }
    }

    /// Whether a peer was asked about a file.
    func isInquired(_ blob: BlobID, on link: LinkID) -> Bool {
        inquired[link]?.contains(blob) ?? false
    }

    /// A peer is asked about files.
    mutating func inquire(_ blobs: [BlobID], on link: LinkID) {
        inquired[link, default: []].formUnion(blobs)
    }

    /// The link is gone.
    mutating func close(_ link: LinkID) { inquired[link] = nil }
}

/// What files take, and which of those that are wanted do not fit.
struct FileRoom: Sendable {
    /// Bytes that are taken, by what is noted.
    private(set) var byteCount = 0
    private var blobs: Set<BlobID> = []

    /// Those that do not fit, ascending.
    var lacking: [BlobID] { blobs.sorted() }
    /// Whether everything fits.
    var isEnough: Bool { blobs.isEmpty }

    /// Whether a file does not fit.
    func isLacking(for blob: BlobID) -> Bool { blobs.contains(blob) }

    /// So many bytes are taken after a start.
    mutating func begin(with count: Int) { byteCount = count }

    /// So many bytes more are taken.
    mutating func take(_ count: Int) { byteCount += count }

    /// So many bytes are free again.
    mutating func free(_ count: Int) { byteCount -= count }

    /// A file does not fit.
    mutating func lack(_ blob: BlobID) { blobs.insert(blob) }

    /// It may fit by now.
    mutating func tryAgain(_ blob: BlobID) { blobs.remove(blob) }
}
