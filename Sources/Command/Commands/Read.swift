import ArgumentParser
import Parley
import ParleyLocalAPI
import ParleyWire

struct Read: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "show what is new, and mark it as read",
        discussion: """
            Begins at the first message that you have not read, or shows the newest if you have \
            read all. What is shown is marked as read, and nothing else; others in the \
            conversation see that, unless --keep-unread is given. --newest shows the newest page; \
            --before shows the page above another.

            ✓ saved here, ✓✓ on a device of another person, ✓✓ read by another person. They \
            describe the newest change: an edit that nobody has yet says so. (clock ahead) marks a \
            time that is still to come by this device's clock, (clocks differ) one that is before \
            the time of the message that it answers.

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
    @Flag(name: .long, help: "the newest page, even if something above it is unread")
    var newest = false
    @Flag(name: .long, help: "do not mark them as read")
    var keepUnread = false

    func validate() throws {
        try Check.name(conversation, "a conversation's name")
        guard (1...LocalAPI.pageMessageCountMax).contains(limit) else {
            throw ValidationError("--limit must be from 1 to \(LocalAPI.pageMessageCountMax).")
        }
        if let before, before.isEmpty || before.utf8.count > 256 {
            throw ValidationError("--before takes the cursor that an earlier page printed.")
        }
        if [before != nil, around != nil, newest].count(where: { $0 }) > 1 {
            throw ValidationError("--before, --around and --newest exclude each other.")
        }
    }

    /// The page, and who came and went while it was written.
    private func text(_ page: MessagePage, on node: any NodeService) async throws -> String {
        // What stands below all messages is of the last page.
        let isLast = page.belowCount == 0
        let events = try await node.perform(ListMembershipEvents(conversation: conversation)).filter
        {
            isLast || $0.below != nil
        }
        let calls = try await node.perform(ListCallRecords(conversation: conversation)).filter {
            isLast || $0.below != nil
        }
        let polls = try await node.perform(ListPolls(conversation: conversation)).filter {
            isLast || $0.below != nil
        }
        let decisions = try await node.perform(
            ListDecisions(conversation: conversation, limit: ListDecisions.limitMax)
        ).decisions.filter { isLast || $0.below != nil }
        return MessageLines.text(
            page.messages, events: events, calls: calls, polls: polls, decisions: decisions)
    }

    private func show(around message: MessageReference, on node: any NodeService) async throws {
        let meant = try await node.perform(GetConversation(conversation: conversation))
        let context = try await node.perform(GetContext(message: message, limit: limit))
        let found = context.page.messages.first { $0.number == context.message }
        if let place = found?.conversation, place != meant.id {
            let other = try await node.perform(GetConversation(conversation: place))
            let command = Self.command(of: other.name, "--around \(context.message)")
            throw NodeError(
                "other-conversation",
                "#\(context.message) is not in “\(meant.name)”: it is in “\(other.name)”.",
                hint: "`\(command)` shows it there.")
        }
        var text = MessageLines.text(context.page.messages)
        if !context.thread.isEmpty {
            text += "\nthread\n" + MessageLines.text(context.thread)
        }
        try Output.show(context, json: output.json, as: text)
        if !output.json { sayWhatIsAround(context.page) }
        if keepUnread { return }
        try await ReadMarks.mark(
            context.page.messages + context.thread, in: conversation, last: context.page.last,
            on: node)
    }

    func run(with node: any NodeService) async throws {
        if let around { return try await show(around: around.reference, on: node) }
        let page =
            newest || before != nil
            ? try await node.perform(
                ReadMessages(conversation: conversation, before: before, limit: limit))
            : try await node.perform(ReadUnread(conversation: conversation, limit: limit))
        let text = output.json ? "" : try await self.text(page, on: node)
        try Output.show(page, json: output.json, as: text)
        if page.messages.isEmpty, !output.json { try await sayNothingIsHere(on: node) }
        try await Losses.warn(in: conversation, on: node)
        if !output.json {
            sayWhatIsLeft(page)
            try await sayWhatIsElsewhere(on: node)
        }
        if keepUnread { return }
        try await ReadMarks.mark(page.messages, in: conversation, last: page.last, on: node)
    }

    /// Two who began to write to each other at the same time have two conversations; a name means one.
    private func sayWhatIsElsewhere(on node: any NodeService) async throws {
        let shown = try await node.perform(GetConversation(conversation: conversation))
        guard let twin = shown.twin else { return }
        let other = try await node.perform(GetConversation(conversation: twin))
        World.current.advise(
            "\(counted(other.unread, "message")) unread in another conversation of you two: "
                + "parley read \(twin.prefix(8))")
    }

    /// The command that shows a page of a conversation.
    private static func command(of conversation: String, _ option: String) -> String {
        let quoted = harmless(Advice.quoted(conversation))
        if option.isEmpty { return "parley read \(quoted)" }
        // What begins as options do stands behind them all.
        return conversation.hasPrefix("-")
            ? "parley read \(option) -- \(quoted)" : "parley read \(quoted) \(option)"
    }

    /// That a conversation has no messages, or that they are on other devices alone.
    private func sayNothingIsHere(on node: any NodeService) async throws {
        // It may be gone by now: then there is nothing more to say of it.
        let id = try? await node.perform(GetGroup(conversation: conversation)).id
        let shown = try await node.perform(ListConversations()).first { $0.id == id }
        World.current.say(shown.flatMap(Conversations.notice(of:)) ?? "no messages yet")
    }

    /// What stands above and below the page around a message.
    private func sayWhatIsAround(_ page: MessagePage) {
        if let cursor = page.cursor {
            let command = Self.command(of: conversation, "--before \(cursor)")
            World.current.advise("\(page.aboveCount) above: \(command)")
        }
        guard page.belowCount > 0, let last = page.messages.last else { return }
        let command = Self.command(of: conversation, "--around \(last.number)")
        World.current.advise("\(page.belowCount) below: \(command)")
    }

    private func sayWhatIsLeft(_ page: MessagePage) {
        let isUnknown = page.messages.contains { message in
            message.state == "unknown" || message.waiting.contains { $0.state == "unknown" }
        }
        if isUnknown { World.current.say(OutboxCommand.unknown) }
        func command(_ option: String) -> String { Self.command(of: conversation, option) }
        if let cursor = page.cursor {
            World.current.advise(
                "\(page.aboveCount) above: \(command("--before \(cursor)"))")
        }
        guard page.belowCount > 0 else { return }
        let way = keepUnread || before != nil ? "--newest" : ""
        World.current.advise("\(page.belowCount) below: \(command(way))")
    }
}
