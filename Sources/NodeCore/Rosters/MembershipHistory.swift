import ParleyConversation
public import ParleyLedger
public import ParleyRoster
import ParleySealing
public import ParleyWire

/// A change of who is in a conversation, or of what they may do.
public struct MembershipEvent: Equatable, Sendable {
    /// What happened to the person.
    public enum Change: Equatable, Sendable {
        /// The conversation began with them.
        case founded
        /// Somebody took them in.
        case added(Role)
        /// They came by an invite.
        case joined
        /// Somebody took them out.
        case removed
        /// They went.
        case left
        /// They were asked in, and did not want to.
        case declined
        /// They may do this from then on.
        case becameRole(Role)
        /// They added devices: theirs are these from then on, ascending.
        case addedDevices([DeviceID])
        /// One of their devices was taken out.
        case revokedDevice(DeviceID)
    }

    /// What happened.
    public var change: Change
    /// The affected person.
    public var person: PersonID
    /// Who did it; nil where it was never looked at by whose right.
    public var author: PersonID?
    /// The author's wall clock, in Unix milliseconds.
    public var time: UInt64
    /// Where it stands among all of lane 0.
    public var order: OrderKey
    /// Behind which place its line stands between messages; nil where it stands below them all.
    public var place: OrderKey?
    /// The device that did it.
    public var device: DeviceID
    /// Whether it holds; what does not has changed nothing.
    public var holds: Bool
}

/// Computes from lane 0 who joined a conversation, who left, and by whose action.
public enum MembershipHistory {
    /// The events of a conversation, oldest first; one that does not hold is marked as such.
    public static func events(
        of space: SpaceRecord, in store: some LogStore
    ) throws(StoreError) -> [MembershipEvent] {
        let judge = try RosterReader.judge(of: space, in: store)
        let roster = judge.roster
        let persons = roster.members.map(\.person) + roster.everyDevice.compactMap(roster.person)
        var events: [MembershipEvent] = []
        for person in Set(persons).sorted() {
            for reason in judge.graph.reasons(about: person) {
                if let event = try event(reason, about: person, judge, space, store) {
                    events.append(event)
                }
            }
        }
        events.sort { $0.order == $1.order ? $0.person < $1.person : $0.order < $1.order }
        try tellDeclined(&events, judge, space, store)
        var told = once(events)
        var placing = try MembershipPlacing(space, judge, in: store)
        for index in told.indices {
            told[index].place = try placing.place(
                of: told[index].order, by: told[index].device)
        }
        return told
    }

    /// Distinguishes members who declined from those who left: they had not accepted since they
    /// were last out.
    private static func tellDeclined(
        _ events: inout [MembershipEvent], _ judge: Judge, _ space: SpaceRecord,
        _ store: some LogStore
    ) throws(StoreError) {
        guard events.contains(where: { $0.change == .left }) else { return }
        var acceptances = try acceptances(judge, space, store)[...]
        var taking: Set<PersonID> = []
        for (index, event) in events.enumerated() where event.holds {
            while let next = acceptances.first, next.order < event.order {
                taking.insert(next.person)
                _ = acceptances.popFirst()
            }
            switch event.change {
            case .founded where event.author == event.person: taking.insert(event.person)
            case .joined: taking.insert(event.person)
            case .removed: taking.remove(event.person)
            case .left:
                if taking.remove(event.person) == nil { events[index].change = .declined }
            case .founded, .added, .declined, .becameRole, .addedDevices, .revokedDevice: break
            }
        }
    }

    /// Who accepted, and where; in order.
    private static func acceptances(
        _ judge: Judge, _ space: SpaceRecord, _ store: some LogStore
    ) throws(StoreError) -> [(person: PersonID, order: OrderKey)] {
        var found: [(person: PersonID, order: OrderKey)] = []
        for log in try store.logs(in: space.number) where log.lane == .control && log.end > 0 {
            guard let person = judge.roster.person(of: log.device) else { continue }
            for stored in try store.operations(in: log.number, 0...log.end - 1, limit: .max)
            where stored.operation.header.kind == .accept {
                let place = LogTip(tag: log.tag, sequence: stored.sequence)
                guard let stand = judge.graph.stand(at: place) else { continue }
                let order = OrderKey(
                    stand: stand, tag: log.tag, sequence: stored.sequence, id: stored.id)
                found.append((person, order))
            }
        }
        return found.sorted { $0.order < $1.order }
    }

    /// The events, each once. Each device of a person may report the same, and each device of a
    /// link's creator admits those who use it: the first report counts.
    private static func once(_ events: [MembershipEvent]) -> [MembershipEvent] {
        var told: Set<DeviceChange> = []
        var come: Set<PersonID> = []
        return events.filter { event in
            guard event.holds else { return true }
            switch event.change {
            case .joined: return come.insert(event.person).inserted
            case .removed, .left, .declined: come.remove(event.person)
            case .founded, .added, .becameRole, .addedDevices, .revokedDevice: break
            }
            guard let change = DeviceChange(event) else { return true }
            return told.insert(change).inserted
        }
    }

    /// What became of a person's devices.
    private struct DeviceChange: Hashable {
        let person: PersonID
        let added: [DeviceID]
        let revoked: DeviceID?

        /// Nil if it concerns no device.
        init?(_ event: MembershipEvent) {
            person = event.person
            switch event.change {
            case .addedDevices(let devices): (added, revoked) = (devices, nil)
            case .revokedDevice(let device): (added, revoked) = ([], device)
            case .founded, .added, .joined, .removed, .left, .declined, .becameRole: return nil
            }
        }
    }

    private static func event(
        _ reason: ControlReason, about person: PersonID, _ judge: Judge, _ space: SpaceRecord,
        _ store: some LogStore
    ) throws(StoreError) -> MembershipEvent? {
        guard let log = try store.log(reason.place.tag, in: space.number),
            let stored = try store.operation(at: reason.place.sequence, in: log.number),
            let change = change(stored.operation),
            let stand = judge.graph.stand(at: reason.place)
        else { return nil }
        let order = OrderKey(
            stand: stand, tag: log.tag, sequence: stored.sequence, id: stored.id)
        return MembershipEvent(
            change: change, person: person, author: reason.author, time: reason.wallClock,
            order: order, place: order, device: reason.device, holds: reason.outcome == .holds)
    }

    private static func change(_ operation: Operation) -> MembershipEvent.Change? {
        guard let payload = operation.payload else { return nil }
        // A payload that does not parse changed nothing, here and everywhere.
        switch operation.header.kind {
        case .genesis: return .founded
        case .addMember:
            // As above.
            return (try? AddMember(payload: payload)).map { .added($0.role) }
        case .removeMember: return .removed
        case .setRole:
            // As above.
            return (try? SetRole(payload: payload)).map { .becameRole($0.role) }
        case .leave: return .left
        case .redeem: return .joined
        case .ident:
            // As above.
            guard let ident = try? Ident(payload: payload) else { return nil }
            switch ident.change {
            case .add:
                // As above.
                let log = try? IdentityLog(operations: ident.identity)
                return .addedDevices(log?.devices.map(\.device) ?? [])
            case .revoke(let device, _): return .revokedDevice(device)
            }
        // Kinds are numbers: the others say nothing of a person.
        default: return nil
        }
    }
}
