import ArgumentParser
import Parley
import ParleyWire

struct DecisionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decision",
        abstract: "propose decisions, approve them, and record what was decided",
        discussion: """
            Everybody in the conversation sees a decision and may approve it. Its author, or in a \
            group an admin, accepts or rejects it; if several do, the last one counts. Its text \
            never changes: another decision can supersede it. `parley search` does not find \
            decisions; `parley decision list` does, by tag and by day.

            Example:
              parley decision propose trip "we take the train" --tag travel
              parley decision approve 12
              parley decision accept 12
            """,
        subcommands: [
            DecisionPropose.self, DecisionSuggest.self, DecisionApprove.self, DecisionAccept.self,
            DecisionReject.self, DecisionReopen.self, DecisionSupersede.self, DecisionShow.self,
            DecisionListing.self, DecisionDelete.self,
        ])
}

struct DecisionPropose: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "propose",
        abstract: "propose a decision",
        discussion: """
            --tag may be given several times. --from names the message that it comes from, \
            --from-poll a closed poll: without a title, the decision states the result of the \
            poll. The message or the poll does not change.

            Example:
              parley decision propose trip "we take the train" --text "The bus is full." --tag travel
              parley decision propose trip --from-poll 12
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the conversation, or the person")
    var conversation: String
    @Argument(help: "what is decided")
    var title: String?
    @Option(name: .long, help: "further text about it")
    var text: String?
    @Option(
        name: .customLong("tag"),
        help: ArgumentHelp("a tag by which it is found", valueName: "word"))
    var tags: [String] = []
    @Option(
        name: .customLong("from"),
        help: ArgumentHelp("the message that it comes from", valueName: "message"))
    var source: MessageArgument?
    @Option(
        name: .customLong("from-poll"),
        help: ArgumentHelp("the closed poll whose result it is", valueName: "poll"))
    var poll: MessageArgument?

    func validate() throws {
        try Check.name(conversation, "a conversation's name")
        if let title { try Check.text(title, "the title", max: Limits.decisionTitleByteCountMax) }
        for tag in tags { try Check.text(tag, "the tag", max: Limits.decisionTagByteCountMax) }
        if source != nil, poll != nil {
            throw ValidationError("--from and --from-poll exclude each other.")
        }
        if title == nil, poll == nil {
            throw ValidationError(
                "Give a title that says what is decided, or --from-poll.")
        }
    }

    func run(with node: any NodeService) async throws {
        let decision = try await node.perform(
            ProposeDecision(
                conversation: conversation, title: title, text: text, tags: tags,
                source: source?.reference, poll: poll?.reference))
        try Output.show(decision, json: output.json, as: DecisionLines.text([decision]))
    }
}

struct DecisionApprove: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve",
        abstract: "approve a decision",
        discussion: """
            Everybody sees who approves. --retract takes your approval back. Approvals alone \
            settle nothing.

            Example:
              parley decision approve 12
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the decision: its number, or its identifier")
    var decision: MessageArgument
    @Flag(name: .long, help: "take your approval back")
    var retract = false

    func run(with node: any NodeService) async throws {
        let shown = try await node.perform(
            ApproveDecision(decision: decision.reference, on: !retract))
        try Output.show(shown, json: output.json, as: DecisionLines.text([shown]))
    }
}

/// What settles a decision: one word each.
private func settle(
    _ decision: MessageArgument, _ state: String, by successor: MessageArgument? = nil,
    _ output: OutputOptions, on node: any NodeService
) async throws {
    let shown = try await node.perform(
        SettleDecision(
            decision: decision.reference, state: state, successor: successor?.reference))
    try Output.show(shown, json: output.json, as: DecisionLines.text([shown]))
}

struct DecisionAccept: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept",
        abstract: "accept a decision",
        discussion: """
            Its author may do that, and in a group also an admin; everybody sees who did.

            Example:
              parley decision accept 12
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the decision: its number, or its identifier")
    var decision: MessageArgument

    func run(with node: any NodeService) async throws {
        try await settle(decision, "accepted", output, on: node)
    }
}

struct DecisionReject: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "reject",
        abstract: "reject a decision",
        discussion: """
            Its author may do that, and in a group also an admin; everybody sees who did.

            Example:
              parley decision reject 12
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the decision: its number, or its identifier")
    var decision: MessageArgument

    func run(with node: any NodeService) async throws {
        try await settle(decision, "rejected", output, on: node)
    }
}

