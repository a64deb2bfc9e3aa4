import ParleyFiles
import ParleyLedger
import ParleySealing
import ParleyWire

/// A sealed file that a message of this device names and for which it has a shelf: kept until all
/// have it, and nothing of it is on a relay.
struct OwnShelf: Equatable {
    let blob: BlobID
    /// Since when, in Unix milliseconds.
    let since: UInt64

    /// All of them, the oldest first.
    static func all(in store: some NodeStore) throws(StoreError) -> [OwnShelf] {
        try store.values(.ownShelf).compactMap { key, value in
            guard let blob = BlobID(key), value.count == 8 else { return nil }
            return OwnShelf(blob: blob, since: value.reduce(0) { $0 << 8 | UInt64($1) })
        }.sorted { ($0.since, $0.blob) < ($1.since, $1.blob) }
    }

    /// Notes one. Returns whether it is news.
    static func note(
        _ blob: BlobID, at now: UInt64, in store: some NodeStore
    ) throws(StoreError) -> Bool {
        guard try store.value(.ownShelf, blob.bytes) == nil else { return false }
        try store.setNumber(now, .ownShelf, blob.bytes)
        return true
    }

    static func drop(_ blob: BlobID, in store: some NodeStore) throws(StoreError) {
        try store.setValue(nil, .ownShelf, blob.bytes)
    }
}

/// A shelf of this device at one relay.
struct ShelfPlace: Hashable, Comparable {
    let blob: BlobID
    let relay: NoiseKey

    var key: [UInt8] { blob.bytes + relay.bytes }

    static func < (left: Self, right: Self) -> Bool {
        (left.blob, left.relay) < (right.blob, right.relay)
    }
}

/// How much of a file lies on this device's shelf at one relay.
struct ShelfRecord: Equatable {
    /// A conversation whose members read it: their cards say where the relay is.
    var space: SpaceNumber
    /// How many of its pieces the relay answered for.
    var pieceCount: UInt64 = 0
    /// The counters of the first and the last of them.
    var first: UInt64 = 0
    var last: UInt64 = 0
    /// When the first was put, in Unix milliseconds.
    var since: UInt64
    /// When it was last seen to lie there.
    var seen: UInt64
    /// How often it was put there again.
    var round: UInt8 = 0

    /// Nothing of it, yet.
    init(space: SpaceNumber, at now: UInt64) {
        (self.space, since, seen) = (space, now, now)
    }

    private init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        do {
            guard let space = SpaceNumber(key: Array(try reader.slice(8))) else { return nil }
            self.space = space
            pieceCount = try reader.number()
            first = try reader.uint64()
            last = try reader.uint64()
            since = try reader.uint64()
            seen = try reader.uint64()
            round = try reader.byte()
        } catch {
            // An unreadable row says nothing.
            return nil
        }
    }

    private var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 64)
        writer.raw(space.key)
        writer.number(pieceCount)
        writer.uint64(first)
        writer.uint64(last)
        writer.uint64(since)
        writer.uint64(seen)
        writer.byte(round)
        return writer.bytes
    }

    /// It is to be put there again, from the beginning.
    mutating func beginAnew(at now: UInt64) {
        (pieceCount, first, last, since, seen) = (0, 0, 0, now, now)
        round = round == .max ? .max : round + 1
    }

    static func kept(
        _ place: ShelfPlace, in store: some NodeStore
    ) throws(StoreError) -> ShelfRecord? {
        try store.value(.shelf, place.key).flatMap(ShelfRecord.init)
    }

    /// All of one file, or of all files, ascending.
    static func all(
        of blob: BlobID? = nil, in store: some NodeStore
    ) throws(StoreError) -> [(place: ShelfPlace, record: ShelfRecord)] {
        try store.values(.shelf).compactMap { key, value in
            guard key.count == 64, let name = BlobID(key[..<32]), blob == nil || name == blob,
                let relay = NoiseKey(key[32...]), let record = ShelfRecord(value)
            else { return nil }
            return (ShelfPlace(blob: name, relay: relay), record)
        }
    }

    func keep(_ place: ShelfPlace, in store: some NodeStore) throws(StoreError) {
        try store.setValue(bytes, .shelf, place.key)
    }

    static func drop(_ place: ShelfPlace, in store: some NodeStore) throws(StoreError) {
        try store.setValue(nil, .shelf, place.key)
    }
}

/// A shelf of somebody at a relay that this device reads.
struct ForeignShelf: Hashable, Comparable {
    let blob: BlobID
    let relay: NoiseKey
    /// The key of the device that put it there.
    let owner: DeviceID

    var mailbox: MailboxID { MailboxID(shelf: owner) }
    var key: [UInt8] { blob.bytes + relay.bytes + owner.bytes }

    static func < (left: Self, right: Self) -> Bool {
        (left.blob, left.relay, left.owner) < (right.blob, right.relay, right.owner)
    }
}

/// How far somebody's shelf was read.
struct ShelfCursor: Equatable {
    /// All up to this counter was looked at.
    var counter: UInt64 = 0
    /// When it was last read from the beginning, in Unix milliseconds.
    var begun: UInt64

    init(begun: UInt64) { self.begun = begun }

    static func kept(
        _ shelf: ForeignShelf, in store: some NodeStore
    ) throws(StoreError) -> ShelfCursor? {
        guard let value = try store.value(.shelfCursor, shelf.key), value.count == 16 else {
            return nil
        }
        var cursor = ShelfCursor(begun: value[8...].reduce(0) { $0 << 8 | UInt64($1) })
        cursor.counter = value[..<8].reduce(0) { $0 << 8 | UInt64($1) }
        return cursor
    }

    func keep(_ shelf: ForeignShelf, in store: some NodeStore) throws(StoreError) {
        var writer = ByteWriter(capacity: 16)
        writer.uint64(counter)
        writer.uint64(begun)
        try store.setValue(writer.bytes, .shelfCursor, shelf.key)
    }

    /// A file is not read from shelves any more, or nothing from a relay as it was before.
    static func drop(
        of blob: BlobID? = nil, at relay: NoiseKey? = nil, in store: some NodeStore
    ) throws(StoreError) {
        for (key, _) in try store.values(.shelfCursor)
        where key.starts(with: blob?.bytes ?? [])
            && key.dropFirst(32).starts(with: relay?.bytes ?? [])
        {
            try store.setValue(nil, .shelfCursor, key)
        }
    }
}
