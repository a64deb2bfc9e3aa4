import ParleyConversation
public import ParleyLedger
public import ParleyRoster
public import ParleyWire

/// Something that somebody changed in a group.
public struct GroupChange: Equatable, Sendable {
    /// What they changed.
    public enum Change: Equatable, Sendable {
        /// The group began, with these persons beside the one who created it.
        case created([PersonID])
        /// Who is in it, or what they may do.
        case member(MembershipEvent.Change, PersonID)
        /// Its settings and rules; what is nil stayed.
        case settings(SpaceSettings)
        /// A link by which so many may come, with this role.
        case linkOpened(Role, uses: UInt32)
        /// A link was closed.
        case linkClosed
        /// What it is called.
        case name(String)
        /// What it is for; empty for nothing.
        case description(String)
        /// Its picture, or that it shows none.
        case picture(isShown: Bool)
        /// After how many seconds new messages disappear; 0 for never.
        case lifetime(UInt64)
        /// A message was pinned, or taken down.
        case pin(OperationReference, isOn: Bool)
    }

    /// What they changed.
    public var change: Change
    /// Who; nil where it was never looked at by whose right.
    public var author: PersonID?
    /// Their wall clock, in Unix milliseconds.
    public var time: UInt64
    /// Where it stands: in its lane below all that its author had seen there, between the lanes by clocks.
    public var order: OrderKey
}

/// What changed in a group, and by whom: of lane 0 what holds, of lane 4 what counts, also where something
/// later took its place.
/// Source: `Protocol/03-operations.md`, "The log of a group".
public enum GroupLog {
    /// Kinds of lane 4 that are told.
    private static let sharedKinds: Set<OperationKind> = [
        .name, .groupDescription, .groupPicture, .messageLifetime, .pin,
    ]

    /// Something that may be told, before it is read.
    private enum Candidate {
        case created(MembershipEvent, [PersonID])
        case event(MembershipEvent)
        case setting(ControlReason, GroupChange.Change)
        case shared(OperationNumber, LogRecord)
    }

    /// At most `limit` changes right above a place, or the newest; oldest first.
    ///
    /// - Parameter place: the operation of a change, as a page before had it.
    /// - Returns: nil where there is no such change; `isFirst` where nothing is above.
    public static func page(
        of space: SpaceRecord, before place: LogTip?, limit: Int, in store: some Store
    ) throws(StoreError) -> (changes: [GroupChange], isFirst: Bool)? {
        var judge = try RosterReader.judge(of: space, in: store)
        var found = try members(of: space, store) + settings(of: space, judge, store)
        found += try shared(in: space, store)
        found.sort { $0.order < $1.order }
        if let place {
            let index = found.firstIndex {
                ($0.order.tag, $0.order.sequence) == (place.tag, place.sequence)
            }
            guard let index else { return nil }
            found.removeSubrange(index...)
        }
        var changes: [GroupChange] = []
        while let next = found.last, changes.count < limit {
            found.removeLast()
            if let change = try change(next.candidate, next.order, &judge, store) {
                changes.append(change)
            }
        }
        return (changes.reversed(), found.isEmpty)
    }

    private typealias Found = (order: OrderKey, candidate: Candidate)

