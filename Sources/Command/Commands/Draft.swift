import ArgumentParser
import Parley

struct DraftCommand: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "draft",
        abstract: "keep a draft in a conversation",
        discussion: """
            All of your devices have it, and nobody else; if two of them change it separately, the \
            later draft counts. Without a text, the draft is shown. --send sends it, --remove \
            removes it; a later draft that another device wrote meanwhile stays.

            Example:
              parley draft trip "I could bring"
              parley draft trip --send
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the conversation, or the person")
    var conversation: String
    @Argument(
        help: "the text, \(KeepDraft.byteCountMax) bytes at most; without it, the draft is shown")
    var text: String?
    @Flag(name: .long, help: "send it as a message")
    var send = false
    @Flag(name: .long, help: "remove it")
    var remove = false

    func validate() throws {
        try Check.name(conversation, "a conversation's name")
        if let text { try Check.text(text, "the draft", max: KeepDraft.byteCountMax) }
        if [text != nil, send, remove].count(where: { $0 }) > 1 {
            throw ValidationError("A text, --send and --remove exclude each other.")
        }
    }

    func run() async throws {
        guard send else {
            return try await World.current.lend(place) { try await run(with: $0.node) }
        }
        var draft: String?
        let sent = try await World.current.lendOnce(place) { node, once in
            // Once it is sent it is kept no more.
            if draft == nil {
                let found = try await node.perform(GetConversation(conversation: conversation))
                draft = found.draft
            }
            guard let draft else { throw NodeError("no-draft", "No draft is kept there.") }
            return try await node.perform(
                SendMessages(conversation: conversation, texts: [draft], once: once))
        }
        try Output.show(sent, json: output.json, as: MessageLines.text(sent))
    }

    func run(with node: any NodeService) async throws {
        if let text = text ?? (remove ? "" : nil) {
            try await node.perform(KeepDraft(conversation: conversation, text: text))
        }
        let found = try await node.perform(GetConversation(conversation: conversation))
        try Output.show(found, json: output.json, as: found.draft.map(harmless) ?? "")
        if found.draft == nil, !remove, !output.json { World.current.say("no draft there") }
    }
}
