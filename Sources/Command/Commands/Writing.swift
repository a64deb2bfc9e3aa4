import ArgumentParser
import Parley

struct Edit: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "give a message of yours another text",
        discussion: """
            Everyone sees the new text, and that there was another.

            Example:
              parley edit 12 "see you at nine"
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the message: its number, or its identifier")
    var message: MessageArgument
    @Argument(help: "the new text")
    var text: String

    func validate() throws { try Check.text(text) }

    func run(with node: any NodeService) async throws {
        let message = try await node.edit(message: self.message.reference, text: text)
        try Output.show(message, json: output.json, as: MessageLines.text([message]))
    }
}

struct Delete: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "take a message of yours back, for everyone",
        discussion: """
            Its text goes from every node that hears of it. Who has read it has read it.

            Example:
              parley delete 12
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the message: its number, or its identifier")
    var message: MessageArgument

    func run(with node: any NodeService) async throws {
        let message = try await node.delete(message: self.message.reference)
        try Output.show(message, json: output.json, as: MessageLines.text([message]))
    }
}

struct React: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "react",
        abstract: "add an emoji to a message",
        discussion: """
            --remove takes yours back.

            Example:
              parley react 12 👍
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the message: its number, or its identifier")
    var message: MessageArgument
    @Argument(help: "the emoji")
    var emoji: String
    @Flag(name: .long, help: "take it back")
    var remove = false

    func validate() throws { try Check.emoji(emoji) }

    func run(with node: any NodeService) async throws {
        let message = try await node.react(
            message: self.message.reference, emoji: emoji, on: !remove)
        try Output.show(message, json: output.json, as: MessageLines.text([message]))
    }
}
