import ArgumentParser
import Glibc
import Parley
import ParleyWire

struct Follow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "follow",
        abstract: "show what happens, as it happens",
        discussion: """
            Needs a running node. Shows every message that arrives or changes, polls, items, notes \
            and decisions, calls, who joins and leaves, who types and who is online, in all \
            conversations or in one, until Ctrl-C. With --json it prints one object per line, each \
            with a cursor; receipts, connections and your own settings are reported only there.

            --after continues after a cursor that was shown: you get each change once, in order, \
            even if the node or this command was stopped in between. A change that leaves a \
            message as it was last shown is reported only with --json. Changes that the node no \
            longer keeps are reported as one change "missed".

            Example:
              parley follow home
              parley follow --json --after 1a2b3c4d5.17
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Option(help: ArgumentHelp("continue after this cursor", valueName: "cursor"))
    var after: String?
    @Argument(help: "only this conversation")
    var conversation: String?

    func validate() throws {
        if let after { try Check.name(after, "a cursor") }
        if let conversation { try Check.name(conversation, "a conversation's name") }
    }

    func run() async throws {
        try await World.current.lend(place) { access in
            guard access.isRunning else {
                throw NodeError(
                    "not-running", "The node is not running, so nothing can happen.",
                    hint: "Start it with `parley run`.")
            }
            try await follow(access.node)
        }
    }

    private func follow(_ node: any NodeService) async throws {
        var only: String?
        if let conversation {
            only = try await node.perform(GetConversation(conversation: conversation)).id
        }
        // Asked for first: nothing falls between the list and the changes.
        let cursor: String
        if let after {
            cursor = after
        } else {
            cursor = try await node.perform(ReadChanges(limit: 1)).cursor
            if output.json {
                World.current.write(try Output.json(ChangeView(kind: "start", cursor: cursor)))
                try World.current.checkOutput()
            }
        }
        let changes = try await node.changes(after: cursor)
        var screen = try await FollowScreen(node, only: only, isResuming: after != nil)
        screen.isJSON = output.json
        let showing = Task { [screen] in
            var screen = screen
            return try await screen.show(changes, after: cursor)
        }
        let noting = Task { await noteOpen(only, on: node) }
        defer { noting.cancel() }
        // Whoever read the output may be gone long before there is something to write.
        World.current.output.whenReaderIsGone { showing.cancel() }
        let last = try await withTaskCancellationHandler {
            try await showing.value
        } onCancel: {
            showing.cancel()
        }
        if showing.isCancelled { throw OutputError(code: EPIPE) }
        throw NodeError(
            "node-stopped", "The node has stopped.",
            hint: "Run `parley run`, and then `parley follow --after \(last)`.")
    }
}

/// Which changes people see in `follow`. Programs get all of them.
enum FollowForm {
    /// Kinds of changes that have lines.
    static let shown: Set<String> = [
        "message", "members", "conversation", "poll", "item", "note", "decision", "call", "calls",
        "contact", "invitation", "reminder", "scheduled", "typing", "presence", "clocks", "missed",
    ]
    /// Those that have none, and why.
    static let reasons: [String: String] = [
        "start": "nothing happened: it is the cursor at which a program begins",
        "mention": "the message itself is told right before, and is marked",
        "receipts": "who has a message stands behind it, in `parley read`",
        "refolded":
            "what looks otherwise is to be read again; what made it so is told as `members`",
        "devices": "what a person should know of it is told as `contact`",
        "invitations": "one said so oneself: `parley invitations` shows it",
        "preferences": "one said so oneself",
        "relays": "one said so oneself: `parley relays` shows them",
        "media": "it is an order to the client that has a call, and comes to no other",
        "link": "links come and go all the time: `parley status` shows them",
        "search": "who waits for an index is told how far it is there",
    ]
}

extension Follow {
    /// Reports, as long as a terminal shows one conversation, that no notification is needed for
    /// it.
    private func noteOpen(_ conversation: String?, on node: any NodeService) async {
        guard let conversation, World.current.output.isTerminal, !output.json else { return }
        while !Task.isCancelled {
            // A node that cannot be told tells its person once more than it need.
            _ = try? await node.perform(
                NoteOpenConversation(conversation: conversation, seconds: 60))
            // Cut short at the end.
            try? await Task.sleep(for: .seconds(25))
        }
    }
}

/// What `follow` shows.
private struct FollowScreen {
    /// Whether programs read it.
    var isJSON = false
    private let node: any NodeService
    private let only: String?
    /// Whether changes are told of which the details may be older than this screen.
    private let isResuming: Bool
    private var names: [String: String]
    private var lines = MessageLines(for: [])
    private var calls = CallLines()
    private var missedCounts: [String: Int] = [:]
    /// How messages were shown when they were told last.
    private var shown: [Int64: [String]] = [:]
    /// So many of these are known; then all are forgotten, and one may be shown once more.
    private static let shownCountMax = 1_000
    /// Conversations of which it was said that members changed before this screen began.
    private var resumed: Set<String> = []
    /// How many events of each conversation were shown.
    private var told: [String: Int] = [:]

    init(_ node: any NodeService, only: String?, isResuming: Bool) async throws {
        self.node = node
        self.only = only
        self.isResuming = isResuming
        names = try await Self.names(node)
        for id in names.keys.sorted() {
            told[id] = try await node.perform(ListMembershipEvents(conversation: id)).count
            missedCounts[id] = try await missedCalls(in: id).count
        }
    }

    /// Shows changes until there are no more, or nobody to read them. Returns the last cursor.
    mutating func show(
        _ changes: AsyncStream<ChangeView>, after start: String
    ) async throws -> String {
        var cursor = start
        for await change in changes {
            cursor = change.cursor ?? cursor
            // What was missed may have been in this conversation as well.
            if let only, change.conversation != only, change.missed == nil { continue }
            if isJSON {
                World.current.write(try Output.json(change))
            } else {
                try await show(change)
            }
            try World.current.checkOutput()
        }
        return cursor
    }

    private mutating func show(_ change: ChangeView) async throws {
        if let notice = change.notice, !notice.isEmpty {
            World.current.write(Advice.complete(harmless(notice)))
        }
        if let call = change.call {
            for line in calls.add(call) { World.current.write(line) }
        }
        say(change)
        if let reminder = change.reminder {
            World.current.write("⏰ \(ReminderLines.words(reminder))")
        }
        if let scheduled = change.scheduled {
            World.current.write("not sent: " + ScheduledLines.failed(scheduled))
        }
        guard let id = change.conversation else { return }
        switch change.kind {
        case "calls": try await showCalls(in: id)
        case "members": try await showMembers(of: id)
        case "conversation": try await showName(of: id)
        case "poll":
            try await show(
                change.poll.map { (key: -$0.number, time: $0.time, line: PollLines.text($0)) },
                in: id)
        case "decision":
            try await show(
                change.decision.map {
                    (key: -$0.number, time: $0.time, line: DecisionLines.text($0))
                }, in: id)
        case "item":
            try await show(
                change.item.map { (key: -$0.number, time: $0.time, line: ItemLines.text($0)) },
                in: id)
        case "note":
            try await show(
                change.note.map {
                    (key: -$0.number, time: $0.editTime ?? $0.time, line: NoteLines.text($0))
                }, in: id)
        // See FollowForm for those that have no lines.
        default: break
        }
        guard let message = change.message else { return }
        _ = try await isListed(id)
        guard isNews(message) else { return }
        for line in lines.add(message) { World.current.write(prefix(id) + line) }
    }

    /// Whether a message looks different than when it was last shown: after a cursor, each change
    /// shows its present state.
    private mutating func isNews(_ message: MessageView) -> Bool {
        var alone = MessageLines(for: [message])
        let look = alone.add(message)
        if shown[message.number] == look { return false }
        if shown.count >= Self.shownCountMax { shown = [:] }
        shown[message.number] = look
        return true
    }

    /// Whether it exists: a change may be about one that was deleted since.
    private mutating func isListed(_ id: String) async throws -> Bool {
        if names[id] == nil { names = try await Self.names(node) }
        return names[id] != nil
    }

    private func prefix(_ id: String) -> String {
        only == nil ? harmless(names[id] ?? "?") + ": " : ""
    }

    private func missedCalls(in id: String) async throws -> [CallRecordView] {
        try await node.perform(ListCallRecords(conversation: id)).filter {
            $0.isMissed && $0.outcome != "begun"
        }
    }

    /// What was missed while this node was away; the rest was shown as it happened.
    private mutating func showCalls(in id: String) async throws {
        guard try await isListed(id) else { return }
        let missed = try await missedCalls(in: id)
        for record in missed.dropFirst(missedCounts[id] ?? 0) {
            for line in lines.add(CallLines.text(record), at: record.time) {
                World.current.write(prefix(id) + line)
            }
        }
        missedCounts[id] = missed.count
    }

    /// Something that people do together and that came or changed, where that is seen in its line.
    private mutating func show(
        _ thing: (key: Int64, time: UInt64, line: String)?, in id: String
    ) async throws {
        guard let thing, try await isListed(id) else { return }
        guard shown[thing.key] != [thing.line] else { return }
        if shown.count >= Self.shownCountMax { shown = [:] }
        shown[thing.key] = [thing.line]
        for line in lines.add(thing.line, at: thing.time) {
            World.current.write(prefix(id) + line)
        }
    }

    /// That a conversation is called otherwise than before.
    private mutating func showName(of id: String) async throws {
        guard let before = names[id] else { return }
        names = try await Self.names(node)
        guard let name = names[id], name != before else { return }
        let start = only == nil ? harmless(before) + ": " : ""
        World.current.write(start + "– it is called “\(harmless(name))” now")
    }

    private mutating func showMembers(of id: String) async throws {
        guard try await isListed(id) else { return }
        let events = try await node.perform(ListMembershipEvents(conversation: id))
        let news = events.dropFirst(told[id] ?? max(0, events.count - 1))
        for event in news {
            for line in lines.add(event) { World.current.write(prefix(id) + line) }
        }
        // What changed before this screen began is only in the whole list: once is enough to say so.
        if isResuming, news.isEmpty, resumed.insert(id).inserted {
            let advice = Advice.complete("`parley read \(id.prefix(8))`")
            World.current.write(prefix(id) + "who is in it changed: \(advice) shows how")
        }
        told[id] = events.count
    }

    /// Typing and presence: transient, not kept.
    private func say(_ change: ChangeView) {
        if let typing = change.typing, !typing.isEmpty {
            let name = change.conversation.map(prefix) ?? ""
            World.current.say(name + harmless(VisibleName.list(typing)) + " …")
        }
        if let presence = change.presence, let name = change.name {
            World.current.say("\(harmless(name)) is \(presence)")
        }
    }

    private static func names(_ node: any NodeService) async throws -> [String: String] {
        let all = try await node.perform(ListConversations())
        return Dictionary(all.map { ($0.id, $0.name) }, uniquingKeysWith: { first, _ in first })
    }
}
