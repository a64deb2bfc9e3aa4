import ArgumentParser
import Parley
import ParleyLocalAPI
import ParleyWire

struct ThreadCommand: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "thread",
        abstract: "show a message and the answers below it",
        discussion: """
            The message that the thread begins with comes first, then the newest answers in order; \
            you can name the thread by any of its answers. What is shown is marked as read, unless \
            --keep-unread is given. `parley send --thread` writes an answer.

            Example:
              parley thread 12
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the message: its number, or its identifier")
    var message: MessageArgument
    @Option(name: .long, help: "how many answers, 1 to \(LocalAPI.pageMessageCountMax)")
    var limit = 50
    @Option(
        name: .long,
        help: ArgumentHelp("the page that ends where this page began", valueName: "cursor"))
    var before: String?
    @Flag(name: .long, help: "do not mark them as read")
    var keepUnread = false

    func validate() throws {
        guard (1...LocalAPI.pageMessageCountMax).contains(limit) else {
            throw ValidationError("--limit must be from 1 to \(LocalAPI.pageMessageCountMax).")
        }
        if let before { try Check.name(before, "a cursor") }
    }

    func run(with node: any NodeService) async throws {
        let page = try await node.perform(
            ReadThread(message: message.reference, limit: limit, before: before))
        let root = page.root.map { [$0] } ?? []
        var text = MessageLines.text(root + page.answers)
        if root.isEmpty { text = Self.absent(page.rootHasDisappeared) + "\n" + text }
        try Output.show(page, json: output.json, as: text)
        if !output.json {
            if page.answerCount == 0 { World.current.say("no answers") }
            if let cursor = page.cursor {
                World.current.advise(
                    "\(counted(page.aboveCount, "answer")) above: parley thread "
                        + "\(message.reference) --before \(cursor)")
            }
        }
        if !keepUnread {
            try await ReadMarks.mark(
                root + page.answers, in: page.conversation, last: page.last, on: node)
        }
    }
}

extension ThreadCommand {
    /// In place of the message that a thread begins with, where it is not here.
    static func absent(_ hasDisappeared: Bool?) -> String {
        hasDisappeared == true
            ? "(the first message has disappeared)" : "(the first message is not here)"
    }
}

struct ThreadsCommand: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "threads",
        abstract: "list threads, the one with the newest answer first",
        discussion: """
            Shows, for one conversation or for all, the message that each begins with, how many \
            answers it has, and how many of them you have not read.

            Example:
              parley threads trip
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the conversation, or the person; without it, all")
    var conversation: String?
    @Option(name: .long, help: "how many, at most \(ListThreads.limitMax)")
    var limit = 20
    @Option(name: .long, help: "continue where the previous list ended")
    var from: String?

    func validate() throws {
        if let conversation { try Check.name(conversation, "a conversation's name") }
        guard (1...ListThreads.limitMax).contains(limit) else {
            throw ValidationError("--limit must be from 1 to \(ListThreads.limitMax).")
        }
        if let from { try Check.name(from, "a cursor") }
    }

    func run(with node: any NodeService) async throws {
        let list = try await node.perform(
            ListThreads(conversation: conversation, limit: limit, from: from))
        try Output.show(list, json: output.json, as: Self.text(list))
        guard !output.json else { return }
        if list.threads.isEmpty { World.current.say("no threads") }
        if let next = list.next {
            let name = conversation.map { "\(harmless(Advice.quoted($0))) " } ?? ""
            World.current.advise("more: parley threads \(name)--from \(next)")
        }
    }

    private static func text(_ list: ThreadList) -> String {
        list.threads.map { thread in
            let root =
                thread.root.map { MessageLines.text([$0]) }
                ?? "  " + ThreadCommand.absent(thread.rootHasDisappeared)
            let news = thread.unreadCount > 0 ? ", \(thread.unreadCount) new" : ""
            return harmless(thread.title) + "\n" + root + "\n  "
                + counted(thread.answerCount, "answer") + news
                + ", the last #\(thread.newest.number) by \(harmless(thread.newest.author))"
        }.joined(separator: "\n\n")
    }
}
