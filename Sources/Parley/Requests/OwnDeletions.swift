import ParleyConversation
import ParleyLedger
import ParleyNodeCore

/// Deletes a message for this person, on all of their devices. Others keep it and hear nothing of it.
public struct DeleteForMe: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "deleteForMe", RequestScope.write,
        "Deletes a message for oneself, on all of one's devices; others keep it."
    )
    /// An example of the request.
    public static let example = DeleteForMe(message: 12)

    /// The message.
    public var message: MessageReference

    /// A request with these parameters.
    public init(message: MessageReference) { self.message = message }

    /// Answers the request.
    public func perform(on node: Node) async throws -> MessageView {
        let number = try await node.read { try $0.message(message) }
        let before = try await node.read { try $0.message(number) }
        _ = try await node.performFreeing(.deleteForOneself(number))
        // Deleted before, it is here no more.
        guard let before else { throw NodeError(.unknownMessage) }
        return try await node.read { try $0.deleted(before, forOneself: true) }
    }
}

extension Views {
    /// Whether the words of an operation are those of a message that this person deleted for themselves.
    func isDeletedForOneself(_ stored: StoredOperation) throws -> Bool {
        try Overview.isDeletedForOneself(stored, ownSpace: core.ownSpace?.number, in: store)
    }
}
