/// The changes of who is in a conversation, oldest first.
public struct ListMembershipEvents: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "events", RequestScope.read,
        "Changes of the members of a conversation, oldest first."
    )
    /// An example of the request.
    public static let example = ListMembershipEvents(conversation: "trip")

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String

    /// A request with these parameters.
    public init(conversation: String) {
        self.conversation = conversation
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> [MembershipView] {
        try await node.read { try $0.events(of: $0.conversation(conversation)) }
    }
}

/// Why a message, a person, a device or a conversation stands as it does; in one conversation or in
/// all.
public struct ExplainState: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "why", RequestScope.read,
        "Why a message, a person, a device or a conversation is in its state; in one conversation "
            + "or in all."
    )
    /// An example of the request.
    public static let example = ExplainState(subject: "ben", conversation: "trip")

    /// A message by its number, a person, a device or a conversation.
    public var subject: String
    /// The conversation; nil for all.
    public var conversation: String?

    /// A request with these parameters.
    public init(subject: String, conversation: String? = nil) {
        self.subject = subject
        self.conversation = conversation
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> ExplanationView {
        try await node.read { try $0.why(subject, in: conversation) }
    }
}
