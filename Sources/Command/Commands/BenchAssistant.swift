import ArgumentParser
import Foundation
import Parley
import ParleyBench
import ParleyImporting

/// `parley bench assistant`: what the assistant finds of what is known to be there.
struct BenchAssistant: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "assistant",
        abstract: "measure what the assistant finds, and what that costs",
        discussion: """
            Takes conversations in which somebody marked what is to be found, and shows how much of that is \
            found (recall), and how much of what is found is right (precision): of tasks, decisions and \
            open questions, and how many key points a summary of \(AssistantBench.pointCount) sentences holds \
            beside three plain ways to make one. Rules may be tuned on the one half of the \
            conversations; the other is held out.

            A file has a line of JSON for each message: {"conversation":"a","id":1,"author":"ann",\
            "time":1700000000000,"text":"I'll book the hut.","replyTo":0,"labels":["action"]}. Labels are \
            action, decision, question (nobody answered it) and point; without "labels" nobody looked. A \
            folder has logs of meetings, with lines like "channel 2026-12-01 [09:14] <ann> text", where \
            [ACTION], [AGREED], [TOPIC] and #info are marks; or two folders, logs and replies, with who answers \
            whom. Without a file it measures examples of its own.

            Example:
              parley bench assistant
              parley bench assistant meetings
              parley bench assistant labelled.jsonl --json
            """)

    @Argument(help: "labelled messages, or a folder with logs")
    var file: String?
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let file { try Check.file(file) }
    }

    func run() async throws {
        let bench = AssistantBench(try file.map(Self.read) ?? AssistantSet.examples)
        guard bench.messageCount > 0 else {
            throw NodeError("no-messages", "There is no message in \(file ?? "it").")
        }
        let scores = bench.scores()
        for score in output.json ? scores : [] { try Output.show(score, json: true, as: "") }
        if !output.json { World.current.write(Self.table(scores)) }
        for figure in bench.figures() {
            let line = BenchFigures.line(figure)
            World.current.write(output.json ? try BenchFigures.object(figure) : line)
        }
    }

    private static func table(_ scores: [AssistantBench.Score]) -> String {
        var rows = [["", "", "precision", "recall", "found", "right", "labelled"]]
        for score in scores {
            let shares = [score.precision, score.recall].map { String(format: "%.3f", $0) }
            let counts = [score.found, score.right, score.labelled].map { "\($0)" }
            rows.append([score.half, score.kind] + shares + counts)
        }
        return Table(rows).text
    }

    private static func read(_ path: String) throws -> AssistantSet {
        var set = AssistantSet()
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw NodeError("no-file", "Cannot read \(path).")
        }
        guard isFolder.boolValue else {
            do { try set.add(lines: try contents(path)) } catch is DecodingError {
                throw NodeError(
                    "no-set", "\(path) is no file of labelled messages.",
                    hint: "`parley bench assistant --help` shows a line of one.")
            }
            return set
        }
        let hasReplies = FileManager.default.fileExists(atPath: path + "/replies")
        let folder = hasReplies ? path + "/logs" : path
        // A folder that went meanwhile has no logs.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names.filter({ $0.hasSuffix(".log") }).sorted() {
            let data = try contents(folder + "/" + name)
            guard hasReplies else {
                set.add(meeting: name, data)
                continue
            }
            let replies = path + "/replies/" + name.dropLast(4) + ".txt"
            guard FileManager.default.fileExists(atPath: replies) else { continue }
            set.add(log: name, said: lines(data), replies: try contents(replies))
        }
        return set
    }

    private static func contents(_ path: String) throws -> Data {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw NodeError("no-file", "Cannot read \(path).")
        }
        return data
    }

    /// The messages of a log by their lines.
    private static func lines(_ data: Data) -> [(author: String, time: UInt64, text: String)?] {
        guard let day = CalendarDay("2000-01-01") else { return [] }
        var log = IRCLog(day: day)
        return data.split(separator: 10, omittingEmptySubsequences: false).map { line in
            guard case .message(let row) = log.read(Array(line)[...]) else { return nil }
            return (row.author, row.time, row.text)
        }
    }
}
