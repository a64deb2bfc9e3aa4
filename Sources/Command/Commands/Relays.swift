import ArgumentParser
import Parley
import ParleyWire

struct RelaysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "relays",
        abstract: "the relays that your devices use: list, add, remove, move",
        discussion: """
            A relay keeps what others send while your devices are away, encrypted so that it can \
            read nothing, and forwards bytes between two devices that cannot reach each other. \
            Anyone can run one: parley relay run prints the text to add here.

            Example:
              parley relays add parley-relay:1:…
            """,
        subcommands: [RelaysList.self, RelaysAdd.self, RelaysRemove.self, RelaysMove.self],
        defaultSubcommand: RelaysList.self)
}

struct RelaysList: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "list your relays",
        discussion: """
            Example:
              parley relays list
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions

    func run(with node: any NodeService) async throws {
        let relays = try await node.perform(ListRelays())
        try Output.show(relays, json: output.json, as: Self.text(relays))
        guard !output.json else { return }
        if relays.isEmpty {
            try await World.current.say(
                "No relay yet.", way: "`parley relays add TEXT` adds one.", on: node)
        }
        try await Self.sayWhyIdle(relays, node)
        Self.sayWhoAnswers(relays)
        if relays.contains(where: { $0.state == "ticket-needed" }) {
            World.current.advise(
                "that relay asks for a ticket: parley relays add TEXT --ticket TICKET gives it one")
        }
    }

    /// Says what to do where another relay stands in the place of one.
    private static func sayWhoAnswers(_ relays: [RelayView]) {
        for relay in relays where relay.state == "mistaken" && relay.until == nil {
            World.current.advise(
                "the server at \(harmless(relay.addresses.first ?? "its address")) does "
                    + "not have the key of that relay: if the relay was set up again, parley "
                    + "relays move \(relay.relay.prefix(12)) TEXT switches to it, where TEXT is "
                    + "what it prints now")
        }
    }

    /// Says why relays are not connected, where the reason is no fault of theirs.
    static func sayWhyIdle(_ relays: [RelayView], _ node: any NodeService) async throws {
        if relays.contains(where: { $0.state == "offline" }) {
            World.current.advise("this node is offline: parley offline off ends that")
        }
        guard relays.contains(where: { $0.state == "idle" }) else { return }
        let status = try await node.perform(GetStatus())
        guard !status.isRunning else { return }
        // A home that may not be written is not run.
        let way = status.readOnlyReason == nil ? ": parley run" : ""
        World.current.advise("no node is running, so nothing is connected" + way)
    }

    private static func state(_ relay: RelayView) -> String {
        switch relay.state {
        case "idle", "offline": "not connected"
        case "ticket-needed": "ticket needed"
        case "mistaken": "answers without its key"
        default: relay.state
        }
    }

    static func text(_ relays: [RelayView]) -> String {
        Table(
            relays.map { relay in
                [
                    String(relay.relay.prefix(12)), relay.addresses.joined(separator: ", "),
                    state(relay),
                    relay.until.map { "read until \(Clock().moment($0))" } ?? "",
                ]
            }
        ).text
    }
}

struct RelaysAdd: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "add a relay",
        discussion: """
            Your contacts and your other devices learn of it automatically. A relay that runs with \
            --tickets keeps nothing for this device without one; one ticket every 30 days is \
            enough. Run the same command with more tickets to add them.

            Example:
              parley relays add parley-relay:1:…
              parley relays add parley-relay:1:… --ticket parley-ticket:1:…
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "what parley relay run printed")
    var text: String
    @Option(
        name: .long, help: ArgumentHelp("a ticket that pays for this device", valueName: "ticket"))
    var ticket: [String] = []

    func run(with node: any NodeService) async throws {
        let relay = try await node.perform(AddRelay(text: text, tickets: ticket))
        try Output.show(relay, json: output.json, as: RelaysList.text([relay]))
        if !output.json { try await RelaysList.sayWhyIdle([relay], node) }
    }
}

struct RelaysRemove: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "stop using a relay",
        discussion: """
            What is stored there is no longer fetched. To change to another relay, use parley \
            relays move.

            Example:
              parley relays remove relay.example.org:7448
            """)

    @OptionGroup var place: HomeOptions
    @Argument(help: "its key, the start of that, or its address")
    var relay: String

    func run(with node: any NodeService) async throws {
        try await node.perform(RemoveRelay(name: relay))
        try await InviteList.sayWhatIsLost(on: node)
    }
}

struct RelaysMove: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "move", abstract: "replace a relay by another one",
        discussion: """
            The old one is still read for thirty days, for people who have not learned of the new \
            one yet.

            Example:
              parley relays move relay.example.org:7448 parley-relay:1:…
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the old one: its key, the start of that, or its address")
    var relay: String
    @Argument(help: "the new one: what parley relay run printed")
    var text: String

    func run(with node: any NodeService) async throws {
        let relay = try await node.perform(MoveRelay(name: relay, text: text))
        try Output.show(relay, json: output.json, as: RelaysList.text([relay]))
        if !output.json { try await RelaysList.sayWhyIdle([relay], node) }
        try await InviteList.sayWhatIsLost(on: node)
    }
}

/// `on` or `off`.
enum Switch: String, ExpressibleByArgument, CaseIterable {
    case on, off
}

struct Offline: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "offline", abstract: "take the running node offline, or back online",
        discussion: """
            Use it to try what happens without a network: the node closes its connections and \
            opens no new ones, everything that you write waits, and nobody can be called. \
            `parley status` shows it. It lasts until `parley offline off`, or until the node stops.

            Example:
              parley offline on
            """)

    @OptionGroup var place: HomeOptions
    @Argument(help: "on or off")
    var to: Switch

    func run() async throws {
        try await RunningOnly.lend(place) { try await $0.perform(SetOffline(on: to == .on)) }
    }
}
