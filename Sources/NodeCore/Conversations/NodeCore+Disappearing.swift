import ParleyConversation
public import ParleyLedger
import ParleyRoster
import ParleyWire

/// Messages that disappear. Each device counts for itself, by its own clock, and erases for itself: nobody
/// tells it to, and no author's clock says when.
/// Source: `Protocol/03-operations.md`, "Disappearing messages".
extension NodeCore {
    /// Messages that are erased in one step: others get their turn.
    private static let erasedCountMax = 256
    /// How soon what came, or was read, is looked at.
    private static let disappearanceDelay: UInt64 = 500

    /// Sets after how many seconds messages of a conversation disappear; 0 for never.
    mutating func setLifetime(_ id: SpaceID, _ seconds: UInt64, _ turn: inout some Turn)
        throws(StoreError) -> Result<CommandReply, CommandRefusal>
    {
        guard let space = try conversation(id, turn.store) else {
            return .failure(.unknownConversation)
        }
        guard seconds <= Limits.lifetimeSecondsMax else {
            return .failure(.impossibleLifetime(limit: Limits.lifetimeSecondsMax))
        }
        if let refusal = try refusal(writingIn: space, turn.store) { return .failure(refusal) }
        let own = try roster(of: space, turn.store)?.member(identity.person)
        guard space.kind == .direct || own.map({ $0.role >= .admin }) ?? false else {
            return .failure(.notAllowed)
        }
        let known = try Overview.messageLifetime(of: space.number, in: turn.store) ?? 0
        if known != seconds {
            _ = try write([MessageLifetime(seconds: seconds).draft], in: space, &turn)
        }
        return .success(.done)
    }

    /// Messages as they are written into a conversation: without a lifetime of their own they get its.
    func withLifetime(
        _ messages: [TextMessage], in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> [TextMessage] {
        guard let lifetime = try Overview.messageLifetime(of: space.number, in: store) else {
            return messages
        }
        return messages.map { message in
            var message = message
            if message.origin == nil { message.lifetime = message.lifetime ?? lifetime }
            return message
        }
    }

    /// Why a message cannot be changed or kept beside its conversation, or nil where it can.
    static func refusal(keeping stored: StoredOperation) -> CommandRefusal? {
        guard stored.operation.header.kind == .disappearingText else { return nil }
        return stored.operation.isErased ? .disappeared : .disappears
    }

    /// When a message disappears from here, in Unix milliseconds; nil if its time does not run.
    public static func disappearance(
        of number: OperationNumber, in store: some NodeStore
    ) throws(StoreError) -> UInt64? {
        try PendingDisappearance.kept(number, in: store)?.due
    }

    /// A message came that disappears.
    mutating func noteDisappearing(
        _ number: OperationNumber, in space: SpaceNumber, _ turn: inout some Turn
    ) throws(StoreError) {
        guard let stored = try turn.store.operation(number),
            let lifetime = stored.operation.payload.flatMap(TextMessage.init)?.lifetime
        else { return }
        if try turn.store.value(.disappearing, PendingDisappearance.key(of: number)) == nil {
            try PendingDisappearance(number, in: space, lifetime: lifetime).keep(in: turn.store)
        }
        intake.mayDisappear = true
        hastenDisappearing(&turn)
    }

    /// Looks soon whether something begins to disappear: somebody read or received something.
    mutating func hastenDisappearing(_ turn: inout some Turn) {
        guard intake.mayDisappear else { return }
        timers.hasten(.disappearing, in: Self.disappearanceDelay, &turn)
    }

    /// Begins to count for messages that were read here or have reached somebody, and erases those whose time
    /// is over.
    mutating func tendDisappearing(_ turn: inout some Turn) throws(StoreError) {
        var pending = try PendingDisappearance.all(in: turn.store)
        let begun = try begunToDisappear(pending, turn.store)
        var erasedCount = 0
        for index in pending.indices {
            if begun.contains(pending[index].number) {
                try pending[index].begin(at: turn.now.wall, turn.store)
            }
            // Of a clock that was ahead and is not any more.
            try pending[index].correct(at: turn.now.wall, turn.store)
            guard let due = pending[index].due, due <= turn.now.wall,
                erasedCount < Self.erasedCountMax
            else { continue }
            erasedCount += 1
            turn.emit(
                .changed(try Disappearance.erase(pending[index].number, in: turn.store)))
            try turn.store.setValue(nil, .disappearing, pending[index].key)
            pending[index].isOver = true
        }
        let left = pending.filter { !$0.isOver }
        intake.mayDisappear = !left.isEmpty
        guard intake.mayDisappear else { return }
        let next = left.compactMap(\.due).min() ?? .max
        look(.disappearing, at: next, &turn)
    }

    /// Of what waits to be read or delivered, what does so no longer.
    private mutating func begunToDisappear(
        _ pending: [PendingDisappearance], _ store: some Store
    ) throws(StoreError) -> Set<OperationNumber> {
        var begun: Set<OperationNumber> = []
        let waiting = Dictionary(grouping: pending.filter { $0.due == nil }, by: \.space)
        for (number, waiting) in waiting.sorted(by: { $0.key < $1.key }) {
            let numbers = waiting.map(\.number)
            guard let space = try store.space(number), let roster = try roster(of: space, store)
            else {
                begun.formUnion(numbers)
                continue
            }
            begun.formUnion(
                try Overview.begunToDisappear(
                    numbers, in: space, roster: roster, ownPerson: identity.person, store: store
                ) { person throws(StoreError) in
                    guard space.kind == .group else { return false }
                    return try contact(person, store)?.isBlocked == true
                })
        }
        return begun
    }
}

/// A message that disappears, and since when its time runs.
struct PendingDisappearance {
    /// The message.
    let number: OperationNumber
    /// Its conversation.
    let space: SpaceNumber
    /// How long it stays, in milliseconds.
    private let lifetime: UInt64
    /// When it is erased, by this device's clock in Unix milliseconds; nil until its time runs.
    private(set) var due: UInt64?
    /// Whether it was erased.
    var isOver = false

