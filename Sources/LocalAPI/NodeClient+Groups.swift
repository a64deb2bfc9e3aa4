public import Parley

/// The part of `NodeService` that is about groups.
extension NodeClient {
    /// See `NodeService.group(_:)`.
    public func group(_ conversation: String) async throws -> GroupView {
        try await call("group", ["conversation": conversation])
    }

    /// See `NodeService.addMember(conversation:person:role:)`.
    public func addMember(
        conversation: String, person: String, role: String
    ) async throws -> GroupView {
        try await call(
            "addMember", ["conversation": conversation, "person": person, "role": role])
    }

    /// See `NodeService.removeMember(conversation:person:)`.
    public func removeMember(conversation: String, person: String) async throws -> GroupView {
        try await call("removeMember", ["conversation": conversation, "person": person])
    }

    /// See `NodeService.setRole(conversation:person:role:)`.
    public func setRole(
        conversation: String, person: String, role: String
    ) async throws -> GroupView {
        try await call(
            "setRole", ["conversation": conversation, "person": person, "role": role])
    }

    /// See `NodeService.leave(conversation:anyway:)`.
    public func leave(conversation: String, anyway: Bool) async throws {
        let _: Nothing = try await call(
            "leave", ["conversation": conversation, "anyway": anyway])
    }

    /// See `NodeService.invitations()`.
    public func invitations() async throws -> InvitationsView { try await call("invitations") }

    /// See `NodeService.answerInvitation(conversation:accepting:)`.
    public func answerInvitation(
        conversation: String, accepting: Bool
    ) async throws -> InvitationsView {
        try await call(
            "answerInvitation", ["conversation": conversation, "accepting": accepting])
    }

    /// See `NodeService.setAdditionPolicy(_:)`.
    public func setAdditionPolicy(_ policy: String) async throws -> InvitationsView {
        try await call("setAdditionPolicy", ["policy": policy])
    }

    /// See `NodeService.deleteConversation(_:)`.
    public func deleteConversation(_ conversation: String) async throws {
        let _: Nothing = try await call("deleteConversation", ["conversation": conversation])
    }

    /// See `NodeService.changeSettings(conversation:history:rotationHours:)`.
    public func changeSettings(
        conversation: String, history: String?, rotationHours: Int?
    ) async throws -> GroupView {
        try await call(
            "changeSettings",
            [
                "conversation": conversation, "history": history,
                "rotationHours": rotationHours,
            ])
    }

    /// See `NodeService.inviteToGroup(conversation:role:uses:hours:)`.
    public func inviteToGroup(
        conversation: String, role: String, uses: Int, hours: Int
    ) async throws -> GroupLinkView {
        try await call(
            "inviteToGroup",
            ["conversation": conversation, "role": role, "uses": uses, "hours": hours])
    }

    /// See `NodeService.joinGroup(link:)`.
    public func joinGroup(link: String) async throws -> JoinView {
        try await call("joinGroup", ["link": link])
    }

    /// See `NodeService.joins()`.
    public func joins() async throws -> [JoinView] { try await call("joins") }

    /// See `NodeService.events(conversation:)`.
    public func events(conversation: String) async throws -> [MembershipView] {
        try await call("events", ["conversation": conversation])
    }

    /// See `NodeService.why(_:conversation:)`.
    public func why(_ subject: String, conversation: String?) async throws -> ExplanationView {
        try await call("why", ["subject": subject, "conversation": conversation])
    }
}
