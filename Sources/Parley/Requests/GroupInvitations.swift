import ParleyConversation
import ParleyNodeCore
import ParleyWire

/// Groups that others added this person to and that wait for an answer, and who may do so without
/// asking.
public struct ListInvitations: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "invitations", RequestScope.read,
        "Invitations to groups that wait for an answer, and who may add the person without asking."
    )
    /// An example of the request.
    public static let example = ListInvitations()

    /// The request, which has no parameters.
    public init() {}

    /// Answers the request.
    public func perform(on node: Node) async throws -> InvitationsView {
        try await node.read { try $0.invitations() }
    }
}

/// Accepts or declines an invitation into a group.
public struct AnswerInvitation: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "answerInvitation", RequestScope.write,
        "Accepts or declines an invitation to a group."
    )
    /// An example of the request.
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

    /// Answers the request.
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

/// Sets who may add this person to groups without asking.
public struct SetAdditionPolicy: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "setAdditionPolicy", RequestScope.write,
        "Sets who may add the person to groups without asking."
    )
    /// An example of the request.
    public static let example = SetAdditionPolicy(policy: .contacts)

    /// Who may.
    public var policy: GroupAdders

    /// A request with these parameters.
    public init(policy: GroupAdders) {
        self.policy = policy
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> InvitationsView {
        let setting: AdditionPolicy = policy == .nobody ? .ask : .contacts
        _ = try await node.running.perform(.setAdditionPolicy(setting))
        return try await node.perform(ListInvitations())
    }
}

/// Who may add a person to groups without asking, by its word.
public enum GroupAdders: String, Codable, CaseIterable, Sendable {
    /// Nobody: a person who is added is asked first.
    case nobody
    /// Accepted contacts.
    case contacts

    /// Reads a word.
    ///
    /// - Throws: ``NodeError`` with the code `bad-policy` if it is none of these.
    public init(from decoder: any Decoder) throws {
        let word = try decoder.singleValueContainer().decode(String.self)
        guard let policy = GroupAdders(rawValue: word) else {
            throw NodeError(
                "bad-policy", "“\(word)” is not a choice for who may add you.",
                hint: "Choose nobody or contacts.")
        }
        self = policy
    }
}