    init(_ number: OperationNumber, in space: SpaceNumber, lifetime seconds: UInt64) {
        (self.number, self.space) = (number, space)
        lifetime = min(seconds, Limits.lifetimeSecondsMax) * 1_000
    }

    private init?(_ key: [UInt8], _ value: [UInt8]) {
        var (keyReader, reader) = (ByteReader(key), ByteReader(value))
        do throws(DecodingFailure) {
            number = OperationNumber(Int64(bitPattern: try keyReader.uint64()))
            space = SpaceNumber(Int64(bitPattern: try reader.uint64()))
            lifetime = try reader.uint64()
            let due = try reader.uint64()
            self.due = due == 0 ? nil : due
        } catch { return nil }
    }

    static func key(of number: OperationNumber) -> [UInt8] {
        var writer = ByteWriter(capacity: 8)
        writer.uint64(UInt64(bitPattern: number.rawValue))
        return writer.bytes
    }

    var key: [UInt8] { Self.key(of: number) }

    static func all(in store: some NodeStore) throws(StoreError) -> [PendingDisappearance] {
        try store.values(.disappearing).compactMap { PendingDisappearance($0.key, $0.value) }
    }

    static func kept(
        _ number: OperationNumber, in store: some NodeStore
    ) throws(StoreError) -> PendingDisappearance? {
        let key = key(of: number)
        return try store.value(.disappearing, key).flatMap { PendingDisappearance(key, $0) }
    }

    func keep(in store: some NodeStore) throws(StoreError) {
        var writer = ByteWriter(capacity: 24)
        writer.uint64(UInt64(bitPattern: space.rawValue))
        writer.uint64(lifetime)
        writer.uint64(due ?? 0)
        try store.setValue(writer.bytes, .disappearing, key)
    }

    /// Lets its time run.
    mutating func begin(at wall: UInt64, _ store: some NodeStore) throws(StoreError) {
        guard due == nil else { return }
        due = wall + lifetime
        try keep(in: store)
    }

    /// It never stays longer from now on than it would if its time began now.
    mutating func correct(at wall: UInt64, _ store: some NodeStore) throws(StoreError) {
        guard let set = due, set > wall + lifetime else { return }
        due = wall + lifetime
        try keep(in: store)
    }
}
