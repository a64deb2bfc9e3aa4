import ParleyConversation
import ParleyNodeCore

/// Groups that others added one to and that wait for an answer, and who may do so unasked.
public struct ListInvitations: NodeRequest {
    /// The method, what a token must allow, and what it is for.
    public static let (name, scope, summary) = (
        "invitations", RequestScope.read,
        "Groups that others added one to and that wait for an answer, and who may do so "
            + "unasked."
    )
    /// As somebody would ask it.
    public static let example = ListInvitations()

    /// The request, which takes nothing.
    public init() {}

    /// Answers it.
    public func perform(on node: Node) async throws -> InvitationsView {
        try await node.read { try $0.invitations() }
    }
}

/// Accepts or declines an invitation into a group.
public struct AnswerInvitation: NodeRequest {
    /// The method, what a token must allow, and what it is for.
    public static let (name, scope, summary) = (
        "answerInvitation", RequestScope.write,
        "Accepts or declines an invitation into a group."
    )
    /// As somebody would ask it.
    public static let example = AnswerInvitation(conversation: "trip", accepting: true)
    /// The group.
    public var conversation: String
    /// Whether it is accepted.
    public var accepting: Bool

    /// A request with these parameters.
    public init(conversation: String, accepting: Bool) {
        self.conversation = conversation
        self.accepting = accepting
    }

    /// Answers it.
    public func perform(on node: Node) async throws -> InvitationsView {
        let space = try await node.read { try $0.invited(conversation) }
        _ = try await node.running.perform(
            accepting ? .acceptInvitation(space) : .declineInvitation(space))
        return try await node.perform(ListInvitations())
    }
}

/// Says who may add one to groups without asking.
public struct SetAdditionPolicy: NodeRequest {
    /// The method, what a token must allow, and what it is for.
    public static let (name, scope, summary) = (
        "setAdditionPolicy", RequestScope.write,
        "Says who may add one to groups without asking."
    )
    /// As somebody would ask it.
    public static let example = SetAdditionPolicy(policy: "contacts")
    /// `nobody` or `contacts`.
    public var policy: String

    /// A request with these parameters.
    public init(policy: String) {
        self.policy = policy
    }

    /// Answers it.
    public func perform(on node: Node) async throws -> InvitationsView {
        guard let word = AdditionPolicy(word: policy) else {
            throw NodeError(
                "bad-policy", "“\(policy)” is nobody who could add you.",
                hint: "It is nobody or contacts.")
        }
        _ = try await node.running.perform(.setAdditionPolicy(word))
        return try await node.perform(ListInvitations())
    }
}
