import ArgumentParser
import Parley

struct Conversations: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "conversations",
        abstract: "list your conversations, newest first",
        discussion: """
            Shows how many messages you have not read, and who is in each.

            Example:
              parley conversations
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions

    func run(with node: any NodeService) async throws {
        let all = try await node.conversations()
        try Output.show(all, json: output.json, as: Self.text(all))
        if all.isEmpty, !output.json { World.current.say("none yet: parley invite, or parley new") }
    }

    static func text(_ conversations: [ConversationView]) -> String {
        let clock = Clock()
        return Table(
            conversations.map { conversation in
                [
                    conversation.name, String(conversation.id.prefix(8)),
                    conversation.newest.map(clock.moment) ?? "-",
                    conversation.unread > 0 ? "\(conversation.unread) new" : "",
                    conversation.isMuted ? "muted" : "",
                    conversation.members.joined(separator: ", "),
                ]
            }
        ).text
    }
}

struct New: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "begin a group",
        discussion: """
            Who is in it stays as it is here: people cannot join or leave a group yet.

            Example:
              parley new home ben cleo
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "what the group is called")
    var name: String
    @Argument(help: "contacts, by name or by the start of their identifier")
    var members: [String] = []

    func validate() throws {
        try Check.name(name, "a name")
        for member in members { try Check.name(member, "a member's name") }
    }

    func run(with node: any NodeService) async throws {
        let conversation = try await node.newConversation(name: name, members: members)
        try Output.show(
            conversation, json: output.json, as: Conversations.text([conversation]))
    }
}

struct Rename: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename",
        abstract: "give a conversation another name",
        discussion: """
            Everyone in it sees the new name.

            Example:
              parley rename home "our home"
            """)

    @OptionGroup var place: HomeOptions
    @Argument(help: "the conversation")
    var conversation: String
    @Argument(help: "its new name")
    var name: String

    func validate() throws {
        try Check.name(conversation, "a conversation's name")
        try Check.name(name, "the new name")
    }

    func run(with node: any NodeService) async throws {
        try await node.rename(conversation: conversation, to: name)
    }
}

struct Mute: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "mute",
        abstract: "silence a conversation",
        discussion: """
            Only you know about it. --off ends it.

            Example:
              parley mute home
            """)

    @OptionGroup var place: HomeOptions
    @Argument(help: "the conversation")
    var conversation: String
    @Flag(name: .long, help: "hear it again")
    var off = false

    func validate() throws { try Check.name(conversation, "a conversation's name") }

    func run(with node: any NodeService) async throws {
        try await node.mute(conversation: conversation, on: !off)
    }
}
