import ArgumentParser
import Parley

/// Whether a text mentions the people it names.
struct MentionOptions: ParsableArguments {
    @Flag(name: .long, help: "“@” and a name mention nobody")
    var noMentions = false

    /// As requests take it: nothing where it is as usual.
    var without: Bool? { noMentions ? true : nil }
}

struct MentionsCommand: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "mentions",
        abstract: "list the messages that mention you",
        discussion: """
            Lists those of all conversations, also of muted ones: first the messages that you have \
            not read, then the others, newest first, each under the name of its conversation. \
            Listing them marks nothing as read.

            You are mentioned by “@” and your name, or the start of your identifier with at least \
            eight digits, or by “@everyone”. An edit mentions you only if no earlier text did.

            Example:
              parley mentions
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Option(name: .long, help: "how many, at most \(ListMentions.limitMax)")
    var limit = 50
    @Option(name: .long, help: "continue where the previous list ended")
    var from: String?

    func validate() throws {
        guard (1...ListMentions.limitMax).contains(limit) else {
            throw ValidationError("--limit must be from 1 to \(ListMentions.limitMax).")
        }
        if let from { try Check.name(from, "a cursor") }
    }

    func run(with node: any NodeService) async throws {
        let page = try await node.perform(ListMentions(limit: limit, from: from))
        try Output.show(page, json: output.json, as: Self.text(page))
        guard !output.json else { return }
        if page.mentions.isEmpty { World.current.say("no message mentions you") }
        if let next = page.next { World.current.advise("more: parley mentions --from \(next)") }
    }

    /// Unread and read mentions; each message below the name of its conversation, shown once for
    /// consecutive ones.
    private static func text(_ page: MentionPage) -> String {
        var parts: [(title: String, messages: [MessageView])] = []
        var last: MentionPage.Entry?
        for mention in page.mentions {
            if last?.message.conversation != mention.message.conversation
                || last?.isUnread != mention.isUnread
            {
                parts.append((harmless(mention.title) + (mention.isUnread ? "  new" : ""), []))
            }
            parts[parts.count - 1].messages.append(mention.message)
            last = mention
        }
        return parts.map { $0.title + "\n" + MessageLines.text($0.messages) }
            .joined(separator: "\n")
    }
}
