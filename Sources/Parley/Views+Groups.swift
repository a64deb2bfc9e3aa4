import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySealing
import ParleyStorage
import ParleyWire

extension Role {
    /// The word for it.
    var word: String {
        switch self {
        case .reader: "reader"
        case .member: "member"
        case .admin: "admin"
        case .owner: "owner"
        }
    }
}

extension HistoryPolicy {
    /// `none`, `all`, or days as `30d`.
    var word: String {
        switch self {
        case .none: "none"
        case .all: "all"
        case .days(let days): "\(days)d"
        }
    }

    /// The policy of this word, or nil.
    init?(word: String) {
        switch word {
        case "none": self = .none
        case "all": self = .all
        default:
            guard word.last == "d", let days = UInt32(word.dropLast()), (1...3650).contains(days)
            else { return nil }
            self = .days(days)
        }
    }
}

extension Views {
    func group(_ argument: String) throws -> GroupView { try group(conversation(argument)) }

    func group(_ space: SpaceRecord) throws -> GroupView {
        guard let roster = try roster(of: space) else { throw NodeError(.unknownConversation) }
        let linked = Set(core.linkedPeers.map(\.person))
        let members = try roster.members.map { member in
            let contact = try contact(member.person)
            return (
                member.role,
                MemberView(
                    person: member.person.description,
                    name: try bareName(of: member.person, in: roster), role: member.role.word,
                    isSelf: member.person == ownPerson,
                    isVerified: contact?.isVerified ?? false,
                    isLinked: linked.contains(member.person),
                    devices: member.devices.map(\.device.description),
                    isInvited: roster.isInvited(member.person),
                    hasAddress: try member.person == ownPerson || hasAddress(member.person),
                    resembles: member.person == ownPerson ? [] : try resembles(member.person))
            )
        }
        return GroupView(
            id: space.id.description, name: try view(of: space).name,
            description: try Overview.description(of: space.number, in: store),
            hasPicture: try Overview.picture(of: space.number, in: store) != nil,
            members: members.sorted { left, right in
                left.0 == right.0
                    ? (left.1.name, left.1.person) < (right.1.name, right.1.person)
                    : left.0 > right.0
            }.map(\.1), history: roster.history.word,
            rotationHours: roster.settings.rotationHours.map { Int($0) },
            rules: rules(of: roster),
            invites: try roster.invites.map { try view($0, roster) },
            epoch: try epoch(of: space), waiting: try marks(on: space, roster))
    }

    private func hasAddress(_ person: PersonID) throws -> Bool {
        try CardReader.parts(of: person, store).contains {
            !$0.addresses.isEmpty || !$0.mailboxes.isEmpty
        }
    }

    func view(_ invite: LiveInvite, _ roster: Roster) throws -> GroupInviteView {
        GroupInviteView(
            id: invite.operation.description, inviter: try name(of: invite.inviter, in: roster),
            role: invite.role.word, usesLeft: Int(invite.usesLeft), expires: invite.expires)
    }

    func joins() throws -> [JoinView] {
        try PendingJoin.all(store).map { try view($0) }
            + PendingJoin.refused(store).map { try view(joining: $0) }
    }

    /// The one of them that leads into a group of this name or identifier.
    func join(into argument: String) throws -> (SpaceID, JoinView) {
        var resolver = Resolver<GroupLink>(argument)
        var known: Set<SpaceID> = []
        for link in try PendingJoin.all(store) + PendingJoin.refused(store)
        where known.insert(link.space).inserted {
            resolver.consider(
                link, name: VisibleName.shown(link.name), identifier: link.space.description)
        }
        guard let link = try resolver.thing() else {
            throw NodeError(
                "unknown-join", "You are not waiting for a group that matches “\(argument)”.",
                hint: "`parley group join` shows those that you wait for.")
        }
        return (link.space, try view(joining: link))
    }

    /// The same with the results.
    func view(joining link: GroupLink) throws -> JoinView {
        var view = try view(link)
        view.isRefused = try PendingJoin.refused(store).contains(link)
        if let space = try store.space(link.space) {
            view.isMember = try roster(of: space)?.member(ownPerson) != nil
            view.isBeforeRemoval = try isRemoved(since: link.invite, from: space)
            view.wasOwnUse = try RosterReader.judge(of: space, in: store).graph
                .hasRedeemed(link.invite, ownPerson)
        }
        return view
    }

    /// Whether the person was removed from a group, and what they were told of it until then has an
    /// invite that could still be used.
    private func isRemoved(since invite: OperationID, from space: SpaceRecord) throws -> Bool {
        guard let roster = try roster(of: space), roster.member(ownPerson) == nil,
            roster.invites.contains(where: { $0.operation == invite })
        else { return false }
        let reasons = try Explanation.member(ownPerson, of: space, in: store).reasons
        let exits: [OperationKind] = [.removeMember, .leave]
        return reasons.last { $0.outcome == .holds && exits.contains($0.kind) }?.kind
            == .removeMember
    }

    func view(_ link: GroupLink) throws -> JoinView {
        let inviter = CardReader.person(of: link.card)
        return JoinView(
            id: link.space.description, name: VisibleName.shown(link.name),
            inviter: try inviter.map { try name(of: $0) } ?? "?", expires: link.expires)
    }

    // MARK: What happened

