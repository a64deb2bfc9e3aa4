import ArgumentParser
import Parley

struct Edit: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "change the text of a message of yours",
        discussion: """
            Everyone sees the new text, and that the message was edited. Of the people whom it \
            mentions, only those whom no earlier text mentioned are notified. A message that you \
            imported stays as it was said.

            Example:
              parley edit 12 "see you at nine"
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the message: its number, or its identifier")
    var message: MessageArgument
    @OptionGroup var mentions: MentionOptions
    @Argument(help: "the new text")
    var text: String

    func validate() throws { try Check.text(text) }

    func run(with node: any NodeService) async throws {
        let message = try await node.perform(
            EditMessage(
                message: self.message.reference, text: text, withoutMentions: mentions.without))
        try Output.show(message, json: output.json, as: MessageLines.text([message]))
    }
}

struct Delete: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "delete a message of yours for everyone, or any message for yourself",
        discussion: """
            Its text is deleted on every node that learns of it. Whoever has read it has read it. \
            An admin of a group may also delete what others wrote there, with --others.

            --for-me deletes any message, with its files, from your own devices. Others keep it \
            and are told nothing, and nothing brings it back: you can no longer edit, unpin or \
            delete it for everyone. What you wrote yourself leaves the disk once everybody else in \
            the conversation has it.

            Example:
              parley delete 12
              parley delete 12 --for-me
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the message: its number, or its identifier")
    var message: MessageArgument
    @Flag(name: .long, help: "also a message of somebody else, as an admin")
    var others = false
    @Flag(name: .long, help: "only from your own devices, whoever wrote it")
    var forMe = false

    func validate() throws {
        if forMe, others { throw ValidationError("--for-me and --others exclude each other.") }
    }

    func run(with node: any NodeService) async throws {
        if forMe {
            let message = try await node.perform(DeleteForMe(message: self.message.reference))
            return try Output.show(
                message, json: output.json,
                as: "deleted from your devices; others keep it, or still get it")
        }
        if !others { try await refuseOfOthers(node) }
        let message = try await node.perform(DeleteMessage(message: self.message.reference))
        try Output.show(message, json: output.json, as: MessageLines.text([message]))
    }

    /// A slip of one digit must not take away what somebody else said.
    private func refuseOfOthers(_ node: any NodeService) async throws {
        let context = try await node.perform(GetContext(message: message.reference, limit: 1))
        guard let shown = context.page.messages.first(where: { $0.number == context.message }),
            !shown.isOwn, !shown.isDeleted
        else { return }
        throw NodeError(
            "not-yours", "That message is \(shown.author)'s.",
            hint: try await hint(in: shown.conversation, node))
    }

    /// What one may do about it there.
    private func hint(in conversation: String, _ node: any NodeService) async throws -> String {
        let only = "Only the author of a message may delete it"
        let listed = try await node.perform(ListConversations()).first { $0.id == conversation }
        guard listed?.kind == "group" else { return only + "." }
        let own = try await node.perform(GetGroup(conversation: conversation)).members.first(
            where: \.isSelf)
        guard let own, ["admin", "owner"].contains(own.role) else {
            return only + ", or an admin of the group."
        }
        return "parley delete \(message.reference) --others deletes it, as an admin may"
    }
}

struct React: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "react",
        abstract: "add an emoji to a message",
        discussion: """
            A reaction is one emoji. --remove takes yours back.

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
        let message = try await node.perform(
            ReactToMessage(message: self.message.reference, emoji: emoji, on: !remove))
        try Output.show(message, json: output.json, as: MessageLines.text([message]))
    }
}
