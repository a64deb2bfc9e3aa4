import ArgumentParser
import Parley

struct Forward: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "forward",
        abstract: "pass a message on to another conversation",
        discussion: """
            The copy is marked "forwarded from" with the name of its author; if it is forwarded \
            again, that first name stays. This is only your claim: nobody can check it. Nothing \
            else about its origin is sent: no conversation, no identifier, and not your own name \
            for its author. --without-origin leaves out the name as well, so that the words look \
            like yours.

            The copy is a message of yours: it stays as it is when the original is edited or \
            deleted.

            Example:
              parley forward 12 home
              parley forward 12 ben --without-origin
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the message: its number, or its identifier")
    var message: MessageArgument
    @Argument(help: "where it goes: the conversation, or the person")
    var conversation: String
    @Flag(name: .long, help: "do not say that somebody else wrote it")
    var withoutOrigin = false

    func validate() throws { try Check.name(conversation, "a conversation's name") }

    func run(with node: any NodeService) async throws {
        let copy = try await node.perform(
            ForwardMessage(
                message: message.reference, conversation: conversation,
                withoutOrigin: withoutOrigin))
        try Output.show(copy, json: output.json, as: MessageLines.text([copy]))
    }
}
