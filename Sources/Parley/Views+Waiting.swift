import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyStorage
import ParleyWire

/// Conversations in which nothing can be written yet, and what is queued for them.
extension Views {
    /// What must come before anything is written in a conversation; nil where nothing must.
    func waiting(in space: SpaceRecord) throws -> String? {
        guard let count = try core.missingOwnCount(of: space.number, in: store) else { return nil }
        let what = counted(count, "earlier operation")
        return "waiting for \(what) of this device"
    }

    /// The same of a conversation that began with an invite which was not taken.
    func waiting(in space: SpaceRecord, _ roster: Roster) throws -> String? {
        if let waiting = try waiting(in: space) { return waiting }
        return try refuser(in: roster) == nil ? nil : "waiting for another invite from them"
    }

    /// Whether anybody else takes part in a conversation, or may: where nobody does, what is written waits for
    /// the first of the invited who accepts.
    func mayReachOthers(_ roster: Roster) -> Bool {
        roster.participants.contains { $0.person != ownPerson }
            || !roster.awaited(by: ownPerson).isEmpty
    }

    /// For whose answer to an invitation waits what is written in a group, or that whom the person blocked is
    /// unblocked, in a phrase; nil where it waits for neither.
    func awaiting(in roster: Roster) throws -> String? {
        if let blocked = try blocked(in: roster) {
            return "waits until you unblock \(try name(of: blocked, in: roster))"
        }
        let awaited = roster.awaited(by: ownPerson)
        guard let first = awaited.first else { return nil }
        guard awaited.count > 1 else {
            return "waits until \(try name(of: first.person, in: roster)) accepts the invitation"
        }
        let names = try awaited.prefix(Self.awaitedShownMax).map {
            try name(of: $0.person, in: roster)
        }
        let more = awaited.count - names.count
        return "waits until one of them accepts the invitation: "
            + VisibleName.list(names.sorted()) + (more > 0 ? " and \(more) more" : "")
    }

    /// Whom the person blocked, of the two in a conversation; nil of a group.
    func blocked(in roster: Roster) throws -> PersonID? {
        guard roster.kind == .direct else { return nil }
        return try roster.members.map(\.person).first {
            try $0 != ownPerson && contact($0)?.isBlocked == true
        }
    }

    /// So many of the invited are named.
    private static let awaitedShownMax = 3

    /// Who did not take the invite with which a conversation of two began: nothing goes to them before
    /// another one leads there.
    func refuser(in roster: Roster) throws -> PersonID? {
        guard roster.kind == .direct else { return nil }
        return try roster.members.map(\.person).first { person in
            // Who was asked since by their card is waited for anew.
            guard person != ownPerson, try !isMetOrAsked(person) else { return false }
            return try NodeCore.takenInvite(of: person, in: store)?.isRefused == true
        }
    }

    /// Whether a person is a contact, or was asked to be one.
    func isMetOrAsked(_ person: PersonID) throws -> Bool {
        guard let contact = try contact(person) else { return false }
        return contact.isAccepted || contact.state == .requested
    }

    /// How far something of one's own has come, as far as this device can know it: one that was revoked
    /// is told no more of it, nor is who is out of a group.
    func shown(
        _ state: MessageState, in space: SpaceRecord, _ roster: Roster
    ) throws -> String {
        if state == .read, try !isShownReading(in: space) { return MessageState.delivered.rawValue }
        guard state < .delivered, mayReachOthers(roster) else { return state.rawValue }
        if core.node.isRevoked { return "unknown" }
        if try isUntold(in: space, roster) { return "untold" }
        guard try refuser(in: roster) == nil else { return "uninvited" }
        if state != .earlier, !roster.awaited(by: ownPerson).isEmpty { return "unaccepted" }
        return try state == .earlier && haveReturned(in: space) ? "returned" : state.rawValue
    }

    /// Whether the person is shown what others have read: whoever tells nobody, is not.
    func isShownReading(in space: SpaceRecord) throws -> Bool {
        if let known = names.tellsReading[space.number] { return known }
        let found = try discloses(.reading, in: space.id)
        names.tellsReading[space.number] = found
        return found
    }

    /// Whether anybody else came into a conversation more than once: what is not given to them may be from a time
    /// when they were out, or from before.
    private func haveReturned(in space: SpaceRecord) throws -> Bool {
        // There both are in from the start: who comes later has come back with another device.
        guard space.kind == .group else { return true }
        if let known = names.returns[space.number] { return known }
        let endings = try MembershipHistory.events(of: space, in: store).filter { event in
            event.holds && event.person != ownPerson
                && [.removed, .left].contains(event.change)
        }.map(\.person)
        let members = try roster(of: space)?.members.map(\.person) ?? []
        let found = members.contains(where: endings.contains)
        names.returns[space.number] = found
        return found
    }

    /// Whether this person is out of a group: nobody tells them then who has what they wrote there,
    /// on whichever device.
    func isOut(of roster: Roster) -> Bool {
        roster.kind == .group && roster.member(ownPerson) == nil
    }

    /// Whether this person is out of a group, and somebody else may know it.
    func isUntold(in space: SpaceRecord, _ roster: Roster) throws -> Bool {
        try isOut(of: roster) && !isLeaving(space, roster)
    }

    /// Whether this device left a group for its person and nobody else can know it yet: that waits, and so does
    /// what they wrote there before.
    func isLeaving(_ space: SpaceRecord, _ roster: Roster) throws -> Bool {
        guard isOut(of: roster), !core.node.isRevoked else { return false }
        if let known = names.leavings[space.number] { return known }
        var isLeaving = false
        if roster.participants.contains(where: { $0.person != ownPerson }),
            let told = try core.toldLeave(space, roster, store)
        {
            isLeaving = told.relays.isEmpty && !told.isKnown(besides: ownPerson, roster)
        }
        names.leavings[space.number] = isLeaving
        return isLeaving
    }

    /// Who has the Leave of this device, for a group that it took its person out of.
    func facts(ofLeaving space: SpaceRecord, _ roster: Roster) throws -> [ExplanationView.Fact] {
        guard isOut(of: roster), let told = try core.toldLeave(space, roster, store) else {
            return []
        }
        if try isLeaving(space, roster) {
            return [
                ExplanationView.Fact(
                    about: "left", what: "nobody there knows it yet", source: "no report")
            ]
        }
        return try told.devices.map { device in
            ExplanationView.Fact(
                about: "left", what: "told to \(try name(ofDevice: device, roster))",
                source: "its device acknowledged it")
        } + facts(of: told.relays, holding: "left: ")
    }

    /// What was written in a conversation and is queued until it can be sent, oldest first.
    func kept(in space: SpaceRecord, _ roster: Roster) throws -> [MessageView] {
        guard let waiting = try waiting(in: space) else { return [] }
        let author = try name(of: ownPerson, in: roster)
        return try core.keptMessages(for: space.number, in: store).map { kept in
            own(kept.text, at: kept.time, state: waiting, in: space, author)
        }
    }

    func own(
        _ text: String, at time: UInt64, state: String, in space: SpaceRecord, _ author: String
    ) -> MessageView {
        MessageView(
            number: 0, conversation: space.id.description, author: author,
            person: ownPerson.description, isOwn: true, text: text, time: time,
            replyTo: nil, editCount: 0, reactions: [], state: state, isDeleted: false,
            isImported: false, isAction: false, isLate: false, isMissing: false)
    }
}

extension ToldLeave {
    /// Whether a device of somebody else has it.
    fileprivate func isKnown(besides ownPerson: PersonID, _ roster: Roster) -> Bool {
        devices.contains { roster.person(of: $0) != ownPerson }
    }
}
