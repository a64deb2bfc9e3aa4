import ArgumentParser
import Foundation
import Parley
import ParleyWire

struct SearchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search",
        abstract: "find messages by their words and by what they mean",
        discussion: """
            Without words, on a terminal, it searches as you type. A message must have all words, \
            whatever their endings; very frequent words are ignored. With a model installed \
            (parley model install), messages that mean the same in other words are found too.

            "an exact phrase"  -word  from:NAME  in:CONVERSATION  before:2026-02-01  after:7d \
             has:link  has:reaction  is:reply  is:edited

            before: and after: use the time that a message shows, even if a clock was wrong.

            Example:
              parley search where is the key from:ann
              parley search '"at the farm"' -snow --json
              parley search stats
            """,
        subcommands: [
            SearchFind.self, SearchCheck.self, SearchRebuild.self, SearchStatsCommand.self,
            SearchWords.self,
        ],
        defaultSubcommand: SearchFind.self)
}

struct SearchFind: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "find",
        abstract: "find messages; `parley search` alone does the same",
        discussion: """
            Write `find` if the first word is the name of another command of search.

            Example:
              parley search find stats from:ben
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    private static let limitMax = 200

    @Argument(parsing: .allUnrecognized, help: "what to find; without it, you search as you type")
    var words: [String] = []
    @Option(name: .long, help: "how many messages at most, 1 to 200")
    var limit = 20
    @Flag(
        name: .long,
        help:
            "of messages that have all words, the most relevant first, not the newest")
    var best = false
    @Flag(name: .long, help: "show the figures behind each hit")
    var explain = false

    func validate() throws {
        guard (1...Self.limitMax).contains(limit) else {
            throw ValidationError("--limit must be from 1 to \(Self.limitMax).")
        }
        if let option = words.prefix(while: { $0 != "--" }).first(where: { $0.hasPrefix("--") }) {
            throw ValidationError("There is no option \(option).")
        }
        if said.isEmpty, !World.current.isInputTerminal || output.json {
            throw ValidationError("Give the words to find.")
        }
    }

    /// Without what says that no options follow.
    private var said: [String] {
        guard let end = words.firstIndex(of: "--") else { return words }
        return Array(words[..<end] + words[(end + 1)...])
    }

    func run(with node: any NodeService) async throws {
        let words = said
        if words.isEmpty { return try await TypedSearch(node: node, limit: limit).run() }
        let reply = try await node.perform(
            SearchMessages(
                words.joined(separator: " "), limit: limit, isExplained: explain,
                order: best ? .relevance : .newest))
        try SearchLines.show(
            reply, json: output.json, as: SearchLines.text(reply), none: "nothing was found")
        guard reply.mayHaveMore, !output.json else { return }
        let wider = min(limit * 5, Self.limitMax)
        World.current.say(
            "there may be more: " + (limit < wider ? "--limit \(wider) shows them; " : "")
                + "another word, in:, from: or before: narrows the search")
    }
}

struct SearchCheck: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "compare the search indexes with the messages",
        discussion: """
            Looks for texts that cannot be found, for remains of erased texts, and for vectors of \
            another model or size; those vectors are removed. Texts whose vector is missing, or does \
            not open, are read again.

            Example:
              parley search check
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions

    func run(with node: any NodeService) async throws {
        let report = try await SearchProgress.during(node, isShown: !output.json) {
            try await node.perform(CheckSearch())
        }
        let lines = report.checks.map { check in
            "\(check.isFine ? "✓" : "✗") \(harmless(check.name)): \(harmless(check.detail))"
        }
        try Output.show(report, json: output.json, as: lines.joined(separator: "\n"))
        if report.checks.contains(where: { !$0.isFine }) {
            World.current.advise("parley search rebuild rebuilds the indexes")
            throw ExitCode.failure
        }
    }
}