    func events(of space: SpaceRecord) throws -> [MembershipView] {
        guard space.kind != .own else { return [] }
        let roster = try roster(of: space)
        let events = try MembershipHistory.events(of: space, in: store)
        return try events.enumerated().map { index, event in
            let (change, role) = Self.changeWords(event.change)
            let later = events[(index + 1)...]
            return MembershipView(
                conversation: space.id.description, change: change,
                name: try name(of: event.person, in: roster), person: event.person.description,
                author: try event.author.flatMap {
                    $0 == event.person ? nil : try name(of: $0, in: roster)
                }, role: role, time: event.time,
                timeDoubt: Self.doubt(about: event.time), holds: event.holds,
                hiddenCount: try hiddenCount(
                    of: .messages, by: event, before: later, space, roster),
                hiddenChangeCount: try hiddenCount(
                    of: .changes, by: event, before: later, space, roster),
                below: try event.place.flatMap { try message(below: $0, in: space.number) },
                // What is below all messages is below everything else, too.
                order: event.place?.text ?? String(repeating: "f", count: 16))
        }
    }

    /// The name of the message right below a place; nil if there is none.
    func message(below place: OrderKey, in space: SpaceNumber) throws -> String? {
        try store.messageOrder(after: place, in: space, count: 1).map { order in
            try identifier(order.reference, in: space)
        }
    }

    /// No more messages than these are counted as hidden: they are read one by one.
    private static let hiddenCountMax = 10_000

    /// What of somebody may be hidden: their messages, or polls, items, decisions, notes, edits, reactions and
    /// what else screens show.
    private enum Hidden {
        case messages, changes

        func holds(_ stored: StoredOperation, in log: LogRecord) -> Bool {
            let kind = stored.operation.header.kind
            if stored.operation.isErased { return false }
            switch self {
            case .messages: return kind.isMessage
            case .changes where log.lane == .shared: return SharedWord(stored, in: log) != nil
            case .changes: return !kind.isMessage && Views.subject(of: kind) != nil
            }
        }

        var lanes: [Lane] { self == .messages ? [.content] : [.content, .shared] }
    }

    /// What is held here of removed persons and is not shown, or no longer.
    private func hiddenCount(
        of hidden: Hidden, by event: MembershipEvent, before later: ArraySlice<MembershipEvent>,
        _ space: SpaceRecord,
        _ roster: Roster?
    ) throws -> Int? {
        let devices: [DeviceID]
        let isIn = roster?.member(event.person) != nil
        switch event.change {
        case .revokedDevice(core.node.device): return nil
        case .revokedDevice(let device): devices = [device]
        // Own ones that nobody accepted are shown separately. Of several removals of one who is out the last
        // counts.
        case .removed
        where event.person != ownPerson
            && (isIn
                || !later.contains {
                    $0.holds && $0.change == .removed && $0.person == event.person
                }):
            devices = roster?.everyDevice(of: event.person) ?? []
        case .becameRole(.reader) where event.person != ownPerson && isIn:
            devices = roster?.everyDevice(of: event.person) ?? []
        default: return nil
        }
        guard event.holds else { return nil }
        var count = 0
        for log in try store.logs(in: space.number)
        where hidden.lanes.contains(log.lane) && devices.contains(log.device) {
            // What is not shown is not counted.
            func note(_ stored: StoredOperation) -> Bool {
                if hidden.holds(stored, in: log) { count += 1 }
                return count < Self.hiddenCountMax
            }
            if isIn, let roster, !event.change.isOfOneDevice {
                count += try hiddenCount(of: hidden, in: log, endedAt: event.order, space, roster)
            } else if let limit = log.limit, limit.sequence < log.end {
                try store.eachOperation(of: log, in: limit.sequence..<log.end, note)
            }
        }
        return count > 0 ? count : nil
    }

    /// The same of a log that what stands at a place in lane 0 has hidden, of somebody who is in the group: of
    /// several such things each is told its own.
    private func hiddenCount(
        of kind: Hidden, in log: LogRecord, endedAt place: OrderKey, _ space: SpaceRecord,
        _ roster: Roster
    ) throws -> Int {
        var hidden: [StoredOperation] = []
        try eachCutOff(of: log, in: space, roster) { stored in
            if kind.holds(stored, in: log) { hidden.append(stored) }
            return hidden.count < Self.hiddenCountMax
        }
        return try hidden.count { stored in
            let ending = try self.ending(of: stored, in: log)?.place
            return ending.map { ($0.tag, $0.sequence) == (place.tag, place.sequence) } ?? false
        }
    }

    static func changeWords(_ change: MembershipEvent.Change) -> (String, String?) {
        switch change {
        case .founded: ("founded", nil)
        case .added(let role): ("added", role.word)
        case .joined: ("joined", nil)
        case .removed: ("removed", nil)
        case .left: ("left", nil)
        case .declined: ("declined", nil)
        case .becameRole(let role): ("role", role.word)
        case .addedDevices: ("devices-added", nil)
        case .revokedDevice: ("device-revoked", nil)
        }
    }
}

extension OrderKey {
    /// Text that is ordered as the keys are.
    var text: String {
        [stand, tag.value, sequence].map { value in
            let digits = String(value, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined(separator: ".")
    }
}

extension MembershipEvent.Change {
    /// Whether it is about one device of the person alone.
    fileprivate var isOfOneDevice: Bool {
        if case .revokedDevice = self { return true }
        return false
    }
}

extension Views {
    /// The invites into groups that this person may end: as an admin all, else those that they made.
    func groupInvites() throws -> [(space: SpaceRecord, invite: LiveInvite)] {
        var found: [(SpaceRecord, LiveInvite)] = []
        for space in try store.spaces() where space.kind == .group {
            guard let roster = try roster(of: space), let own = roster.member(ownPerson),
                own.role >= .admin || roster.allows(.invite, to: own)
            else { continue }
            for invite in roster.invites where own.role >= .admin || invite.inviter == ownPerson {
                found.append((space, invite))
            }
        }
        return found
    }
}
