import ArgumentParser
import Foundation
import Parley
import ParleyImporting

struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "import messages from elsewhere",
        discussion: """
            Imported messages keep the names and times they had, and are marked: you sign that you \
            imported them, not that they are genuine.

            Example:
              parley import irc logs/2004-12-25.log --into ubuntu
            """,
        subcommands: [ImportIRC.self])
}

struct ImportIRC: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "irc",
        abstract: "import IRC logs",
        discussion: """
            The first ten characters of a file's name are the day it begins on, such as \
            2004-12-25; times are read as UTC. Files are imported in order of date. You can stop \
            the command and run it again: nothing is imported twice, whatever the file is called, \
            and of a log that has grown or was shortened only what is new is imported. If somebody \
            said the same twice within a minute, both lines are imported; the same words on \
            another day are other messages. A conversation that does not exist is created. \
            Messages keep the order of the file: if a time is before that of a line above, the \
            message gets the time of that line, and the report says where; a clock that starts \
            over within a day is a twelve-hour clock. A log that another member has imported into \
            the conversation is refused, because everybody would have it twice, unless --anyway is \
            given. Lines look like this:

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
    @Flag(name: .long, help: "import lines that another member has imported, a second time")
    var anyway = false

    func validate() throws {
        try Check.name(into, "a conversation's name")
        for file in files where CalendarDay(Self.name(file).prefix(10)) == nil {
            guard FileManager.default.fileExists(atPath: file) else {
                throw ValidationError("There is no file \(harmless(file)).")
            }
            throw ValidationError(
                "\(harmless(file)) does not begin with a date: "
                    + "name it as 2004-12-25.log, by the day of its first line.")
        }
    }

    func run() async throws {
        let sources = try files.map { file in
            do {
                let data = try Data(contentsOf: URL(fileURLWithPath: file))
                return try ImportSource(name: Self.name(file), bytes: Array(data))
            } catch {
                throw NodeError("unreadable-file", "Cannot read \(file).")
            }
        }
        guard sources.contains(where: \.hasMessages) else {
            throw NodeError(
                "nothing-understood",
                "Nothing that was given is a line of an IRC log.",
                hint:
                    "`parley import irc --help` shows what such lines look like. Nothing was stored."
            )
        }
        for source in sources {
            guard let count = source.repetition else { continue }
            World.current.say(
                "notice: \(harmless(source.name)) repeats its first \(count) lines further "
                    + "down, and all of it is imported as it is there: to have it once, give a "
                    + "file that holds it once")
        }
        let place = place
        let (into, anyway) = (into, anyway)
        let summary = try await Stop.cancelling {
            try await World.current.lend(place) { access in
                try await Self.bring(sources, into: into, anyway: anyway, access.node)
            }
        }
        let report = ImportReport(summary)
        try Output.show(report, json: output.json, as: report.text)
        guard !summary.isStopped else {
            World.current.say("stopped; the same command continues from here")
            throw ExitCode(130)
        }
    }

    private static func bring(
        _ sources: [ImportSource], into name: String, anyway: Bool, _ node: any NodeService
    ) async throws -> ImportSummary {
        var conversation = name
        do {
            conversation = try await node.perform(GetConversation(conversation: name)).id
        } catch let error as NodeError where error.code == "unknown-conversation" {
            conversation = try await node.perform(CreateConversation(name: name, members: [])).id
            World.current.say("created the conversation \(harmless(name))")
        }
        let line = ProgressLine()
        let importer = Importer(node: node, conversation: conversation, isAnyway: anyway) {
            progress in
            line.show { progress.text(after: $0) }
        }
        defer { line.end() }
        return try await importer.run(sources)
    }

    private static func name(_ file: String) -> String {
        URL(fileURLWithPath: file).lastPathComponent
    }
}
