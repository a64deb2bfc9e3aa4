internal import Parley
internal import ParleyLocalAPI

/// What nodes said they had saved, and what is still there at the end.
struct Saved {
    /// Texts as they were first written, each as often as it was; by conversation.
    private var texts: [String: [String: Int]] = [:]

    /// A node said that it saved this.
    mutating func add(_ text: String, in conversation: String) {
        texts[conversation, default: [:]][text, default: 0] += 1
    }

    /// A message with this text may have been taken back.
    mutating func forgive(_ text: String, in conversation: String) {
        texts[conversation]?[text, default: 0] -= 1
    }

    /// How many messages are asked for.
    var count: Int {
        texts.values.reduce(0) { $0 + $1.values.reduce(0) { $0 + max(0, $1) } }
    }

    /// What a member of a conversation does not show, in a sentence, or nil.
    ///
    /// - Parameter originals: the first texts of those that were edited.
    func missing(
        _ messages: [MessageView], originals: [Int64: String] = [:], in conversation: String
    ) -> String? {
        var shown: [String: Int] = [:]
        for message in messages {
            guard let text = originals[message.number] ?? message.text else { continue }
            shown[text, default: 0] += 1
        }
        let lost = (texts[conversation] ?? [:]).filter { $0.value > shown[$0.key, default: 0] }
        guard let first = lost.keys.min() else { return nil }
        return "\(lost.count) saved messages are missing, as “\(first.prefix(40))”"
    }
}

/// Every message of a conversation, newest first.
func everyMessage(
    of node: any NodeService, in conversation: String
) async throws -> [MessageView] {
    var messages: [MessageView] = []
    var before: String?
    repeat {
        let page = try await node.perform(
            ReadMessages(
                conversation: conversation, before: before, limit: LocalAPI.pageMessageCountMax))
        messages += page.messages.reversed()
        before = page.cursor
    } while before != nil
    return messages
}

/// The first texts of messages that were edited, by their numbers.
func originals(
    of messages: [MessageView], on node: any NodeService
) async throws -> [Int64: String] {
    var texts: [Int64: String] = [:]
    for message in messages where message.editCount > 0 {
        let page = try await node.perform(
            GetMessageHistory(message: MessageReference(message.number), from: 0))
        texts[message.number] = page.versions.first?.text
    }
    return texts
}
