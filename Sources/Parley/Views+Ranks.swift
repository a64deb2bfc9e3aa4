import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyStorage
import ParleyWire

/// Why a group refuses what its owners and admins want, and which way is left. Source:
/// `Protocol/08-roster.md`, "Permissions".
extension Views {
    /// Why this person may not change another's role: whose decision that is, and who could. Nil if
    /// one of them is not in the group.
    func outranked(by person: PersonID, in id: SpaceID) throws -> NodeError? {
        guard let space = try store.space(id), let roster = try roster(of: space),
            let own = roster.member(ownPerson), let other = roster.member(person)
        else { return nil }
        let name = try name(of: person, in: roster)
        let seniors = try roster.participants.filter {
            $0.role == .owner && $0.rank < other.rank && $0.person != person
        }.map { try self.name(of: $0.person, in: roster) }
        let stands =
            other.rank < own.rank ? "has a higher rank than you" : "has the same rank as you"
        let whose = try origin(of: other, above: own, in: space, roster)
        guard seniors.isEmpty else {
            return NodeError(
                "outranked", "\(name) \(stands) in that group\(whose).",
                hint: "\(seniors.alternatives) can change that.")
        }
        let isLast = !Self.hasOwner(roster, besides: ownPerson)
        return NodeError(
            "outranked",
            "\(name) \(stands) in that group\(whose). No member can change that.",
            hint:
                "To continue without them, create another group: "
                + "`parley group create NAME PERSON`. "
                + "`parley group leave \(id.short)\(isLast ? " --anyway" : "")` takes you out "
                + "of this one.")
    }

    /// Whose word it is that a person stands where they do, as the end of a sentence.
    private func origin(
        of member: Member, above own: Member, in space: SpaceRecord, _ roster: Roster
    ) throws -> String {
        guard member.rank > 0 else { return ": they created it" }
        let reasons = try Explanation.member(member.person, of: space, in: store).reasons
        let raised = reasons.last { reason in
            let kinds: [OperationKind] = [.setRole, .addMember, .genesis]
            return reason.outcome == .holds && kinds.contains(reason.kind)
        }
        guard let giver = raised?.author, giver != member.person, giver != ownPerson else {
            return ""
        }
        let isAbove = roster.member(giver).map { $0.rank < own.rank } ?? false
        return ", made \(member.role.word) by \(try name(of: giver, in: roster)), who "
            + (isAbove ? "has a higher rank than you" : "had a higher rank than you")
    }

    /// Refuses to let the last owner who takes part go unnoticed, and says which ways there are.
    ///
    /// The core counts owners who were invited and have not accepted: they may decline.
    func requireOwner(after person: PersonID, in space: SpaceRecord) throws {
        guard space.kind == .group, let roster = try roster(of: space),
            let own = roster.member(person), own.role == .owner, roster.members.count > 1,
            !Self.hasOwner(roster, besides: person)
        else { return }
        let invited = try roster.members.filter {
            $0.role == .owner && roster.isInvited($0.person)
        }.map { try name(of: $0.person, in: roster) }
        let candidate = roster.participants.filter {
            $0.person != person && own.rank < $0.rank
        }.max { $0.role < $1.role }
        var ways: [String] = []
        if !invited.isEmpty { ways.append("Wait until \(invited.alternatives) accepts.") }
        if let candidate {
            ways.append(
                "`parley group role \(space.id.short) \(candidate.person.short) owner` makes "
                    + "\(try name(of: candidate.person, in: roster)) an owner.")
        } else if invited.isEmpty {
            ways.append(
                "`parley group add \(space.id.short) PERSON --role owner` invites a "
                    + "contact as an owner: leave once they have accepted.")
        }
        ways.append(
            "`parley group leave \(space.id.short) --anyway` leaves it without an owner, for good.")
        let unsure =
            invited.isEmpty
            ? "" : ": \(invited.alternatives) was invited as an owner and has not accepted"
        throw NodeError(
            "last-owner", "The group would have no owner\(unsure).",
            hint: ways.joined(separator: " "))
    }

