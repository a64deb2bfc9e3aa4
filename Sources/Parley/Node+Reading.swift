import ParleyConversation
import ParleyLedger
import ParleyNodeCore

extension Node {
    /// Marks messages of a conversation as read, and nothing else. Returns how many were unread.
    public func markRead(
        conversation: String, messages: [MessageReference], last: Int64?
    ) async throws -> Int {
        guard messages.count <= Self.pageMessageCountMax else {
            throw NodeError(
                "too-many", "At most \(Self.pageMessageCountMax) messages are marked at once.")
        }
        let (space, numbers) = try await read { views in
            (
                try views.conversation(conversation).id,
                try messages.map { try views.message($0) as OperationNumber }
            )
        }
        let shown = ShownMessages(numbers, last: last.map { OperationNumber($0) })
        let reply = try await running.perform(.markRead(space, shown))
        guard case .count(let count) = reply else { return 0 }
        return count
    }

    /// The page that begins at the first message that is not read; the newest page where all are.
    public func unread(conversation: String, limit: Int) async throws -> MessagePage {
        try Self.check(limit: limit)
        return try await read { try $0.unreadPage(of: $0.conversation(conversation), limit: limit) }
    }

    /// Texts that a message had, oldest first.
    public func history(message: MessageReference, from: Int) async throws -> HistoryPage {
        try await read {
            try $0.history(
                of: $0.message(message), from: from, limit: HistoryPage.versionCountMax)
        }
    }

    /// Messages of a page, at most.
    static let pageMessageCountMax = 1000

    static func check(limit: Int) throws {
        guard (1...pageMessageCountMax).contains(limit) else {
            throw NodeError(
                "bad-limit", "A page holds from 1 to \(pageMessageCountMax) messages.")
        }
    }
}
