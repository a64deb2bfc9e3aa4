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
}

extension Views {
    func invitations() throws -> InvitationsView {
        var policy = AdditionPolicy.ask
        if let own = core.ownSpace {
            policy = try Overview.additionPolicy(ownSpace: own.number, in: store)
        }
        let waiting = try invitationsShown().map { try view($0.invitation, $0.space) }
        return InvitationsView(
            policy: policy.word, waiting: waiting.sorted { ($0.since, $0.id) < ($1.since, $1.id) },
            joins: try joins())
    }

    private func view(_ invitation: Invitation, _ space: SpaceID) throws -> InvitationView {
        InvitationView(
            id: space.description, name: VisibleName.shown(invitation.name),
            inviter: try name(of: invitation.inviter), person: invitation.inviter.description,
            memberCount: Int(clamping: invitation.memberCount), since: invitation.since)
    }

    /// A sentence about an invitation that arrived, or nil for one that does not wait.
    func invitationNotice(of space: SpaceID) throws -> String? {
        guard let invitation = try Invitation.into(space, in: store),
            invitation.state == .waiting, try !hides(invitation)
        else { return nil }
        let view = try view(invitation, space)
        return "\(view.inviter) invites you to \(view.title): parley invitations accept "
            + space.short
    }
}

extension InvitationView {
    /// How it is spoken of: its name, quoted, for it is somebody else's word.
    var title: String {
        name.isEmpty ? "a group of \(memberCount)" : "“\(name)”, a group of \(memberCount)"
    }
}
