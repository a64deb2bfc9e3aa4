import ParleyNodeCore

/// Has a conversation stand above others in the person's lists, or no longer.
public struct KeepConversationFirst: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "keepFirst", RequestScope.write,
        "Lists a conversation above others, on all of the person's devices, or no longer."
    )
    /// An example of the request.
    public static let example = KeepConversationFirst(conversation: "trip", on: true)

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String
    /// Whether it stands above others.
    public var on: Bool

    /// A request with these parameters.
    public init(conversation: String, on: Bool) {
        self.conversation = conversation
        self.on = on
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoReply {
        let space = try await node.space(conversation)
        _ = try await node.running.perform(.keepFirst(space, isOn: on))
        return NoReply()
    }
}
