import ArgumentParser
import Parley
import ParleyWire

struct StarCommand: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "star",
        abstract: "star a message for yourself",
        discussion: """
            Your devices know of it, and nobody else. `parley stars` lists starred messages; a \
            deleted message loses its star.

            Example:
              parley star 12
              parley star 12 --remove
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the message: its number, or its identifier")
    var message: MessageArgument
    @Flag(name: .long, help: "remove the star")
    var remove = false

    func run(with node: any NodeService) async throws {
        let marked = try await node.perform(
            StarMessage(message: message.reference, on: !remove))
        try Output.show(marked, json: output.json, as: MessageLines.text([marked]))
    }
}

struct StarsCommand: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "stars",
        abstract: "list the messages that you starred",
        discussion: """
            The message that was starred last comes first; each is under the name of its \
            conversation.

            Example:
              parley stars
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Option(name: .long, help: "how many, at most \(ListStars.limitMax)")
    var limit = 50
    @Option(name: .long, help: "continue where the previous list ended")
    var from: Int?

    func validate() throws {
        guard (1...ListStars.limitMax).contains(limit) else {
            throw ValidationError("--limit must be from 1 to \(ListStars.limitMax).")
        }
        if let from, from < 0 {
            throw ValidationError(
                "--from takes the cursor that the previous list printed.")
        }
    }

    func run(with node: any NodeService) async throws {
        let page = try await node.perform(ListStars(limit: limit, from: from))
        try Output.show(page, json: output.json, as: Self.text(page))
        try await Losses.warn(of: "marks", on: node)
        guard !output.json else { return }
        if page.absentCount > 0 {
            World.current.say(
                "notice: \(counted(page.absentCount, "starred message")) "
                    + "\(page.absentCount == 1 ? "is" : "are") not on this device")
        } else if page.stars.isEmpty, page.next == nil {
            World.current.say("no message is starred")
        }
        if let next = page.next { World.current.advise("more: parley stars --from \(next)") }
    }

    /// Each message below the name of its conversation, said once for those that follow each other.
    private static func text(_ page: StarPage) -> String {
        var parts: [(conversation: String, title: String, messages: [MessageView])] = []
        for star in page.stars {
            if parts.last?.conversation != star.message.conversation {
                parts.append((star.message.conversation, star.title, []))
            }
            parts[parts.count - 1].messages.append(star.message)
        }
        return parts.map { part in
            harmless(part.title) + "\n" + MessageLines.text(part.messages)
        }.joined(separator: "\n")
    }
}
