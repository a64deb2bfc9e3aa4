import ParleyConversation
import ParleyLedger
import ParleyWire

/// The messages here that disappear and have not yet. They are in memory as they are stored: whatever somebody
/// tells they have read, no message is read again.
struct DisappearanceDesk: Sendable {
    /// Messages of which it is looked whether they were deleted, each time.
    private static let checkedCountMax = 64

    /// Ascending by number.
    private var pending: [PendingDisappearance] = []
    /// The last one that was looked at.
    private var checked: OperationNumber?

    /// None.
    init() {}

    /// Those that are stored.
    init(from store: some Store) throws(StoreError) {
        for (key, value) in try store.values(.disappearing) {
            if let noted = try PendingDisappearance(key, value, in: store) { pending.append(noted) }
        }
        pending.sort { $0.number < $1.number }
    }

    var isEmpty: Bool { pending.isEmpty }

    /// The logs of those whose time does not run, in no order.
    var waitingLogs: Set<PendingDisappearance.Log> {
        var logs: Set<PendingDisappearance.Log> = []
        var last: PendingDisappearance.Log?
        for noted in pending where noted.due == nil && noted.log != last {
            last = noted.log
            logs.insert(noted.log)
        }
        return logs
    }

    /// The logs of those that wait until everybody has them, in no order.
    var awaitedLogs: Set<PendingDisappearance.Log> {
        Set(pending.lazy.filter { $0.due == nil && $0.awaitsEverybody }.map(\.log))
    }

    /// Notes a message. Returns whether it was not noted before.
    mutating func insert(_ noted: PendingDisappearance) -> Bool {
        let place = place(of: noted.number)
        if place < pending.count, pending[place].number == noted.number { return false }
        pending.insert(noted, at: place)
        return true
    }

    /// Removes a message, and returns what was noted of it.
    mutating func remove(_ number: OperationNumber) -> PendingDisappearance? {
        let place = place(of: number)
        guard place < pending.count, pending[place].number == number else { return nil }
        return pending.remove(at: place)
    }

    /// Lets each change, and removes those that have ended.
    mutating func update(
        _ change: (inout PendingDisappearance) throws(StoreError) -> Void
    ) throws(StoreError) {
        for index in pending.indices { try change(&pending[index]) }
        pending.removeAll { $0.isOver }
    }

    /// Some of those whose time does not run, in turn.
    mutating func nextToCheck() -> [OperationNumber] {
        let first = checked.map { place(of: $0) + 1 } ?? 0
        let next = pending.dropFirst(first).lazy.filter { $0.due == nil }.map(\.number)
            .prefix(Self.checkedCountMax)
        checked = next.count < Self.checkedCountMax ? nil : next.last
        return Array(next)
    }

    /// Where a message stands, or would.
    private func place(of number: OperationNumber) -> Int {
        // Most often it is the newest.
        guard let last = pending.last, last.number >= number else { return pending.count }
        var (low, high) = (0, pending.count)
        while low < high {
            let middle = (low + high) / 2
            if pending[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// A message that disappears, and since when its time runs.
struct PendingDisappearance: Sendable {
    /// A log of a conversation.
    struct Log: Hashable, Sendable {
        let space: SpaceNumber
        let tag: LogTag
    }

    /// The message.
    let number: OperationNumber
    /// Its log, and its place there.
    let log: Log
    let sequence: UInt64
    /// How long it stays, in milliseconds.
    private let lifetime: UInt64
    /// Whether the person deleted it for themselves: others are to have it all the same, and nobody else may
    /// be able to give it to them.
    var awaitsEverybody: Bool { lifetime == 0 }
    /// When it is erased, by this device's clock in Unix milliseconds; nil until its time runs.
    private(set) var due: UInt64?
    /// Whether nothing is stored of it any more.
    private(set) var isOver = false

    init(
        _ number: OperationNumber, in space: SpaceNumber, at sequence: UInt64, of tag: LogTag,
        lifetime seconds: UInt64
    ) {
        (self.number, self.sequence) = (number, sequence)
        log = Log(space: space, tag: tag)
        lifetime = min(seconds, Limits.lifetimeSecondsMax) * 1_000
    }

    /// What is stored under a key; nil if that is nothing sound. The first version stored no place.
    init?(_ key: [UInt8], _ value: [UInt8], in store: some Store) throws(StoreError) {
        var (keyReader, reader) = (ByteReader(key), ByteReader(value))
        let space: SpaceNumber
        do throws(DecodingFailure) {
            number = OperationNumber(Int64(bitPattern: try keyReader.uint64()))
            space = SpaceNumber(Int64(bitPattern: try reader.uint64()))
            lifetime = min(try reader.uint64(), Limits.lifetimeSecondsMax * 1_000)
            let due = try reader.uint64()
            self.due = due == 0 ? nil : due
        } catch { return nil }
        if let tag = reader.next(), let sequence = reader.next() {
            (log, self.sequence) = (Log(space: space, tag: LogTag(tag)), sequence)
            return
        }
        guard let stored = try store.operation(number), let record = try store.log(stored.log)
        else { return nil }
        (log, sequence) = (Log(space: space, tag: record.tag), stored.sequence)
    }

    /// When a message is erased; nil if its time does not run.
    static func due(
        of number: OperationNumber, in store: some Store
    ) throws(StoreError) -> UInt64? {
        let key = key(of: number)
        guard let value = try store.value(.disappearing, key) else { return nil }
        return try PendingDisappearance(key, value, in: store)?.due
    }

    private static func key(of number: OperationNumber) -> [UInt8] {
        var writer = ByteWriter(capacity: 8)
        writer.uint64(UInt64(bitPattern: number.rawValue))
        return writer.bytes
    }

    func keep(in store: some Store) throws(StoreError) {
        var writer = ByteWriter(capacity: 40)
        writer.uint64(UInt64(bitPattern: log.space.rawValue))
        writer.uint64(lifetime)
        writer.uint64(due ?? 0)
        writer.uint64(log.tag.value)
        writer.uint64(sequence)
        try store.setValue(writer.bytes, .disappearing, Self.key(of: number))
    }

    /// Lets its time run.
    mutating func begin(at wall: UInt64, _ store: some Store) throws(StoreError) {
        guard due == nil else { return }
        due = wall + lifetime
        try keep(in: store)
    }

    /// It never stays longer from now on than it would if its time began now.
    mutating func correct(at wall: UInt64, _ store: some Store) throws(StoreError) {
        guard let set = due, set > wall + lifetime else { return }
        due = wall + lifetime
        try keep(in: store)
    }

    /// Nothing is to be done for it any more.
    mutating func end(in store: some Store) throws(StoreError) {
        isOver = true
        try store.setValue(nil, .disappearing, Self.key(of: number))
    }
}

extension ByteReader {
    /// The next number, if there is one.
    fileprivate mutating func next() -> UInt64? {
        do throws(DecodingFailure) { return try uint64() } catch { return nil }
    }
}
