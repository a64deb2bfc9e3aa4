import Parley

/// Turns what changes at a node into what its person should know.
struct NoticeReader {
    private let node: any NodeService
    /// Reported events, so that none is reported again.
    private var rung: Set<String> = []
    private var asked: Set<String>
    private var invited: Set<String>

    /// Nothing is reported for what already waits.
    init(_ node: any NodeService) async throws {
        self.node = node
        asked = try await Set(Self.requests(node).map(\.person))
        invited = try await Set(node.perform(ListInvitations()).waiting.map(\.id))
    }

    /// What one change comes to.
    mutating func notices(of change: ChangeView) async throws -> [Notice] {
        switch change.kind {
        case "message":
            // One that mentions is told of as that.
            guard let message = change.message, change.isNew == true, !message.mentionsMe else {
                return []
            }
            return try await notice(of: message, .message)
        case "mention":
            guard let message = change.message, message.mentionsMe else { return [] }
            return try await notice(of: message, .mention)
        case "call": return notices(of: change.call)
        case "reminder":
            guard let reminder = change.reminder else { return [] }
            return [
                Notice(
                    event: .reminder, text: ReminderLines.words(reminder), reference: reminder.id)
            ]
        case "contact": return try await newRequests()
        case "invitation": return try await newInvitations()
        default: return []
        }
    }

    private func notice(
        of message: MessageView, _ event: Notice.Event
    ) async throws -> [Notice] {
        guard !message.isOwn, !message.isImported, !message.isDeleted, !message.isMissing,
            !message.isHidden
        else { return [] }
        let open = try await node.perform(ListOpenConversations())
        guard !open.contains(message.conversation) else { return [] }
        let conversation = try await node.perform(
            GetConversation(conversation: message.conversation))
        // Read elsewhere, or silenced: somebody who is mentioned in a silenced one is told of it.
        let isMuted = conversation.isMuted && event != .mention
        guard !isMuted, conversation.unread > 0, !conversation.isInvited else { return [] }
        let isGroup = conversation.kind == "group"
        return [
            Notice(
                event: event, sender: message.author, conversation: conversation.name,
                conversationID: conversation.id, isGroup: isGroup,
                text: message.text ?? "", reference: "\(message.number)")
        ]
    }

    private mutating func notices(of call: CallView?) -> [Notice] {
        guard let call, !call.isOwn else { return [] }
        let isOver = call.state != "ringing"
        guard isOver ? rung.remove(call.call) != nil : rung.insert(call.call).inserted else {
            return []
        }
        return [
            Notice(
                event: isOver ? .callEnded : .call, sender: call.caller, conversation: call.name,
                conversationID: call.conversation, text: "", reference: call.call)
        ]
    }

    private static func requests(_ node: any NodeService) async throws -> [ContactView] {
        try await node.perform(ListContacts()).filter { $0.state == "pending" }
    }

    private mutating func newRequests() async throws -> [Notice] {
        let waiting = try await Self.requests(node)
        let new = waiting.filter { !asked.contains($0.person) }
        asked = Set(waiting.map(\.person))
        return new.map { Notice(event: .request, sender: $0.name, reference: $0.person) }
    }

    private mutating func newInvitations() async throws -> [Notice] {
        let waiting = try await node.perform(ListInvitations()).waiting
        let new = waiting.filter { !invited.contains($0.id) }
        invited = Set(waiting.map(\.id))
        return new.map {
            Notice(
                event: .invitation, sender: $0.inviter, conversation: $0.name,
                conversationID: $0.id, isGroup: true, reference: $0.id)
        }
    }
}
