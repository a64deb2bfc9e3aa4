import ArgumentParser
import Parley

struct ArchiveCommand: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "archive",
        abstract: "archive a conversation until somebody writes in it",
        discussion: """
            It is listed separately at the end of `parley conversations`, on all of your devices, \
            until somebody writes in it. Only you know about it.

            Example:
              parley archive trip
            """)

    @OptionGroup var place: HomeOptions
    @Argument(help: "the conversation, or the person")
    var conversation: String

    func validate() throws { try Check.name(conversation, "a conversation's name") }

    func run(with node: any NodeService) async throws {
        try await node.perform(ArchiveConversation(conversation: conversation, on: true))
    }
}

struct UnarchiveCommand: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "unarchive",
        abstract: "take a conversation out of the archive",
        discussion: """
            It is listed among the others again, on all of your devices.

            Example:
              parley unarchive trip
            """)

    @OptionGroup var place: HomeOptions
    @Argument(help: "the conversation, or the person")
    var conversation: String

    func validate() throws { try Check.name(conversation, "a conversation's name") }

    func run(with node: any NodeService) async throws {
        try await node.perform(ArchiveConversation(conversation: conversation, on: false))
    }
}
