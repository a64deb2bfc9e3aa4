import ArgumentParser
import Parley

struct UnreadCommand: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "unread",
        abstract: "mark a conversation as unread, to come back to it",
        discussion: """
            It is marked on all of your devices, until you read in it. Only you know about it: \
            read receipts that others have stay as they are. --off removes the mark.

            Example:
              parley unread trip
            """)

    @OptionGroup var place: HomeOptions
    @Argument(help: "the conversation, or the person")
    var conversation: String
    @Flag(name: .long, help: "remove the mark")
    var off = false

    func validate() throws { try Check.name(conversation, "a conversation's name") }

    func run(with node: any NodeService) async throws {
        try await node.perform(MarkUnread(conversation: conversation, on: !off))
    }
}
