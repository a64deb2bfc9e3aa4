import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyStorage
import ParleyWire

extension AdditionPolicy {
    /// The word for it.
    var word: String {
        switch self {
        case .ask: "nobody"
        case .contacts: "contacts"
        }
    }

    /// The policy of this word, or nil.
    init?(word: String) {
        guard let policy = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = policy
    }
}

extension Views {
    func invitations() throws -> InvitationsView {
        var policy = AdditionPolicy.ask
        if let own = core.ownSpace {
            policy = try Overview.additionPolicy(ownSpace: own.number, in: store)
        }
        let waiting = try Invitation.waiting(in: store).map { try view($0.invitation, $0.space) }
        return InvitationsView(
            policy: policy.word, waiting: waiting.sorted { ($0.since, $0.id) < ($1.since, $1.id) })
    }

    private func view(_ invitation: Invitation, _ space: SpaceID) throws -> InvitationView {
        InvitationView(
            id: space.description, name: invitation.name,
            inviter: try name(of: invitation.inviter), person: invitation.inviter.description,
            memberCount: Int(clamping: invitation.memberCount), since: invitation.since)
    }

    /// The group that an argument means, of those that wait for an answer.
    func invited(_ argument: String) throws -> SpaceID {
        var meaning = Meaning<SpaceID>(argument)
        for (space, invitation) in try Invitation.waiting(in: store) {
            meaning.consider(space, name: invitation.name, identifier: space.description)
        }
        let found = meaning.things
        guard let space = found.first, found.count == 1 else {
            guard found.isEmpty else {
                throw NodeError(
                    "ambiguous", "\(found.count) invitations answer to “\(argument)”.",
                    hint: "Name one by the start of its identifier: "
                        + found.map(\.short).joined(separator: ", "))
            }
            throw NodeError(.notInvited)
        }
        return space
    }

    /// The conversation that an argument means, of all that are here: those that were declined, too.
    func deletable(_ argument: String) throws -> SpaceID {
        var meaning = Meaning<SpaceID>(argument)
        for space in try store.spaces() {
            guard let invitation = try Invitation.into(space.id, in: store),
                invitation.state == .over
            else { continue }
            meaning.consider(
                space.id, name: invitation.name, identifier: space.id.description)
        }
        if let space = meaning.things.first, meaning.things.count == 1 { return space }
        return try conversation(argument).id
    }

    /// What a person should read of an invitation that came, or nil for one that does not wait.
    func invitationNotice(of space: SpaceID) throws -> String? {
        guard let invitation = try Invitation.into(space, in: store),
            invitation.state == .waiting
        else { return nil }
        let view = try view(invitation, space)
        return "\(view.inviter) invites you into \(view.title): parley invitations accept "
            + space.short
    }
}

extension InvitationView {
    /// How it is spoken of: its name, quoted, for it is somebody else's word.
    var title: String {
        name.isEmpty ? "a group of \(memberCount)" : "“\(name)”, a group of \(memberCount)"
    }
}
