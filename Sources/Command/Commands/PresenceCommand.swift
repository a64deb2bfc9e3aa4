import ArgumentParser
import Parley

struct PresenceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "presence", abstract: "who is online: show, set, tell",
        discussion: """
            Nodes tell each other whether people are online, over connections and through relays; \
            this is stored nowhere, and forgotten after ten minutes. A node tells nothing until \
            you set your presence.

            Example:
              parley presence
              parley presence set online
              parley presence tell nothing ben
            """,
        subcommands: [PresenceShow.self, PresenceSet.self, PresenceTell.self],
        defaultSubcommand: PresenceShow.self)
}

struct PresenceShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "show who is online",
        discussion: """
            Example:
              parley presence --json
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await World.current.lend(place) { access in
            if !access.isRunning {
                // What one tells others is shown also where no node could be started.
                let bar = try await access.node.perform(GetStatus()).readOnlyReason
                guard let bar else { throw RunningOnly.refusal(nil) }
                World.current.say(
                    "notice: no node is running here, so nobody's presence is known: \(bar)")
            }
            try Self.show(try await access.node.perform(ListPresences()), output)
        }
    }

    static func show(_ report: PresenceReport, _ output: OutputOptions) throws {
        let told = ["everything": "", "now": "told now only", "nothing": "told nothing"]
        var table = Table()
        table.add("you", report.own, "", told[report.told] ?? "")
        for person in report.people {
            let isSeen = person.presence != "online" && person.lastSeen != nil
            table.add(
                person.name, person.presence,
                isSeen ? "last seen \(Clock().moment(person.lastSeen ?? 0))" : "",
                person.told.map { told[$0, default: ""].isEmpty ? "told all" : told[$0] ?? "" }
                    ?? "")
        }
        try Output.show(report, json: output.json, as: table.text)
    }
}

struct PresenceSet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "set whether you are online at this device",
        discussion: """
            Example:
              parley presence set away
            """)

    @OptionGroup var place: HomeOptions
    @Argument(help: "online, away or offline")
    var presence: String

    func validate() throws {
        guard ["online", "away", "offline"].contains(presence) else {
            throw ValidationError("Choose online, away or offline.")
        }
    }

    func run() async throws {
        try await RunningOnly.lend(place) { try await $0.perform(SetPresence(presence: presence)) }
    }
}

struct PresenceTell: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "tell", abstract: "set what others may see of your presence",
        discussion: """
            They may see everything: whether you are online, and when you last were; or now: only \
            whether you are online; or nothing. It is set for one person, or for everybody without \
            a setting of their own. All your devices follow it.

            Example:
              parley presence tell now
              parley presence tell nothing ben
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "everything, now or nothing")
    var what: String
    @Argument(help: "only this person")
    var person: String?

    func validate() throws {
        guard ["everything", "now", "nothing"].contains(what) else {
            throw ValidationError("Choose everything, now or nothing.")
        }
        if let person { try Check.name(person, "a person's name") }
    }

    func run(with node: any NodeService) async throws {
        try PresenceShow.show(
            try await node.perform(SetPrivacy(told: what, person: person)), output)
    }
}
