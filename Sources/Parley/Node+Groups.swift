import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySealing
import ParleyStorage
import ParleyWire

/// The part of ``NodeService`` that is about groups.
extension Node {
    /// A group: who is in it, and what holds there.
    public func group(_ conversation: String) async throws -> GroupView {
        try await read { try $0.group(conversation) }
    }

    /// Takes a contact into a group.
    public func addMember(
        conversation: String, person: String, role: String
    ) async throws -> GroupView {
        let (space, id) = try await find(conversation, person)
        return try await perform(.addMember(space, id, try Self.role(role)), in: space)
    }

    /// Takes a person out of a group.
    public func removeMember(conversation: String, person: String) async throws -> GroupView {
        let (space, id) = try await find(conversation, person, isInIt: true)
        return try await change(id, .removeMember(space, id), in: space)
    }

    /// Lets a person do more or less in a group.
    public func setRole(
        conversation: String, person: String, role: String
    ) async throws -> GroupView {
        let (space, id) = try await find(conversation, person, isInIt: true)
        return try await change(id, .setRole(space, id, try Self.role(role)), in: space)
    }

    /// Goes out of a group. What was written stays here to read.
    public func leave(conversation: String, anyway: Bool) async throws {
        let space = try await read { views in
            let record = try views.conversation(conversation)
            if !anyway { try views.requireOwner(after: views.ownPerson, in: record) }
            return record.id
        }
        _ = try await running.perform(.leave(space, anyway: anyway))
    }

    /// Groups that others added one to and that wait for an answer.
    public func invitations() async throws -> InvitationsView {
        try await read { try $0.invitations() }
    }

    /// Accepts or declines an invitation into a group.
    public func answerInvitation(
        conversation: String, accepting: Bool
    ) async throws -> InvitationsView {
        let space = try await read { try $0.invited(conversation) }
        _ = try await running.perform(
            accepting ? .acceptInvitation(space) : .declineInvitation(space))
        return try await invitations()
    }

    /// Says who may add one to groups without asking.
    public func setAdditionPolicy(_ word: String) async throws -> InvitationsView {
        guard let policy = AdditionPolicy(word: word) else {
            throw NodeError(
                "bad-policy", "“\(word)” is nobody who could add you.",
                hint: "It is nobody or contacts.")
        }
        _ = try await running.perform(.setAdditionPolicy(policy))
        return try await invitations()
    }

    /// Forgets a conversation on this device, for good.
    public func deleteConversation(_ conversation: String) async throws {
        let space = try await read { try $0.deletable(conversation) }
        _ = try await running.perform(.deleteConversation(space))
        try await read { $0.rosters.forget(space) }
    }

    /// Changes what holds for a group.
    public func changeSettings(
        conversation: String, history: String?, rotationHours: Int?
    ) async throws -> GroupView {
        let space = try await read { try $0.conversation(conversation).id }
        var settings = SpaceSettings()
        if let history {
            guard let policy = HistoryPolicy(word: history) else {
                throw NodeError(
                    "bad-history", "“\(history)” is no rule for history.",
                    hint: "It is `none`, `all`, or days as `30d`.")
            }
            settings.history = policy
        }
        if let rotationHours {
            guard (1...24 * 3650).contains(rotationHours) else {
                throw NodeError("bad-rotation", "Keys are replaced after 1 to 87600 hours.")
            }
            settings.rotationHours = UInt32(rotationHours)
        }
        return try await perform(.changeSettings(space, settings), in: space)
    }

    // MARK: Links into groups

    /// A link by which so many persons may come into a group.
    public func inviteToGroup(
        conversation: String, role: String, uses: Int, hours: Int
    ) async throws -> GroupLinkView {
        guard (1...24 * 30).contains(hours) else {
            throw NodeError("bad-hours", "An invite lasts from 1 to 720 hours.")
        }
        guard let count = UInt32(exactly: uses) else {
            throw NodeError(.tooManyUses(limit: Int(GroupInvite.useCountMax)))
        }
        let space = try await read { try $0.conversation(conversation).id }
        var random = SystemRandom()
        let secret = random.bytes(32)
        let expires = SystemClock.now.wall + UInt64(hours) * 3_600_000
        let reply = try await running.perform(
            .createGroupInvite(
                space, secret: secret, role: try Self.role(role), uses: count, expires: expires))
        return try await read { views in
            guard case .operation(let invite) = reply, let record = try views.store.space(space),
                let roster = try views.roster(of: record),
                let live = roster.invites.first(where: { $0.operation == invite }),
                let card = try views.store.value(.card, views.ownPerson.bytes)
            else { throw NodeError(.unknownInvite) }
            let link = GroupLink(
                space: space, invite: invite, secret: secret, expires: expires,
                name: try views.view(of: record).name, card: card)
            return GroupLinkView(
                link: link.link, invite: try views.view(live, roster),
                clockWarning: try views.clockWarning())
        }
    }

    /// Takes a link into a group; one is in as soon as a device of its maker is reached.
    public func joinGroup(link: String) async throws -> JoinView {
        let found: GroupLink
        do {
            found = try GroupLink(link: link)
        } catch {
            throw NodeError(
                "bad-link", "That is no link into a group, or part of it is missing.", not: link,
                prefix: "parley:g1:", hint: "It begins with `parley:g1:` and is one long word.")
        }
        _ = try await running.perform(.joinGroup(found))
        return try await settled { views in
            let view = try views.view(joining: found)
            return (view, view.isMember || view.isRefused)
        }
    }

    /// Groups that one wants to come into and is not in yet.
    public func joins() async throws -> [JoinView] { try await read { try $0.joins() } }

    /// What changed who is in a conversation, oldest first.
    public func events(conversation: String) async throws -> [MembershipView] {
        try await read { try $0.events(of: $0.conversation(conversation)) }
    }

    /// Why a message, a person or a device stands as it does.
    public func why(_ subject: String, conversation: String?) async throws -> ExplanationView {
        try await read { try $0.why(subject, in: conversation) }
    }

    private func find(
        _ conversation: String, _ person: String, isInIt: Bool = false
    ) async throws -> (SpaceID, PersonID) {
        try await read { views in
            let record = try views.conversation(conversation)
            let space = record.id
            do {
                return (
                    space,
                    try isInIt ? views.member(person, of: record) : views.person(person)
                )
            } catch let error as NodeError where error.code == "unknown-person" {
                // Who is not oneself either is unknown, as was said.
                guard (try? views.person(person, among: [views.ownPerson])) != nil else {
                    throw error
                }
                throw NodeError(
                    "yourself", "That is yourself.",
                    hint: "`parley group leave` takes you out of a group; what you may do there is "
                        + "for another owner to change.")
            }
        }
    }

    /// Changes a person's place in a group; who may not is told whose word that place is.
    private func change(
        _ person: PersonID, _ command: Command, in space: SpaceID
    ) async throws -> GroupView {
        do {
            return try await perform(command, in: space)
        } catch let error as NodeError where error.code == "outranked" {
            throw try await read { try $0.outranked(by: person, in: space) } ?? error
        }
    }

    private func perform(_ command: Command, in space: SpaceID) async throws -> GroupView {
        _ = try await running.perform(command)
        return try await read { views in
            guard let record = try views.store.space(space) else {
                throw NodeError(.unknownConversation)
            }
            return try views.group(record)
        }
    }

    private static func role(_ word: String) throws -> Role {
        guard let role = Role(word: word) else {
            throw NodeError(
                "bad-role", "“\(word)” is no role.",
                hint: "It is reader, member, admin or owner.")
        }
        return role
    }
}