    /// The message for a person who may not do what a command says: that they may only read there,
    /// or who could do it. Nil if that is not known.
    func refusal(of command: Command) throws -> NodeError? {
        guard let space = try space(of: command), let roster = try roster(of: space),
            let own = roster.member(ownPerson)
        else { return nil }
        if own.role == .reader { return .reader }
        guard space.kind == .group else { return nil }
        var needed = own.role >= .admin ? Role.owner : .admin
        if case .changeSettings = command { needed = .owner }
        if case .setRole(_, _, let role) = command, role >= .admin { needed = .owner }
        if case .addMember(_, _, let role) = command, role >= .admin { needed = .owner }
        let able = try roster.participants.filter { $0.role >= needed && $0.person != ownPerson }
            .map { try name(of: $0.person, in: roster) }
        let who = needed == .owner ? "an owner" : "an owner or an admin"
        let isRuledOut = needed == .admin && Self.isWriting(command) && !mayWrite(by: roster)
        return NodeError(
            "not-allowed",
            isRuledOut
                ? "Only owners and admins write in that group. You can read, react and vote."
                : "Only \(who) of the group may do that.",
            hint: able.isEmpty
                ? "No other member is one. `parley group create NAME PERSON` creates another group."
                : able.count > Self.namedMax
                    ? "Ask one of them: `parley group show \(space.id.short)` shows who they are."
                    : "Ask \(able.alternatives).")
    }

    /// Whether the rule decides about it who may write.
    private static func isWriting(_ command: Command) -> Bool {
        switch command {
        case .send, .sendOnce, .importMessages, .edit, .schedule: true
        case .together(.ask), .together(.begin), .together(.note), .together(.propose),
            .together(.change), .together(.edit), .together(.write), .together(.retitle):
            true
        // What else is refused is refused for another reason.
        default: false
        }
    }

    /// How many possible helpers are named; for more it says where they are listed.
    private static let namedMax = 4

    /// For commands that write something, and may be refused because of who runs them.
    private func space(of command: Command) throws -> SpaceRecord? {
        let space: SpaceRecord?
        switch command {
        case .send(let id, _, _), .sendOnce(let id, _, _, _), .rename(let id, _),
            .describe(let id, _), .setPicture(let id, _), .addMember(let id, _, _),
            .removeMember(let id, _), .setRole(let id, _, _), .changeSettings(let id, _),
            .createGroupInvite(let id, _, _, _, _), .endGroupInvite(let id, _),
            .importMessages(let id, _, _, _, _), .leave(let id, _), .setLifetime(let id, _):
            space = try store.space(id)
        case .together(.ask(let id, _)), .together(.begin(let id, _, _)),
            .together(.note(let id, _, _)), .together(.propose(let id, _, _)):
            space = try store.space(id)
        case .react(let message, _), .edit(let message, _, _), .pin(let message, _),
            .together(.vote(let message, _)),
            .together(.change(let message, _)), .together(.edit(let message, _, _)),
            .together(.write(let message, _, _)), .together(.retitle(let message, _)),
            .together(.approve(let message, _)):
            space = try conversation(of: message)
        case .schedule(.add(_, let id, _)): space = try store.space(id)
        case .schedule(.move(let id, _)), .schedule(.send(let id)):
            space = try scheduledSpace(of: id)
        // What else is refused is refused to others as well.
        default: space = nil
        }
        return space
    }

    /// Whether somebody else who takes part in a conversation owns it.
    func hasOwner(_ space: SpaceRecord, besides person: PersonID) throws -> Bool {
        try roster(of: space).map { Self.hasOwner($0, besides: person) } ?? false
    }

    /// The message for a person who is out of a group in which nobody is who could add them again. Nil if
    /// somebody is.
    func shutOut(by command: Command) throws -> NodeError? {
        guard let space = try space(of: command), space.kind == .group,
            let roster = try roster(of: space), roster.member(ownPerson) == nil,
            !roster.participants.contains(where: { $0.role >= .admin })
        else { return nil }
        var error = NodeError(.notMember)
        error.hint = "The conversation stays readable here. Nobody in it can add you again."
        return error
    }

    /// The message for a person who would delete a conversation that they are in: what takes them out of it.
    func stillIn(_ id: SpaceID) throws -> NodeError? {
        guard let space = try store.space(id), let roster = try roster(of: space) else {
            return nil
        }
        var error = NodeError(.stillMember)
        if space.kind == .direct {
            guard let other = roster.members.first(where: { $0.person != ownPerson }) else {
                return nil
            }
            error.hint =
                "`parley contact block \(other.person.short)` keeps them away; then it can be "
                + "deleted."
        } else if roster.isInvited(ownPerson) {
            error.hint =
                "`parley invitations decline \(id.short)` declines the invitation; then it can be "
                + "deleted."
        } else {
            error.hint =
                "`parley group leave \(id.short)` takes you out of it; then it can be deleted."
        }
        return error
    }

    private static func hasOwner(_ roster: Roster, besides person: PersonID) -> Bool {
        roster.participants.contains { $0.role == .owner && $0.person != person }
    }
}

extension [String] {
    /// As an enumeration in a sentence.
    fileprivate var alternatives: String { self.joined(separator: " or ") }
}
