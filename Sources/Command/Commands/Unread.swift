import ArgumentParser
import Parley

struct UnreadCommand: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "unread",
        abstract: "mark a conversation as unread, to come back to it",
        discussion: """
            On all of your devices, until you read in it. Only you know about it: who was told that you \
            read something is told nothing else. --off ends it.

            Example:
              parley unread trip
            """)

    @OptionGroup var place: HomeOptions
    @Argument(help: "the conversation, or the person")
    var conversation: String
    @Flag(name: .long, help: "mark it no more")
    var off = false

    func validate() throws { try Check.name(conversation, "a conversation's name") }

    func run(with node: any NodeService) async throws {
        try await node.perform(MarkUnread(conversation: conversation, on: !off))
    }
}
