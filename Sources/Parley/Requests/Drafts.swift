import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyStorage
import ParleyWire

/// Stores a draft for the person's own devices; an empty text removes it, and so does sending it.
/// Each one is an operation that all own devices exchange: store when the person stops writing, not with
/// each key.
public struct KeepDraft: NodeRequest {
    /// Bytes of one, at most.
    public static let byteCountMax = UnsentText.byteCountMax
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "keepDraft", RequestScope.write,
        "Keeps a draft in a conversation; an empty text removes it."
    )
    /// An example of the request.
    public static let example = KeepDraft(conversation: "trip", text: "see you at")

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String
    /// The text, of at most 2,048 bytes; empty for none.
    public var text: String

    /// A request with these parameters.
    public init(conversation: String, text: String) {
        self.conversation = conversation
        self.text = text
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoReply {
        guard text.utf8.count <= Self.byteCountMax else {
            throw NodeError(
                "too-long",
                "That is \(text.utf8.count) bytes long; a draft can have at most "
                    + "\(Self.byteCountMax).",
                hint: "The earlier draft is still there. Shorten this text, or send it.")
        }
        let space = try await node.space(conversation)
        _ = try await node.running.perform(.keepUnsent(space, text))
        return NoReply()
    }
}

extension Views {
    /// What the person began to write in a conversation; nil where that is nothing.
    func draft(in space: SpaceID) throws -> String? {
        guard let own = core.ownSpace else { return nil }
        return try Overview.unsentText(in: space, ownSpace: own.number, store: store)
    }
}