struct SearchRebuild: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebuild",
        abstract: "rebuild the search indexes",
        discussion: """
            Deletes the indexes, then shows the progress of the new ones. Nothing else waits for \
            it; if a node is running, Ctrl-C ends only this display.

            Example:
              parley search rebuild
              parley search rebuild --no-wait
            """)

    @OptionGroup var place: HomeOptions
    @Flag(name: .long, help: "do not wait until it is done")
    var noWait = false

    func run(with node: any NodeService) async throws {
        try await SearchProgress.during(node, isShown: true) {
            try await node.perform(RebuildSearch())
            if noWait { return World.current.advise("parley search stats shows how far it is") }
            try await SearchProgress.follow(node)
        }
    }
}

/// How far the indexes are, on one line, until they are done.
enum SearchProgress {
    /// How often one looks.
    private static let pause: Duration = .milliseconds(500)

    /// Shows what the node tells of a long work until that is done.
    static func during<R: Sendable>(
        _ node: any NodeService, isShown: Bool, _ body: () async throws -> R
    ) async throws -> R {
        guard isShown else { return try await body() }
        let changes = try await node.changes()
        let line = ProgressLine()
        let shown = Task {
            // Taken to the end, for a node lets go of who takes no more.
            for await change in changes {
                if let work = change.search { line.show { _ in work.text } }
            }
        }
        defer { shown.cancel() }
        let result = try await body()
        line.end()
        return result
    }

    static func follow(_ node: any NodeService) async throws {
        let world = World.current
        var last = ""
        while true {
            let indexes = try await node.perform(GetSearchStats()).indexes.filter {
                $0.state == "on"
            }
            let line = indexes.map { "\($0.name) \(part($0)) %" }.joined(separator: ", ")
            if world.talk.isTerminal {
                world.sayInPlace(line)
            } else if line != last {
                world.say(line)
            }
            last = line
            if indexes.allSatisfy({ $0.indexed >= $0.held }) { break }
            try await Task.sleep(for: pause)
        }
        if world.talk.isTerminal { world.say("") }
    }

    /// How much of what is held is indexed, in per cent.
    static func part(_ index: SearchStats.Index) -> Int {
        index.held == 0 ? 100 : Int(100 * Double(index.indexed) / Double(index.held))
    }
}

struct SearchStatsCommand: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "show what is indexed, how far, and what it costs",
        discussion: """
            Example:
              parley search stats --json
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions

    func run(with node: any NodeService) async throws {
        let stats = try await node.perform(GetSearchStats())
        var table = Table()
        for index in stats.indexes {
            let rows = index.rows.map { ", \(counted($0, "row"))" } ?? ""
            let memory =
                index.memoryByteCount > 0 ? ", \(bytes(index.memoryByteCount)) in memory" : ""
            let part = SearchProgress.part(index)
            let sizes = "\(part) % indexed\(rows), \(bytes(index.byteCount)) on disk"
            let state = index.damage.map { "damaged: \(harmless($0))" } ?? index.state
            table.add(index.name, index.state == "on" ? sizes + memory : state)
        }
        try Output.show(stats, json: output.json, as: table.text)
    }
}

struct SearchWords: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "words",
        abstract: "turn the word index on or off",
        discussion: """
            The index holds keyed hashes of words, and no word; but whoever has the disk can count \
            how often each hash occurs. If it is off, nothing of it stays on the disk.

            Example:
              parley search words off
            """)

    @OptionGroup var place: HomeOptions
    @Argument(help: "on or off")
    var state: String

    func validate() throws {
        guard ["on", "off"].contains(state) else { throw ValidationError("Choose on or off.") }
    }

    func run(with node: any NodeService) async throws {
        try await node.perform(SetWordIndex(on: state == "on"))
    }
}

struct Similar: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "similar",
        abstract: "find messages with about the same meaning as one",
        discussion: """
            Needs a model: parley model install.

            Example:
              parley similar 12
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the message: its number, or its identifier")
    var message: MessageArgument
    @Option(name: .long, help: "how many messages at most, 1 to 200")
    var limit = 10

    func validate() throws {
        guard (1...200).contains(limit) else {
            throw ValidationError("--limit must be from 1 to 200.")
        }
    }

    func run(with node: any NodeService) async throws {
        let reply = try await node.perform(FindSimilar(message: message.reference, limit: limit))
        try SearchLines.show(
            reply, json: output.json, as: SearchLines.text(reply), none: "no message is similar")
    }
}
