import ParleyConversation
public import ParleyLedger
import ParleyRoster
import ParleyWire

/// Messages that disappear. Each device counts for itself, by its own clock, and erases for itself: nobody
/// tells it to, and no author's clock says when.
/// Source: `Protocol/03-operations.md`, "Disappearing messages".
extension NodeCore {
    /// Messages whose time begins or ends in one step: others get their turn.
    private static let changedCountMax = 256
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
        if let refusal = try refusal(writingIn: space, doing: .pin, turn.store) {
            return .failure(refusal)
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
        of number: OperationNumber, in store: some Store
    ) throws(StoreError) -> UInt64? {
        try PendingDisappearance.due(of: number, in: store)
    }

    /// A message came that disappears, or words of the person's own that are deleted for themselves once
    /// others have them.
    mutating func noteDisappearing(
        _ number: OperationNumber, in space: SpaceNumber, _ turn: inout some Turn
    ) throws(StoreError) {
        guard let stored = try turn.store.operation(number), !stored.operation.isErased,
            let log = try turn.store.log(stored.log)
        else { return }
        let isDeleted = try Overview.isDeletedForOneself(
            stored, ownSpace: ownSpace?.number, in: turn.store)
        // It was to stay longer before it was deleted.
        if isDeleted { _ = intake.disappearing.remove(number) }
        guard
            let lifetime = isDeleted
                ? 0 : stored.operation.payload.flatMap(TextMessage.init)?.lifetime
        else { return }
        let noted = PendingDisappearance(
            number, in: space, at: stored.sequence, of: log.tag, lifetime: lifetime)
        if intake.disappearing.insert(noted) { try noted.keep(in: turn.store) }
        hastenDisappearing(&turn)
    }

    /// Looks soon whether something begins to disappear: somebody read or received something.
    mutating func hastenDisappearing(_ turn: inout some Turn) {
        guard !intake.disappearing.isEmpty else { return }
        timers.hasten(.disappearing, in: Self.disappearanceDelay, &turn)
    }

    /// Begins to count for messages that were read here or have reached somebody, and erases those whose time
    /// is over. What is left of very many gets its turn right after.
    mutating func tendDisappearing(_ turn: inout some Turn) throws(StoreError) {
        try dropDeleted(&turn)
        let (begun, reached) = try begunToDisappear(turn.store)
        var (next, room) = (UInt64.max, Self.changedCountMax)
        try intake.disappearing.update { noted throws(StoreError) in
            if noted.due == nil, begun[noted.log]?.contains(noted.sequence) == true,
                !noted.awaitsEverybody || reached[noted.log]?.contains(noted.sequence) != false,
                try !HeldFile.areAwaited(
                    of: noted.number, from: identity, ownSpace?.number, turn.store)
            {
                guard room > 0 else { return next = turn.now.wall }
                room -= 1
                try noted.begin(at: turn.now.wall, turn.store)
            }
            // Of a clock that was ahead and is not any more.
            try noted.correct(at: turn.now.wall, turn.store)
            guard let due = noted.due else { return }
            guard due <= turn.now.wall, room > 0 else { return next = min(next, due) }
            room -= 1
            let changes =
                try Disappearance.erase(noted.number, in: turn.store)
                + OwnDeletions.erase(awaited: noted.number, in: turn.store)
            turn.emit(.changed(changes))
            try noted.end(in: turn.store)
        }
        guard !intake.disappearing.isEmpty else { return }
        look(.disappearing, at: next, &turn)
    }

    /// Nobody waits for messages to be read that were deleted.
    private mutating func dropDeleted(_ turn: inout some Turn) throws(StoreError) {
        for number in intake.disappearing.nextToCheck() {
            guard try turn.store.operation(number)?.operation.isErased != false else { continue }
            var noted = intake.disappearing.remove(number)
            try noted?.end(in: turn.store)
        }
    }

    /// Of the logs with messages that wait to be read or delivered, the places of those that do so no longer; and
    /// of those with messages that everybody is to have, the places that everybody has.
    private mutating func begunToDisappear(
        _ store: some Store
    ) throws(StoreError) -> (
        begun: [PendingDisappearance.Log: PlaceSet], reached: [PendingDisappearance.Log: PlaceSet]
    ) {
        var begun: [PendingDisappearance.Log: PlaceSet] = [:]
        var reached: [PendingDisappearance.Log: PlaceSet] = [:]
        let awaited = intake.disappearing.awaitedLogs
        let waiting = Dictionary(grouping: intake.disappearing.waitingLogs, by: \.space)
        for (number, logs) in waiting.sorted(by: { $0.key < $1.key }) {
            guard let space = try store.space(number), let roster = try roster(of: space, store)
            else {
                for log in logs { begun[log] = PlaceSet(0..<UInt64.max) }
                continue
            }
            let places = try Overview.begunToDisappear(
                in: logs.map(\.tag).sorted(), of: space, roster: roster,
                ownPerson: identity.person, ownSpace: ownSpace?.number, store: store)
            for log in logs { begun[log] = places[log.tag] }
            // In larger ones nobody reports what they received.
            guard roster.members.count <= Receipts.deliveryMemberCountMax else { continue }
            for log in logs where awaited.contains(log) {
                reached[log] = try Overview.reachedEverybody(
                    in: log.tag, of: space, roster: roster, ownPerson: identity.person,
                    store: store)
            }
        }
        return (begun, reached)
    }
}