    private static func members(
        of space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> [Found] {
        var found: [Found] = []
        var founders: [PersonID] = []
        var beginning: MembershipEvent?
        for event in try MembershipHistory.events(of: space, in: store) where event.holds {
            guard event.change == .founded else {
                found.append((event.order, .event(event)))
                continue
            }
            if event.person == event.author {
                beginning = event
            } else {
                founders.append(event.person)
            }
        }
        // One operation founds it with all of them.
        if let beginning { found.append((beginning.order, .created(beginning, founders))) }
        return found
    }

    private static func settings(
        of space: SpaceRecord, _ judge: Judge, _ store: some Store
    ) throws(StoreError) -> [Found] {
        var found: [(order: OrderKey, reason: ControlReason, change: GroupChange.Change)] = []
        for log in try store.logs(in: space.number) where log.lane == .control && log.end > 0 {
            for stored in try store.operations(in: log.number, 0...log.end - 1, limit: .max)
            where [.settings, .groupInvite].contains(stored.operation.header.kind) {
                guard let reason = judge.graph.reason(of: stored.id), reason.outcome == .holds,
                    let stand = judge.graph.stand(at: reason.place), let change = setting(stored)
                else { continue }
                let order = OrderKey(
                    stand: stand, tag: log.tag, sequence: stored.sequence, id: stored.id)
                found.append((order, reason, change))
            }
        }
        // Authors repeat this beside rules, for nodes that know none.
        var hours = UInt32(NodeCore.keyLifetime / 3_600_000)
        return found.sorted { $0.order < $1.order }.map { order, reason, change in
            guard case .settings(var settings) = change, let said = settings.rotationHours else {
                return (order, .setting(reason, change))
            }
            if said == hours, !settings.rules.isEmpty { settings.rotationHours = nil }
            hours = said
            return (order, .setting(reason, .settings(settings)))
        }
    }

    private static func shared(
        in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> [Found] {
        var found: [Found] = []
        for log in try store.logs(in: space.number) where log.lane == .shared && log.end > 0 {
            for header in try store.headers(in: log.number, 0...log.end - 1, limit: .max)
            where sharedKinds.contains(header.header.kind) {
                let order = OrderKey(
                    stand: header.stand.value, tag: log.tag, sequence: header.sequence,
                    id: header.id)
                found.append((order, .shared(header.number, log)))
            }
        }
        return found
    }

    private static func change(
        _ candidate: Candidate, _ order: OrderKey, _ judge: inout Judge, _ store: some Store
    ) throws(StoreError) -> GroupChange? {
        switch candidate {
        case .created(let event, let founders):
            return GroupChange(
                change: .created(founders), author: event.author, time: event.time, order: order)
        case .event(let event):
            return GroupChange(
                change: .member(event.change, event.person), author: event.author,
                time: event.time, order: order)
        case .setting(let reason, let change):
            return GroupChange(
                change: change, author: reason.author, time: reason.wallClock, order: order)
        case .shared(let number, let log):
            guard let stored = try store.operation(number),
                let author = try Merge.author(of: stored, in: log, judging: &judge, store: store),
                let change = shared(stored.operation),
                try !repeats(stored.operation.header, change, in: log.space, store)
            else { return nil }
            return GroupChange(
                change: change, author: author, time: stored.operation.header.wallClock,
                order: order)
        }
    }

    /// Whether what it replaces said the same: a name and a description are said again for newcomers.
    private static func repeats(
        _ header: OperationHeader, _ change: GroupChange.Change, in space: SpaceNumber,
        _ store: some Store
    ) throws(StoreError) -> Bool {
        guard header.kind != .pin else { return false }
        for replaced in header.references {
            guard let log = try store.log(replaced.tag, in: space),
                let stored = try store.operation(at: replaced.sequence, in: log.number),
                stored.id.check == replaced.check
            else { continue }
            if shared(stored.operation) == change { return true }
        }
        return false
    }

    private static func setting(_ stored: StoredOperation) -> GroupChange.Change? {
        guard let payload = stored.operation.payload else { return nil }
        if stored.operation.header.kind == .settings {
            // What does not parse changed nothing.
            return (try? SpaceSettings(payload: payload)).map { .settings($0) }
        }
        // The same.
        switch try? GroupInvite(payload: payload) {
        case .open(_, let role, let uses, _): return .linkOpened(role, uses: uses)
        case .end: return .linkClosed
        case nil: return nil
        }
    }

    private static func shared(_ operation: Operation) -> GroupChange.Change? {
        guard let payload = operation.payload else { return nil }
        switch operation.header.kind {
        case .name: return ConversationName(payload: payload).map { .name($0.name) }
        case .groupDescription:
            return GroupDescription(payload: payload).map { .description($0.text) }
        case .groupPicture:
            return GroupPicture(payload: payload).map { .picture(isShown: !$0.content.isEmpty) }
        case .messageLifetime:
            return MessageLifetime(payload: payload).map { .lifetime($0.seconds) }
        case .pin:
            guard let message = operation.header.references.first else { return nil }
            return Pin(payload: payload).map { .pin(message, isOn: $0.isOn) }
        // No other kind is asked about.
        default: return nil
        }
    }
}
