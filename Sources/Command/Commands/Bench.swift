import ArgumentParser
import Foundation
import Parley
import ParleyBench

/// `parley bench`: figures beside their budgets.
struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "measure this build on this machine",
        discussion: """
            Measures figures between two real processes on the real disk, each beside its budget \
            and the limit of the machine. Without names, all of them; this takes about a minute. \
            Build with `swift build -c release`: figures of a debug build say nothing.

            Example:
              parley bench append page
              parley bench relay
              parley bench calls
              parley bench hostile
              parley bench spaces
              parley bench files --mebibytes 256
              parley bench notes
              parley bench simulator
              parley bench search --texts logs --set chat-search.json
              parley bench --json
              parley bench search-quality chat-search.json
              parley bench assistant meetings
            """,
        subcommands: [
            BenchFigures.self, BenchNotes.self, BenchSimulator.self, BenchSearchQuality.self,
            BenchAssistant.self,
        ],
        defaultSubcommand: BenchFigures.self)
}

/// What `parley bench` does with names of figures.
struct BenchFigures: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "figures", abstract: "measure figures by their names, or all",
        discussion: "Example:\n  parley bench append page", shouldDisplay: false)

    @Argument(help: "which figures; without names, all")
    var names: [String] = []

    @Option(name: .long, help: "a folder with IRC logs to search, in place of made-up words")
    var texts: String?

    @Option(
        name: .long,
        help: "questions whose answers are known: how well they are found, alone and among --texts")
    var set: String?

    @Option(name: .long, help: "how large the large file of `files` is, in MiB; 1024 without")
    var mebibytes: Int?

    @Flag(name: .long, help: "print one JSON object a figure, for programs")
    var json = false

    @Flag(name: .long, help: "fail if the median of a figure is over its budget")
    var strict = false

    /// All that one figure needs is found among so many.
    private static let textCountMax = 200_000
    /// Among so many of them the answers of `--set` are hidden.
    private static let hayCount = 100_000

    func validate() throws {
        if let texts { try Check.file(texts) }
        if let set { try Check.file(set) }
        if let mebibytes, !(1...4096).contains(mebibytes) {
            throw ValidationError("--mebibytes must be from 1 to 4096.")
        }
    }

    func run() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("parley-bench-\(getpid())").path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        // Leftovers of a temporary folder do no harm.
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let sources = Stop.watch { number in Self.remove(folder, andEndFor: number) }
        defer { sources.cancel() }
        let world = World.current
        let said = try texts.map { try LogFolder.messages(in: $0, limit: Self.textCountMax) } ?? []
        let questions = try set.map(BenchSearchQuality.questions)
        let bench = Bench(
            folder: folder, program: "/proc/self/exe", models: ModelCommand.folder, texts: said,
            fileByteCount: mebibytes.map { $0 << 20 }
        ) { world.say($0) }
        let figures = try await bench.run(names)
        for figure in figures {
            world.write(json ? try Self.object(figure) : Self.line(figure))
        }
        try Self.check(figures, isStrict: strict)
        guard let questions else { return }
        let hays = said.isEmpty ? [[]] : [[], Array(said.prefix(Self.hayCount))]
        for hay in hays {
            try BenchSearchQuality.measure(questions, among: hay, json: json)
        }
    }

    static func check(_ figures: [Figure], isStrict: Bool) throws {
        let missed = figures.filter(\.isOverBudget).map(\.name)
        guard isStrict, !missed.isEmpty else { return }
        throw NodeError("over-budget", "Over budget: \(missed.joined(separator: ", ")).")
    }

    /// Ends the process in the middle of its work. The processes that it started end with their
    /// input.
    private static func remove(_ folder: String, andEndFor number: Int32) {
        // Under another name first: what goes on until the end makes nothing new in it.
        let place = rename(folder, folder + "-over") == 0 ? folder + "-over" : folder
        // As above.
        try? FileManager.default.removeItem(atPath: place)
        _exit(128 + number)
    }

    static func object(_ figure: Figure) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(figure), as: UTF8.self)
    }

    static func line(_ figure: Figure) -> String {
        var text = figure.name.padding(toLength: 24, withPad: " ", startingAt: 0)
        text += amount(figure.value, figure.unit)
        if let p99 = figure.p99 { text += "  p99 " + amount(p99, figure.unit) }
        if let budget = figure.budget {
            text += "  budget " + amount(budget, figure.unit)
            text += figure.isOverBudget ? "  missed" : "  met"
        }
        if let limit = figure.limit { text += "  limit " + amount(limit, figure.unit) }
        return text + "\n    " + figure.note
    }

    private static func amount(_ value: Double, _ unit: String) -> String {
        switch unit {
        case "bytes": return String(format: "%.0f B", value)
        case "1/s": return String(format: "%.0f a second", value)
        case "count": return String(format: "%.0f", value)
        default: break
        }
        if value < 1e-3 { return String(format: "%.0f us", value * 1e6) }
        if value < 1 { return String(format: "%.2f ms", value * 1e3) }
        return String(format: "%.2f s", value)
    }
}

/// The other process of a benchmark; not for people.
struct BenchPeerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench-peer", abstract: "be the other process of a benchmark",
        discussion: "Example:\n  started by `parley bench`, never by hand", shouldDisplay: false)

    @Argument(help: "the folder of its node")
    var home: String

    func run() async throws { try await BenchPeerProgram.run(home: home) }
}
