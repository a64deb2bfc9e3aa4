public import ParleyFiles
public import ParleyLedger
public import ParleyWire

/// What is known about a sealed file that uses space on this disk, or used it.
public struct HeldFile: Equatable, Sendable {
    /// How much of it the disk has. The numbers are stored: never reuse one.
    public enum State: UInt8, Sendable {
        /// Part of it; the rest is wanted.
        case begun = 0
        /// The whole file.
        case whole = 1
        /// Nothing: it was given up to make room, or because the person wanted it so. It is not
        /// fetched automatically.
        case givenUp = 2
    }

    /// At most this many persons are recorded: more make no difference.
    static let holderCountMax = 64

    /// The sealed file.
    public var blob: BlobID
    /// How it is cut.
    public var shape: BlobShape
    /// How much of it the disk has.
    public var state: State
    /// When it came or was last opened, in Unix milliseconds.
    public var lastUse: WallTime
    /// Whether it came from another device: then somebody else has had the whole file.
    public var cameFromOthers: Bool
    /// Whether a linked device said that it gave the file up since it came from others: perhaps the
    /// one it came from, so that current holders are asked for.
    public private(set) var isDoubted = false
    /// Persons whose devices hold the whole file by their last answers, ascending; including the
    /// person's own devices. Receipts tell who has had it and may have given it up since: see
    /// ``receivers(of:as:in:)``.
    public private(set) var holders: [PersonID] = []

    /// A file with these fields.
    ///
    /// - Parameter holders: who said that they hold it: that stays true where it was given up here and is
    ///   fetched again.
    public init(
        blob: BlobID, shape: BlobShape, state: State, lastUse: WallTime, cameFromOthers: Bool,
        heldBy holders: [PersonID] = []
    ) {
        self.blob = blob
        self.shape = shape
        self.state = state
        self.lastUse = lastUse
        self.cameFromOthers = cameFromOthers
        self.holders = holders
    }

    /// Whether it can be fetched again once it is gone here. For a file sent from here it is not
    /// enough that others have had it: both ends of a conversation could give it up.
    public var canComeAgain: Bool { cameFromOthers && !isDoubted || !holders.isEmpty }

    /// Bytes that it takes on this disk, or is to take.
    public var byteCount: Int { state == .givenUp ? 0 : shape.sealedByteCount }

    /// Notes that a device of somebody holds the whole file. Returns whether that is news.
    mutating func note(holder person: PersonID) -> Bool {
        guard holders.count < Self.holderCountMax, !holders.contains(person) else { return false }
        holders = (holders + [person]).sorted()
        return true
    }

    /// Notes that no device of somebody is known to hold the whole file any more. Returns whether
    /// that is news.
    mutating func withdraw(holder person: PersonID) -> Bool {
        guard holders.contains(person) else { return false }
        holders.removeAll { $0 == person }
        return true
    }

    /// Notes that somebody gave up a file that came from others. Returns whether that is news.
    mutating func doubt() -> Bool {
        guard state == .whole, cameFromOthers, !isDoubted else { return false }
        isDoubted = true
        return true
    }

    /// The order of giving up: the least recently used first, and among those the files that others
    /// sent.
    static func precedes(_ left: Self, _ right: Self) -> Bool {
        if left.lastUse != right.lastUse { return left.lastUse < right.lastUse }
        if left.cameFromOthers != right.cameFromOthers { return left.cameFromOthers }
        return left.blob < right.blob
    }

    private var encoded: [UInt8] {
        var writer = ByteWriter(capacity: 18 + 32 * holders.count)
        writer.uint64(shape.size)
        writer.byte(state.rawValue)
        writer.uint64(lastUse)
        writer.byte((cameFromOthers ? 1 : 0) | (isDoubted ? 2 : 0))
        for holder in holders { writer.raw(holder.bytes) }
        return writer.bytes
    }

    private init?(_ key: [UInt8], _ value: [UInt8]) {
        var reader = ByteReader(value)
        do {
            let size: BlobSize = try reader.bounded64()
            guard let blob = BlobID(key), let shape = BlobShape(size),
                let state = State(rawValue: try reader.byte())
            else { return nil }
            let lastUse: WallTime = try reader.bounded64()
            let flags = try reader.byte()
            self.init(
                blob: blob, shape: shape, state: state, lastUse: lastUse,
                cameFromOthers: flags & 1 != 0)
            isDoubted = flags & 2 != 0
            let rest = value.dropFirst(18)
            for start in stride(from: rest.startIndex, to: rest.endIndex - 31, by: 32) {
                guard let person = PersonID(rest[start..<start + 32]) else { return nil }
                _ = note(holder: person)
            }
        } catch {
            // An unreadable row says nothing: the file is examined as at the first start.
            return nil
        }
    }

    /// All files that are known, by their names.
    public static func all(in store: some NodeStore) throws(StoreError) -> [HeldFile] {
        try store.values(.heldFile).compactMap { HeldFile($0.key, $0.value) }
            .sorted { $0.blob < $1.blob }
    }

    /// What is known about a file, or nil.
    public static func kept(
        _ blob: BlobID, in store: some NodeStore
    ) throws(StoreError) -> HeldFile? {
        try store.value(.heldFile, blob.bytes).flatMap { HeldFile(blob.bytes, $0) }
    }

    func keep(in store: some NodeStore) throws(StoreError) {
        try store.setValue(encoded, .heldFile, blob.bytes)
    }

    static func drop(_ blob: BlobID, in store: some NodeStore) throws(StoreError) {
        try store.setValue(nil, .heldFile, blob.bytes)
    }
}

/// What people do about files.
public enum FileCommand: Equatable, Sendable {
    /// Fetches the files of a message, however large they are.
    case fetch(OperationNumber)
    /// Frees what files of these messages take here; the messages stay. What nobody linked says to hold is not
    /// freed, unless `anyway`.
    case forget([OperationNumber], anyway: Bool)
    /// A file was opened.
    case noteUse(BlobID)
    /// Says what files may take here, and which come by themselves.
    case set(FileSettings)
}
