import ArgumentParser
import Parley

struct WebhookCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhook",
        abstract: "notify programs on this machine of changes",
        discussion: """
            A running node sends each change to the address of a program on this machine, signed, \
            and tries again if the program does not accept it. What it never accepts is listed.

            Example:
              parley webhook new lights http://127.0.0.1:8000/changes
            """,
        subcommands: [WebhookNew.self, WebhookList.self, WebhookDelete.self])
}

struct WebhookNew: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "notify a program of changes, from now on",
        discussion: """
            Shows, this once, the secret with which the program checks signatures. With \
            --conversation, it gets changes of that one only.

            Example:
              parley webhook new lights http://127.0.0.1:8000/changes --conversation home
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Option(help: ArgumentHelp("the one conversation whose changes it gets", valueName: "name"))
    var conversation: String?
    @Argument(help: "its name: letters, digits, dots, hyphens and underscores")
    var name: String
    @Argument(help: "its address on this machine: http://127.0.0.1:PORT/PATH")
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
        abstract: "list webhooks, and the events that they did not accept",
        discussion: """
            For an event that was not accepted, it shows why, and the cursor after which parley \
            events --since continues.

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
                        "  not accepted", "\(letter.kind) \(letter.cursor)", letter.reason,
                        Clock().moment(letter.time),
                    ])
            }
        }
        try Output.show(webhooks, json: output.json, as: Table(rows).text)
        if webhooks.isEmpty, !output.json { World.current.say("there are no webhooks") }
    }
}

struct WebhookDelete: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "delete a webhook",
        discussion: """
            Example:
              parley webhook delete lights
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "its name")
    var name: String

    func run(with node: any NodeService) async throws {
        let reply = try await node.perform(DeleteWebhook(called: name))
        try Output.show(reply, json: output.json, as: "")
        if !output.json { World.current.say("\(harmless(name)) is deleted") }
    }
}
