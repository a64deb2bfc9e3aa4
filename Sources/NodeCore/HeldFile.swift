public import ParleyFiles
public import ParleyLedger
public import ParleyWire

/// What is known of a sealed file that takes room on this disk, or took it.
public struct HeldFile: Equatable, Sendable {
    /// What the disk has of it. The numbers are stored: never reuse one.
    public enum State: UInt8, Sendable {
        /// Some of it; the rest is wanted.
        case begun = 0
        /// All of it.
        case whole = 1
        /// Nothing: it was given up to make room, or the person wanted it so. It does not come by itself.
        case givenUp = 2
    }

    /// Persons who are noted, at most: more of them change nothing.
    static let holderCountMax = 64

    /// The sealed file.
    public var blob: BlobID
    /// How it is cut.
    public var shape: BlobShape
    /// What the disk has of it.
    public var state: State
    /// When it came or was last opened, in Unix milliseconds.
    public var lastUse: WallTime
    /// Whether it came from another device: then somebody else has had all of it.
    public var cameFromOthers: Bool
    /// Whether somebody linked said that they gave it up since it came from others: perhaps the one it came
    /// from, so that who has it now is asked.
    public private(set) var isDoubted = false
    /// Whose devices hold all of it by what they said last, ascending; of the person's own ones as well. Who
    /// has had it, and may have given it up since, is told by receipts: see ``receivers(of:as:in:)``.
    public private(set) var holders: [PersonID] = []

    /// A file with these fields, of which nobody said that they hold it.
    public init(
        blob: BlobID, shape: BlobShape, state: State, lastUse: WallTime, cameFromOthers: Bool
    ) {
        self.blob = blob
        self.shape = shape
        self.state = state
        self.lastUse = lastUse
        self.cameFromOthers = cameFromOthers
    }

    /// Whether it can come again once it is gone here. That others have had what was sent from here is too
    /// little: both ends of a conversation could give it up.
    public var canComeAgain: Bool { cameFromOthers && !isDoubted || !holders.isEmpty }

    /// Bytes that it takes on this disk, or is to take.
    public var byteCount: Int { state == .givenUp ? 0 : shape.sealedByteCount }

    /// Notes that a device of somebody holds all of it. Returns whether that is news.
    mutating func note(holder person: PersonID) -> Bool {
        guard holders.count < Self.holderCountMax, !holders.contains(person) else { return false }
        holders = (holders + [person]).sorted()
        return true
    }

    /// Notes that no device of somebody is known to hold all of it any more. Returns whether that is news.
    mutating func withdraw(holder person: PersonID) -> Bool {
        guard holders.contains(person) else { return false }
        holders.removeAll { $0 == person }
        return true
    }

    /// Notes that somebody gave up what came from others. Returns whether that is news.
    mutating func doubt() -> Bool {
        guard state == .whole, cameFromOthers, !isDoubted else { return false }
        isDoubted = true
        return true
    }

    /// What is given up first: what was used longest ago, and of that what others sent.
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
            // A row that is none tells nothing: the file is looked at as at the first start.
            return nil
        }
    }

    /// All files that are known, by their names.
    public static func all(in store: some NodeStore) throws(StoreError) -> [HeldFile] {
        try store.values(.heldFile).compactMap { HeldFile($0.key, $0.value) }
            .sorted { $0.blob < $1.blob }
    }

    /// What is known of a file, or nil.
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
