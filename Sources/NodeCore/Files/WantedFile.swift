public import ParleyFiles
public import ParleyLedger
public import ParleyWire

/// A sealed file that this device wants and does not hold all of. It is kept until it came, or nobody
/// names it any more.
public struct WantedFile: Equatable, Sendable {
    /// The sealed file.
    public var blob: BlobID
    /// How many bytes it has before it is sealed.
    public var shape: BlobShape
    /// Since when it is wanted, in Unix milliseconds.
    public var since: WallTime
    /// Whether the person asked for it: such files come first.
    public var isAskedFor: Bool

    /// A want with these fields.
    public init(blob: BlobID, shape: BlobShape, since: WallTime, isAskedFor: Bool) {
        self.blob = blob
        self.shape = shape
        self.since = since
        self.isAskedFor = isAskedFor
    }

    /// The order: what the person asked for first, then what was wanted first.
    static func precedes(_ left: Self, _ right: Self) -> Bool {
        if left.isAskedFor != right.isAskedFor { return left.isAskedFor }
        return (left.since, left.blob) < (right.since, right.blob)
    }

    private var encoded: [UInt8] {
        var writer = ByteWriter(capacity: 24)
        writer.uint64(shape.size)
        writer.uint64(since)
        writer.byte(isAskedFor ? 1 : 0)
        return writer.bytes
    }

    private init?(_ key: [UInt8], _ value: [UInt8]) {
        var reader = ByteReader(value)
        do {
            let (size, since): (BlobSize, WallTime) = (
                try reader.bounded64(), try reader.bounded64()
            )
            guard let blob = BlobID(key), let shape = BlobShape(size) else { return nil }
            let isAskedFor = try reader.byte() == 1
            self.init(blob: blob, shape: shape, since: since, isAskedFor: isAskedFor)
        } catch {
            // An unreadable row is no want.
            return nil
        }
    }

    /// All wanted files, in order.
    public static func all(in store: some NodeStore) throws(StoreError) -> [WantedFile] {
        try store.values(.wantedFile).compactMap { WantedFile($0.key, $0.value) }
            .sorted(by: precedes)
    }

    /// The want of a sealed file, or nil.
    public static func kept(
        _ blob: BlobID, in store: some NodeStore
    ) throws(StoreError) -> WantedFile? {
        try store.value(.wantedFile, blob.bytes).flatMap { WantedFile(blob.bytes, $0) }
    }

    func keep(in store: some NodeStore) throws(StoreError) {
        try store.setValue(encoded, .wantedFile, blob.bytes)
    }

    /// A sealed file is wanted no more.
    static func drop(_ blob: BlobID, in store: some NodeStore) throws(StoreError) {
        try store.setValue(nil, .wantedFile, blob.bytes)
    }
}

/// The sealed form of a file that was sent from here, by its content.
public struct OwnFile: Equatable, Sendable {
    /// The sealed file.
    public var blob: BlobID
    /// What opens it.
    public var key: [UInt8]

    /// A file with these fields.
    public init(blob: BlobID, key: [UInt8]) {
        self.blob = blob
        self.key = key
    }

    /// The sealed form of a file with this content, or nil.
    public static func kept(
        _ content: Digest, in store: some NodeStore
    ) throws(StoreError) -> OwnFile? {
        guard let value = try store.value(.ownFile, content.bytes), value.count == 64,
            let blob = BlobID(value[..<32])
        else { return nil }
        return OwnFile(blob: blob, key: Array(value[32...]))
    }

    /// Notes it for this content.
    public func keep(for content: Digest, in store: some NodeStore) throws(StoreError) {
        try store.setValue(blob.bytes + key, .ownFile, content.bytes)
    }

    /// The sealed files of which something is noted.
    static func blobs(in store: some NodeStore) throws(StoreError) -> [BlobID] {
        try store.values(.ownFile).compactMap { BlobID($0.value.prefix(32)) }
    }

    /// Forgets what these were sealed as: the keys go with the last message that names them.
    static func drop(_ blobs: Set<BlobID>, in store: some NodeStore) throws(StoreError) {
        guard !blobs.isEmpty else { return }
        for (key, value) in try store.values(.ownFile) {
            guard let blob = BlobID(value.prefix(32)), blobs.contains(blob) else { continue }
            try store.setValue(nil, .ownFile, key)
        }
    }
}
