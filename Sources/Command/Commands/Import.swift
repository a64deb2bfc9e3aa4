import ArgumentParser
import Foundation
import Parley
import ParleyImporting

struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "bring in messages from elsewhere",
        discussion: """
            Imported messages keep the names and times they had, and are marked: you sign that you \
            brought them in, not that they are true.

            Example:
              parley import irc logs/2004-12-25.log --into ubuntu
            """,
        subcommands: [ImportIRC.self])
}

struct ImportIRC: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "irc",
        abstract: "bring in IRC logs",
        discussion: """
            The first ten characters of a file's name are the day it begins on, as 2004-12-25; \
            times are taken as UTC. Files go in by date. It can be stopped and run again: what is \
            in is not brought in twice, whatever the file is called, and of a log that has grown or \
            was cut only what is new is. Whoever said the same twice in a minute said it twice; the \
            same words on another day are other messages. A conversation that does not exist is \
            made. Messages stand as they stand in the file: where a time is before that of a line \
            above, the message gets that one's, and the report says where; a clock that goes round \
            within a day is one of twelve hours. Lines look so:

              [09:14] <ada> hello
              [09:15] * ben waves

            Example:
              parley import irc logs/*.log --into ubuntu
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "log files", completion: .file())
    var files: [String]
    @Option(name: .long, help: "the conversation they go into")
    var into: String

    func validate() throws {
        try Check.name(into, "a conversation's name")
        for file in files where CalendarDay(Self.name(file).prefix(10)) == nil {
            guard FileManager.default.fileExists(atPath: file) else {
                throw ValidationError("there is no file \(harmless(file))")
            }
            throw ValidationError(
                "\(harmless(file)) does not begin with a date: "
                    + "name it as 2004-12-25.log, by the day of its first line")
        }
    }

    func run() async throws {
        let sources = try files.map { file in
            do {
                let data = try Data(contentsOf: URL(fileURLWithPath: file))
                return try ImportSource(name: Self.name(file), bytes: Array(data))
            } catch {
                throw NodeError("unreadable-file", "cannot read \(file)")
            }
        }
        guard sources.contains(where: \.hasMessages) else {
            throw NodeError(
                "nothing-understood",
                "No line of what was given is one of a log of IRC.",
                hint:
                    "parley import irc --help shows what such lines look like. Nothing was stored.")
        }
        for source in sources {
            guard let count = source.repetition else { continue }
            World.current.say(
                "notice: \(harmless(source.name)) says its first \(count) lines again below them, and "
                    + "all goes in as it stands there: give it once to have it once")
        }
        let place = place
        let into = into
        let summary = try await Stop.cancelling {
            try await World.current.lend(place) { access in
                try await Self.bring(sources, into: into, access.node)
            }
        }
        let report = ImportReport(summary)
        try Output.show(report, json: output.json, as: report.text)
        guard !summary.isStopped else {
            World.current.say("stopped; the same command goes on from here")
            throw ExitCode(130)
        }
    }

    private static func bring(
        _ sources: [ImportSource], into name: String, _ node: any NodeService
    ) async throws -> ImportSummary {
        var conversation = name
        do {
            conversation = try await node.perform(GetConversation(conversation: name)).id
        } catch let error as NodeError where error.code == "unknown-conversation" {
            conversation = try await node.perform(CreateConversation(name: name, members: [])).id
            World.current.say("made the conversation \(harmless(name))")
        }
        let line = ProgressLine()
        let importer = Importer(node: node, conversation: conversation) { progress in
            line.show { progress.text(after: $0) }
        }
        let summary = try await importer.run(sources)
        line.end()
        return summary
    }

    private static func name(_ file: String) -> String {
        URL(fileURLWithPath: file).lastPathComponent
    }
}
