import ArgumentParser
import Parley
import ParleyLocalAPI

struct Read: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "show the newest messages, and mark them as read",
        discussion: """
            Others in the conversation learn that you have read it, unless --keep-unread is given. \
            What stands above the page is shown with --before.

            ✓ saved here, ✓✓ on a device of another person, ✓✓ read by another person.

            Example:
              parley read home --limit 20
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the conversation, or the person")
    var conversation: String
    @Option(name: .long, help: "how many messages, 1 to \(LocalAPI.pageMessageCountMax)")
    var limit = 50
    @Option(
        name: .long,
        help: ArgumentHelp("the page that ends where this page began", valueName: "cursor"))
    var before: String?
    @Option(
        name: .long,
        help: ArgumentHelp("the page around a message, and its thread", valueName: "message"))
    var around: MessageArgument?
    @Flag(name: .long, help: "do not mark them as read")
    var keepUnread = false

    func validate() throws {
        try Check.name(conversation, "a conversation's name")
        guard (1...LocalAPI.pageMessageCountMax).contains(limit) else {
            throw ValidationError("--limit is 1 to \(LocalAPI.pageMessageCountMax)")
        }
        if let before, before.isEmpty || before.utf8.count > 256 {
            throw ValidationError("--before takes what an earlier page said")
        }
        if before != nil, around != nil { throw ValidationError("--before or --around, not both") }
    }

    /// Why something may not be marked as read, and can be read all the same.
    private static let silent: Set<String> = [
        "revoked", "not-a-member", "not-a-member-yet", "rejoining", "forked", "blocked",
        "waiting",
    ]

    /// The page, and who came and went while it was written.
    private func text(_ page: MessagePage, on node: any NodeService) async throws -> String {
        let first = page.cursor == nil ? 0 : page.messages.first?.time ?? 0
        let last = before == nil ? UInt64.max : page.messages.last?.time ?? 0
        let events = try await node.events(conversation: conversation).filter {
            ($0.time >= first && $0.time <= last)
        }
        let calls = try await node.callRecords(conversation: conversation).filter {
            ($0.time >= first && $0.time <= last)
        }
        return MessageLines.text(page.messages, events: events, calls: calls)
    }

    private func show(around message: MessageReference, on node: any NodeService) async throws {
        let context = try await node.context(message: message, limit: limit)
        var text = MessageLines.text(context.page.messages)
        if !context.thread.isEmpty {
            text += "\nthread\n" + MessageLines.text(context.thread)
        }
        try Output.show(context, json: output.json, as: text)
    }

    func run(with node: any NodeService) async throws {
        if let around { return try await show(around: around.reference, on: node) }
        let page = try await node.messages(
            conversation: conversation, before: before, limit: limit)
        let text = output.json ? "" : try await self.text(page, on: node)
        try Output.show(page, json: output.json, as: text)
        if !output.json {
            if page.messages.isEmpty { World.current.say("no messages yet") }
            if let cursor = page.cursor {
                let name = conversation.contains(" ") ? "\"\(conversation)\"" : conversation
                World.current.say("earlier: parley read \(harmless(name)) --before \(cursor)")
            }
        }
        // After it was shown: what nobody saw is not read. An earlier page marks nothing.
        if !keepUnread, before == nil {
            do {
                _ = try await node.markRead(conversation: conversation)
            } catch let error as NodeError where Self.silent.contains(error.code) {
                // Who may write nothing, marks included, still reads what is here.
            }
        }
    }
}
