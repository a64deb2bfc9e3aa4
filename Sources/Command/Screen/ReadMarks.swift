import Parley
import ParleyLocalAPI

/// Reports that a screen's content was read.
enum ReadMarks {
    /// Why something may not be marked as read, and can be read all the same.
    static let silent: Set<String> = [
        "revoked", "not-a-member", "not-a-member-yet", "rejoining", "forked", "blocked",
        "waiting", "read-only", "damaged", "invited",
    ]

    /// Marks shown messages as read: not those that nobody saw.
    static func mark(
        _ messages: [MessageView], in conversation: String, last: Int64, on node: any NodeService
    ) async throws {
        let numbers = Set(messages.filter { !$0.isOwn && $0.number > 0 }.map(\.number)).sorted()
        do {
            // Where nothing of others was shown, the mark that the conversation is unread goes all the same.
            let count = max(1, numbers.count)
            for start in stride(from: 0, to: count, by: LocalAPI.pageMessageCountMax) {
                let part = numbers[start...].prefix(LocalAPI.pageMessageCountMax)
                try await node.perform(
                    MarkRead(
                        conversation: conversation, messages: part.map { MessageReference($0) },
                        last: last))
            }
        } catch let error as NodeError where error.code == "disk-full" {
            World.current.say("not marked as read: the disk is full")
        } catch let error as NodeError where error.code == "read-only" {
            let shown = try await node.perform(ListConversations()).first {
                $0.id == conversation || $0.name == conversation
            }
            guard shown.map({ $0.unread > 0 }) ?? !numbers.isEmpty else { return }
            World.current.say("not marked as read: this home is read-only")
        } catch let error as NodeError where Self.silent.contains(error.code) {
            // Who may write nothing, marks included, still reads what is here.
        }
    }
}
