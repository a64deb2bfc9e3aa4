import ArgumentParser
import Foundation
import Parley
import ParleyBench

/// `parley bench notes`: the cost of a note's text, and the text of a history.
struct BenchNotes: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notes",
        abstract: "measure how a note's text is made, or play a history of edits",
        discussion: """
            Without a file it measures the text of 250,000 edits, and of two branches of 10,000 edits \
            that meet. With one it plays the history that the file holds, or each of a list, and prints \
            SHA-256 of the text: {"txns":[{"span":[0,2],"parents":[],"agent":"a","seqStart":0,\
            "ops":[[0,0,"hi"]]}]}. An operation is a position, how many Unicode scalars go and what \
            comes; ties are broken by agent. Where a history has "endContent", the text must be that.

            Example:
              parley bench notes
              parley bench notes history.json --json
            """)

    @Argument(help: "a history of edits, as JSON")
    var file: String?
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let file { try Check.file(file) }
    }

    func run() throws {
        guard let file else {
            for figure in NotesBench.figures() {
                let line = BenchFigures.line(figure)
                World.current.write(output.json ? try BenchFigures.object(figure) : line)
            }
            return
        }
        guard let data = FileManager.default.contents(atPath: file) else {
            throw NodeError("no-file", "Cannot read \(file).")
        }
        let played: [NotesBench.Played]
        do { played = try NotesBench.play(data) } catch let error as NotesBench.Malformed {
            throw NodeError("no-history", "\(file) cannot be played. \(error.reason)")
        }
        for one in played {
            let took = String(format: "%.1f ms", one.seconds * 1_000)
            try Output.show(
                one, json: output.json,
                as: "\(one.hash)  \(one.events) events, \(one.scalars) scalars, \(took)")
        }
        let wrong = played.filter { $0.isExpected == false }.count
        if wrong > 0 {
            throw NodeError(
                "other-text",
                "Of \(played.count) histories \(wrong) came to another text than expected.")
        }
    }
}
