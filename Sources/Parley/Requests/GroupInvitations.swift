import ParleyConversation
import ParleyNodeCore
import ParleyWire

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
        let (space, answered) = try await node.read { views in
            let space = try views.invited(conversation)
            return (
                space, try views.invitations().waiting.first { $0.id == space.description }
            )
        }
        _ = try await node.running.perform(
            accepting ? .acceptInvitation(space) : .declineInvitation(space))
        var left = try await node.perform(ListInvitations())
        left.answered = answered
        return left
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
    public static let example = SetAdditionPolicy(policy: .contacts)

    /// Who may.
    public var policy: GroupAdders

    /// A request with these parameters.
    public init(policy: GroupAdders) {
        self.policy = policy
    }

    /// Answers it.
    public func perform(on node: Node) async throws -> InvitationsView {
        let setting: AdditionPolicy = policy == .nobody ? .ask : .contacts
        _ = try await node.running.perform(.setAdditionPolicy(setting))
        return try await node.perform(ListInvitations())
    }
}

/// Who may add a person to groups without asking, by its word.
public enum GroupAdders: String, Codable, CaseIterable, Sendable {
    /// Nobody: whoever is added is asked first.
    case nobody
    /// Accepted contacts.
    case contacts

    /// Reads a word.
    ///
    /// - Throws: ``NodeError`` of the code `bad-policy` where it is none of these.
    public init(from decoder: any Decoder) throws {
        let word = try decoder.singleValueContainer().decode(String.self)
        guard let policy = GroupAdders(rawValue: word) else {
            throw NodeError(
                "bad-policy", "“\(word)” is nobody who could add you.",
                hint: "It is nobody or contacts.")
        }
        self = policy
    }
}
