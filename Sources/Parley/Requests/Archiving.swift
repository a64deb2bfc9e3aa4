import ParleyNodeCore

/// Puts a conversation away until somebody writes in it, or takes it back.
public struct ArchiveConversation: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "archive", RequestScope.write,
        "Archives a conversation until somebody writes in it, or takes it out of the archive."
    )
    /// An example of the request.
    public static let example = ArchiveConversation(conversation: "trip", on: true)

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String
    /// Whether it is put away.
    public var on: Bool

    /// A request with these parameters.
    public init(conversation: String, on: Bool) {
        self.conversation = conversation
        self.on = on
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoReply {
        _ = try await node.running.perform(.archive(try await node.space(conversation), isOn: on))
        return NoReply()
    }
}
