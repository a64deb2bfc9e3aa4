import ArgumentParser
import Foundation
import Parley
import ParleyBench
import ParleyImporting
import ParleySearch

/// `parley bench search-quality`: does a search find the intended message?
struct BenchSearchQuality: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search-quality",
        abstract: "measure how well a search finds what was meant",
        discussion: """
            Takes messages and questions whose answers among them are known, and shows in how many \
            of the questions the first hit answers (recall@1), one of the first five does \
            (recall@5), and the mean of one over the place of the first answer (mrr): of all, and \
            of each kind. Uses the models that are installed. With --haystack the messages are \
            hidden among those of IRC logs.

            Example:
              parley bench search-quality chat-search.json
              parley bench search-quality chat-search.json --haystack logs --json
            """)

    @Argument(help: "the set, as JSON")
    var file: String
    @Option(name: .long, help: "a folder with IRC logs among which the messages are hidden")
    var haystack: String?
    @Option(name: .long, help: "how many of their messages")
    var lines = 100_000
    @OptionGroup var output: OutputOptions

    func validate() throws {
        try Check.file(file)
        if let haystack { try Check.file(haystack) }
        guard (1...10_000_000).contains(lines) else {
            throw ValidationError("--lines must be from 1 to 10000000.")
        }
    }

    func run() async throws {
        let questions = try Self.questions(file)
        let hay = try haystack.map { try LogFolder.messages(in: $0, limit: lines) } ?? []
        try Self.measure(questions, among: hay, json: output.json)
    }

    /// The set in a file.
    static func questions(_ file: String) throws -> QualitySet {
        guard let data = FileManager.default.contents(atPath: file) else {
            throw NodeError("no-file", "Cannot read \(file).")
        }
        do {
            return try QualitySet(data)
        } catch {
            throw NodeError("no-set", "\(file) is no set of messages and questions.")
        }
    }

    /// Measures, and shows the results.
    static func measure(_ questions: QualitySet, among hay: [String], json: Bool) throws {
        let world = World.current
        let quality = try SearchQuality(folder: ModelCommand.folder)
        if quality.modelNames.isEmpty {
            world.say("by words alone: no model is installed (parley model install)")
        } else {
            world.say("by words and by \(quality.modelNames.joined(separator: ", "))")
        }
        if !hay.isEmpty { world.say("hidden among \(hay.count) messages") }
        let found = quality.run(questions, haystack: hay) { world.say($0) }
        try Output.show(found, json: json, as: text(found))
    }

    private static func text(_ found: [String: Quality]) -> String {
        var rows = [["", "recall@1", "recall@5", "mrr"]]
        let kinds = ["all"] + found.keys.filter { $0 != "all" }.sorted()
        for kind in kinds {
            guard let quality = found[kind] else { continue }
            let figures = [quality.first, quality.five, quality.reciprocal]
            rows.append([kind] + figures.map { String(format: "%.3f", $0) })
        }
        return Table(rows).text
    }
}

/// What people wrote, in a folder of IRC logs.
enum LogFolder {
    /// At most so many messages, in the order of the files' names.
    static func messages(in folder: String, limit: Int) throws -> [String] {
        guard let names = FileManager.default.enumerator(atPath: folder) else {
            throw NodeError("no-folder", "Cannot read \(folder).")
        }
        guard let day = CalendarDay("2000-01-01") else {
            preconditionFailure("a day of the calendar")
        }
        var found: [String] = []
        let logs = names.compactMap { $0 as? String }.filter { $0.hasSuffix(".log") }
        for name in logs.sorted() where found.count < limit {
            var log = IRCLog(day: day)
            let bytes = FileManager.default.contents(atPath: folder + "/" + name) ?? Data()
            for line in bytes.split(separator: 10) where found.count < limit {
                guard case .message(let message) = log.read(Array(line)[...]) else { continue }
                found.append(message.text)
            }
        }
        guard !found.isEmpty else {
            throw NodeError("no-logs", "There is no message in any log (*.log) of \(folder).")
        }
        return found
    }
}