struct DecisionReopen: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "reopen",
        abstract: "reopen a decision",
        discussion: """
            It counts as proposed again, with all its approvals.

            Example:
              parley decision reopen 12
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the decision: its number, or its identifier")
    var decision: MessageArgument

    func run(with node: any NodeService) async throws {
        try await settle(decision, "proposed", output, on: node)
    }
}

struct DecisionSupersede: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "supersede",
        abstract: "replace a decision by another one",
        discussion: """
            Both must be in the same conversation. The state of the other one does not change: \
            `accept` it if it is settled.

            Example:
              parley decision supersede 12 15
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the decision: its number, or its identifier")
    var decision: MessageArgument
    @Argument(help: "the decision that replaces it")
    var successor: MessageArgument

    func run(with node: any NodeService) async throws {
        try await settle(decision, "superseded", by: successor, output, on: node)
    }
}

struct DecisionShow: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "show a decision in full",
        discussion: """
            Shows its text, who approves, who settled it, and what it comes from.

            Example:
              parley decision show 12
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the decision: its number, or its identifier")
    var decision: MessageArgument

    func run(with node: any NodeService) async throws {
        let shown = try await node.perform(GetDecision(decision: decision.reference))
        try Output.show(shown, json: output.json, as: DecisionLines.text([shown]))
    }
}

struct DecisionListing: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "list decisions, the newest first",
        discussion: """
            Lists those of all conversations, or of one; options choose by state, by tag, and by \
            the day on which they were proposed.

            Example:
              parley decision list trip --state accepted --tag travel --since 2026-01-01
            """)

    /// Pages that are asked for where conditions leave them empty, at most.
    private static let pageCountMax = 50

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "only this conversation")
    var conversation: String?
    @Option(
        name: .long,
        help: ArgumentHelp(
            "proposed, accepted, rejected, superseded or untaken", valueName: "state"))
    var state: String?
    @Option(name: .long, help: ArgumentHelp("only those with this tag", valueName: "word"))
    var tag: String?
    @Option(name: .long, help: ArgumentHelp("from this day on", valueName: "2026-01-01"))
    var since: String?
    @Option(name: .long, help: ArgumentHelp("through this day", valueName: "2026-12-31"))
    var until: String?
    @Option(name: .long, help: "how many, at most \(ListDecisions.limitMax)")
    var limit = 50
    @Option(name: .long, help: "continue where the previous list ended")
    var from: String?

    func validate() throws {
        if let conversation { try Check.name(conversation, "a conversation's name") }
        let states = ["proposed", "accepted", "rejected", "superseded", "untaken"]
        if let state, !states.contains(state) {
            throw ValidationError(
                "--state must be proposed, accepted, rejected, superseded or untaken.")
        }
        if let tag { try Check.text(tag, "the tag") }
        try ActionEdit.check(since)
        try ActionEdit.check(until)
        guard (1...ListDecisions.limitMax).contains(limit) else {
            throw ValidationError("--limit must be from 1 to \(ListDecisions.limitMax).")
        }
        if let from { try Check.name(from, "a cursor") }
    }

    func run(with node: any NodeService) async throws {
        let clock = Clock()
        let end = until.flatMap(CalendarDay.day).map { clock.start(ofDay: $0 + 1) }
        var request = ListDecisions(
            conversation: conversation, state: state, tag: tag,
            since: since.flatMap(CalendarDay.day).map { clock.start(ofDay: $0) }, before: end,
            limit: limit, from: from)
        var list = try await node.perform(request)
        for _ in 0..<Self.pageCountMax where list.decisions.isEmpty && list.next != nil {
            request.from = list.next
            list = try await node.perform(request)
        }
        try Output.show(list, json: output.json, as: DecisionLines.text(list.decisions))
        guard !output.json else { return }
        if list.decisions.isEmpty { World.current.say("no decisions") }
        if let next = list.next {
            World.current.advise("more: the same command with --from \(next)")
        }
        try await Conversations.sayWhatIsLacking(in: conversation, on: node)
    }
}

struct DecisionDelete: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "delete a decision for everyone, with all its approvals",
        discussion: """
            Its author may do that, and in a group also an admin. It cannot be undone.

            Example:
              parley decision delete 12
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the decision: its number, or its identifier")
    var decision: MessageArgument

    func run(with node: any NodeService) async throws {
        let gone = try await node.perform(GetDecision(decision: decision.reference))
        try await node.perform(DeleteDecision(decision: decision.reference))
        try Output.show(gone, json: output.json, as: "")
        if !output.json { World.current.say("deleted: \(harmless(gone.title))") }
    }
}
