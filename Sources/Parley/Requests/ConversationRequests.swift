/// A request about one conversation, so that a token of that conversation may make it.
///
/// Whatever is not listed here may not be asked with such a token: a request that is new asks for no
/// more than it was thought about.
public protocol ConversationRequest: NodeRequest {
    /// The conversation that it names; nil where it names none.
    var namedConversation: String? { get }
    /// The messages that it names, and whatever is named in the same way.
    var namedMessages: [MessageReference] { get }
    /// The same request about the conversation of this identifier, where it can name one.
    func naming(conversation: String) -> Self
}

extension ConversationRequest {
    /// None.
    public var namedMessages: [MessageReference] { [] }

    /// The same request, which can mean nothing beyond a conversation.
    ///
    /// - Throws: ``NodeError`` where it names another one, or a message of another one.
    func confined(to conversation: String, on node: any NodeService) async throws -> Self {
        if let named = namedConversation, named != conversation {
            let meant: String
            do {
                meant = try await node.perform(GetConversation(conversation: named)).id
            } catch is NodeError {
                // Anything else, and anything ambiguous, is not for the holder of such a token.
                throw NodeError.otherConversation
            }
            guard meant == conversation else { throw NodeError.otherConversation }
        }
        let messages = namedMessages
        if !messages.isEmpty {
            let places: [String]
            do {
                places = try await node.perform(LocateMessages(messages: messages))
            } catch is NodeError {
                throw NodeError.otherConversation
            }
            guard places.allSatisfy({ $0 == conversation }) else {
                throw NodeError.otherConversation
            }
        }
        return naming(conversation: conversation)
    }
}

/// One that names its conversation.
public protocol NamedConversationRequest: ConversationRequest {
    /// The conversation: its name, its identifier or a start of that.
    var conversation: String { get set }
}

extension NamedConversationRequest {
    /// The one that it is about.
    public var namedConversation: String? { conversation }

    /// The same request by the conversation's identifier.
    public func naming(conversation: String) -> Self {
        var request = self
        request.conversation = conversation
        return request
    }
}

/// A request that lists content of a conversation, or of all.
public protocol FilteredRequest: ConversationRequest {
    /// The conversation; nil for all.
    var conversation: String? { get set }
}

extension FilteredRequest {
    /// The one that it is about; nil for all.
    public var namedConversation: String? { conversation }

    /// The same request of one conversation.
    public func naming(conversation: String) -> Self {
        var request = self
        request.conversation = conversation
        return request
    }
}

/// A request that names messages, or things named in the same way, and no conversation.
public protocol MessageRequest: ConversationRequest {}

extension MessageRequest {
    /// None.
    public var namedConversation: String? { nil }

    /// The request as it is.
    public func naming(conversation: String) -> Self { self }
}

// MARK: Reading

extension GetConversation: NamedConversationRequest {}
extension GetGroup: NamedConversationRequest {}
extension GetGroupPicture: NamedConversationRequest {}
extension ListMembershipEvents: NamedConversationRequest {}
extension ListPins: NamedConversationRequest {}
extension ReadMessages: NamedConversationRequest {}
extension ReadUnread: NamedConversationRequest {}
extension ListDecisions: FilteredRequest {}
extension ListFiles: FilteredRequest {}
extension ListItems: FilteredRequest {}
extension ListNotes: FilteredRequest {}
extension ListPolls: FilteredRequest {}
extension ListThreads: FilteredRequest {}

extension GetContext: MessageRequest {
    /// The one that it is about.
    public var namedMessages: [MessageReference] { [message] }
}
extension GetDecision: MessageRequest {
    /// The decision.
    public var namedMessages: [MessageReference] { [decision] }
}
extension GetItem: MessageRequest {
    /// The item.
    public var namedMessages: [MessageReference] { [item] }
}
extension GetMessageHistory: MessageRequest {
    /// The one that it is about.
    public var namedMessages: [MessageReference] { [message] }
}
extension GetNote: MessageRequest {
    /// The note, and the edit that it is wanted after.
    public var namedMessages: [MessageReference] { [note] + (after.map { [$0] } ?? []) }
}
extension GetPoll: MessageRequest {
    /// The poll.
    public var namedMessages: [MessageReference] { [poll] }
}
extension ListMessageFiles: MessageRequest {
    /// The one that it is about.
    public var namedMessages: [MessageReference] { [message] }
}
extension LocateMessages: MessageRequest {
    /// All of them.
    public var namedMessages: [MessageReference] { messages }
}
extension ReadFile: MessageRequest {
    /// The one that brings the file.
    public var namedMessages: [MessageReference] { [message] }
}
extension ReadPreview: MessageRequest {
    /// The one that brings the preview.
    public var namedMessages: [MessageReference] { [message] }
}
extension ReadThread: MessageRequest {
    /// The one that it is about.
    public var namedMessages: [MessageReference] { [message] }
}

// MARK: Writing

extension SendMessages: NamedConversationRequest {
    /// The answer.
    public var namedMessages: [MessageReference] {
        (replyTo.map { [$0] } ?? []) + (thread.map { [$0] } ?? [])
    }
}
extension MarkRead: NamedConversationRequest {
    /// Those that were read.
    public var namedMessages: [MessageReference] { messages }
}
extension SetTyping: NamedConversationRequest {}
extension AskPoll: NamedConversationRequest {}
extension CreateNote: NamedConversationRequest {}
extension CreateItem: NamedConversationRequest {
    /// Where it comes from.
    public var namedMessages: [MessageReference] { source.map { [$0] } ?? [] }
}
extension ProposeDecision: NamedConversationRequest {
    /// Where it comes from.
    public var namedMessages: [MessageReference] {
        (source.map { [$0] } ?? []) + (poll.map { [$0] } ?? [])
    }
}
extension AnswerPoll: MessageRequest {
    /// The poll.
    public var namedMessages: [MessageReference] { [poll] }
}
extension ApproveDecision: MessageRequest {
    /// The decision.
    public var namedMessages: [MessageReference] { [decision] }
}
extension ChangeItem: MessageRequest {
    /// The item.
    public var namedMessages: [MessageReference] { [item] }
}
extension ChangeNote: MessageRequest {
    /// The note.
    public var namedMessages: [MessageReference] { [note] }
}
extension DeleteMessage: MessageRequest {
    /// The one that is taken back.
    public var namedMessages: [MessageReference] { [message] }
}
extension EditMessage: MessageRequest {
    /// The one that is edited.
    public var namedMessages: [MessageReference] { [message] }
}
extension PinMessage: MessageRequest {
    /// The one that is pinned.
    public var namedMessages: [MessageReference] { [message] }
}
extension ReactToMessage: MessageRequest {
    /// The one that is reacted to.
    public var namedMessages: [MessageReference] { [message] }
}
extension WriteNote: MessageRequest {
    /// The note.
    public var namedMessages: [MessageReference] { [note] }
}
