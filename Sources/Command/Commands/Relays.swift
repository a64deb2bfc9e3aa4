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
                "no relay", way: "parley relays add TEXT adds one", on: node)
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

struct OutboxCommand: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox", abstract: "show what waits to be delivered",
        discussion: """
            Shows messages that no device of another person has yet: those that are only on this \
            device, and those that a relay has; also edits, deletions, reactions, pins, names of \
            groups, polls, answers, action items, notes and edits of them, decisions and \
            approvals; groups that you left where nobody knows it yet; and people who are to \
            become contacts and were not reached yet. Your own name is not among them: it goes to \
            each contact who is reached. Below that, it shows which files are still to be \
            fetched, and which of your files others are not known to have. What a device with two \
            histories wrote never leaves it, and a revoked device no longer learns what arrived: \
            --stranded shows both, so that another device of yours can send it again (`parley \
            send --stranded`).

            Example:
              parley outbox
              parley outbox --stranded --json > said.json
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Flag(name: .long, help: "show what never leaves this device, or may not have")
    var stranded = false

    func run(with node: any NodeService) async throws {
        let waiting = try await node.perform(ListOutbox())
        if stranded {
            let some = waiting.filter { $0.strandedCount + $0.unknownCount > 0 }
            return try await showStranded(some, on: node)
        }
        try Output.show(waiting, json: output.json, as: Table(waiting.map(Self.row)).text)
        guard !output.json else { return }
        if waiting.isEmpty { World.current.say("nothing waits") }
        if waiting.contains(where: { $0.strandedCount > 0 }) {
            World.current.say(
                "this device wrote two histories, and nobody accepts more from it: "
                    + Advice.complete("parley status") + " tells what to do")
        }
        if waiting.contains(where: { $0.unknownCount > 0 }) {
            World.current.say(Self.unknown)
        }
        for view in waiting {
            for relay in view.fullRelayNames ?? [] {
                World.current.say(
                    "the relay \(harmless(relay)) had no more room for “\(harmless(view.name))”: it "
                        + "is asked again about once an hour, and has room after midnight UTC; or "
                        + "the rest goes directly to them once you are connected")
            }
        }
        let status = try await node.perform(GetStatus())
        for (_, line) in FileLines.lines(status.files) { World.current.say("files: " + line) }
        guard waiting.contains(where: { $0.isOnItsWay }) else { return }
        if status.isOffline {
            World.current.advise("this node is offline: parley offline off ends that")
        }
        if !status.isRunning, status.readOnlyReason == nil {
            World.current.advise(
                "no node is running: a command sends and fetches what it can while it "
                    + "lasts; parley run does so all the time")
        }
    }

    private func showStranded(_ all: [OutboxView], on node: any NodeService) async throws {
        var words: [StrandedWords] = []
        var shown: [String] = []
        var sentCount = 0
        for one in all {
            let sent = Set(
                try await node.perform(ListSentAgain(conversation: one.conversation))
                    .map(\.original))
            let found = try await StrandedWords.found(in: one, on: node)
            let messages = found.messages.filter { !sent.contains($0.id) }
            sentCount += found.messages.count - messages.count
            let others = try await node.perform(ListUndelivered(conversation: one.conversation))
                .filter { ["stranded", "unknown", "revoked"].contains($0.state) }
            let deeds =
                found.deeds
                + others.map {
                    StrandedWords.Deed(id: $0.id, time: $0.time, change: $0.change, text: $0.text)
                }
            guard !messages.isEmpty || !deeds.isEmpty else { continue }
            words.append(StrandedWords(one.conversation, one.name, messages, deeds))
            let lines =
                [MessageLines.text(messages)]
                + deeds.map { "  " + UndeliveredView.line($0.change, $0.text) }
            shown += [harmless(one.name) + ":"] + lines.filter { !$0.isEmpty }
        }
        try Output.show(words, json: output.json, as: shown.joined(separator: "\n"))
        if sentCount > 0 {
            World.current.say(
                "\(counted(sentCount, "message")) left out: another device of yours has sent that "
                    + "again")
        }
        if all.contains(where: { $0.unknownCount > 0 }) {
            World.current.advise(Self.mayHaveArrived)
        }
        guard all.isEmpty else { return }
        let mayWrite = try await node.perform(GetStatus()).readOnlyReason == nil
        World.current.advise(
            mayWrite
                ? "nothing: everything that was written here can be sent"
                : "nothing is kept here because of two histories; `parley outbox` shows "
                    + "what else waits")
    }

    /// What a device that was revoked cannot tell.
    static let unknown =
        "another device of yours has revoked this one, so it no longer learns whether that "
        + "arrived; your other devices may know"

    private static let mayHaveArrived =
        "some of that may have arrived: `parley outbox --stranded --json > said.json` here, and "
        + "“parley send CONVERSATION --stranded said.json” on one other device of yours, send again "
        + "what that device does not have"

    private static func row(_ view: OutboxView) -> [String] {
        switch view.wish {
        case "request":
            return [
                view.name,
                "your request to be a contact waits until they, or a relay of theirs, are reached",
            ]
        case "request-relayed": return [view.name, "a relay has your request to be a contact"]
        case "invite":
            guard let address = view.mistakenRelay else {
                return [view.name, "you accepted their invite: that waits until they are reached"]
            }
            return [
                view.name,
                "the server at \(address) does not have the key of the relay that their "
                    + "invite names: ask for another invite",
            ]
        default: break
        }
        let stranded = view.strandedCount > 0 ? ["\(view.strandedCount) here for good"] : []
        if view.unknownCount > 0 {
            return [view.name, "\(view.unknownCount) may have arrived or not"] + stranded
        }
        let waitsForLeaving = view.savedCount + view.relayedCount + view.changeCount > 0
        let left =
            view.isLeaving
            ? [
                "you left, and nobody there knows it yet"
                    + (waitsForLeaving ? ": they may not accept what waits" : "")
            ] : []
        let kept =
            view.keptCount > 0
            ? ["\(view.keptCount) kept until this device has what it wrote there before"] : []
        return [
            view.name, "\(view.savedCount) saved here", "\(view.relayedCount) on a relay",
            "\(view.changeCount) changed"
                + (view.relayedChangeCount > 0 ? ", \(view.relayedChangeCount) on a relay" : ""),
        ] + stranded + left + kept + (view.waiting.map { [$0] } ?? [])
    }
}

extension OutboxView {
    /// Whether something of it is to leave this device.
    fileprivate var isOnItsWay: Bool {
        waiting == nil
            && (wish == "request" || wish == "invite" || isLeaving
                || savedCount + relayedCount + changeCount > 0)
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
