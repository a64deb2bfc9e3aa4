import ArgumentParser
import Parley

struct WebhookCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhook",
        abstract: "have programs of this machine told what changes",
        discussion: """
            A running node sends each change to the address of a program on this machine, signed, and \
            tries again where that does not take it. What it never takes is listed.

            Example:
              parley webhook new lights http://127.0.0.1:8000/changes
            """,
        subcommands: [WebhookNew.self, WebhookList.self, WebhookDelete.self])
}

struct WebhookNew: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "have a program told what changes, from now on",
        discussion: """
            Shows the secret with which it checks signatures, this once. With --conversation it is told \
            of that one alone.

            Example:
              parley webhook new lights http://127.0.0.1:8000/changes --conversation home
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Option(help: ArgumentHelp("the one conversation that it is told of", valueName: "name"))
    var conversation: String?
    @Argument(help: "what it is called: letters, digits, dots, hyphens and underscores")
    var name: String
    @Argument(help: "where it is told, on this machine: http://127.0.0.1:PORT/PATH")
    var address: String

    func validate() throws {
        if let conversation { try Check.name(conversation, "a conversation's name") }
    }

    func run(with node: any NodeService) async throws {
        let fresh = try await node.perform(
            CreateWebhook(called: name, address: address, conversation: conversation))
        if !output.json { World.current.say("its secret, which is shown once:") }
        try Output.show(fresh, json: output.json, as: fresh.secret)
    }
}

struct WebhookList: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "show which programs are told, and what they did not take",
        discussion: """
            Of an event that was not taken its cursor is shown, with which parley events --since goes on \
            after it, and why.

            Example:
              parley webhook list
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions

    func run(with node: any NodeService) async throws {
        let webhooks = try await node.perform(ListWebhooks())
        var rows: [[String]] = []
        for webhook in webhooks {
            let place = webhook.conversation.map { "of " + $0.prefix(8) } ?? "of everything"
            rows.append(
                [webhook.name, webhook.address, place, "since " + Clock().moment(webhook.created)])
            for letter in webhook.deadLetters {
                rows.append(
                    [
                        "  not taken", "\(letter.kind) \(letter.cursor)", letter.reason,
                        Clock().moment(letter.time),
                    ])
            }
        }
        try Output.show(webhooks, json: output.json, as: Table(rows).text)
        if webhooks.isEmpty, !output.json { World.current.say("there is none") }
    }
}

struct WebhookDelete: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "tell a program nothing more",
        discussion: """
            Example:
              parley webhook delete lights
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "what it is called")
    var name: String

    func run(with node: any NodeService) async throws {
        let reply = try await node.perform(DeleteWebhook(called: name))
        try Output.show(reply, json: output.json, as: "")
        if !output.json { World.current.say("\(harmless(name)) is told nothing more") }
    }
}
