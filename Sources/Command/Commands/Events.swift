import ArgumentParser
import Foundation
import Parley

struct EventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "print what changes, for programs",
        discussion: """
            One JSON object per line, each with a cursor: what parley follow --json prints, of all \
            conversations. --since continues after a cursor: you get each change in the node's log \
            once, in order, even if the node or this command was stopped in between. It runs until \
            Ctrl-C; with --until-now it ends with the newest change, and needs no running node.

            Example:
              parley events --since 1a2b3c4d5.17 --until-now
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Option(help: ArgumentHelp("continue after this cursor", valueName: "cursor"))
    var since: String?
    @Flag(help: "end with the newest change")
    var untilNow = false

    func validate() throws {
        if let since { try Check.name(since, "a cursor") }
    }

    func run() async throws {
        guard untilNow else { return try await follow() }
        try await World.current.lend(place) { access in
            var cursor = since
            while true {
                let page = try await access.node.perform(
                    ReadChanges(after: cursor, limit: ChangePage.changeCountMax))
                for change in page.changes { World.current.write(try Output.json(change)) }
                if cursor == nil {
                    let start = ChangeView(kind: "start", cursor: page.cursor)
                    World.current.write(try Output.json(start))
                }
                try World.current.checkOutput()
                if page.isEnd { return }
                cursor = page.cursor
            }
        }
    }

    /// The same as `follow`, in its words.
    private func follow() async throws {
        var words = ["--json"]
        if let home = place.home { words += ["--home", home] }
        if let file = place.passphraseFile { words += ["--passphrase-file", file] }
        if let since { words += ["--after", since] }
        try await Follow.parse(words).run()
    }
}
