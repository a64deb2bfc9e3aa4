import ArgumentParser
import Foundation
import Glibc
import Parley
import ParleyLocalAPI

struct Open: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "open the page of your node in a browser",
        discussion: """
            If no node is running, it runs one until it is stopped, as parley run --page does. The \
            link works once and for a minute; the browser that opens it stays signed in until it \
            is closed, or has not been used for twelve hours. Without a screen, or with --print, \
            it prints the link.

            Example:
              parley open
            """)

    @OptionGroup var place: HomeOptions
    @Flag(name: .long, help: "print the link and open nothing")
    var print = false

    func run() async throws {
        if let client = try await NodeClient.connect(home: place.path) {
            do {
                try await open(on: client)
                await client.close()
            } catch {
                await client.close()
                throw error
            }
            return
        }
        var run = try Run.parse(["--page"])
        run.place = place
        try await run.serve { try await open(on: $0) }
    }

    private func open(on node: any NodeService) async throws {
        let page = try await node.perform(OpenPage())
        if !print, try World.current.show(try file(leadingTo: page.link)) {
            World.current.advise(
                "a browser opens the page now; in another one, open the link that this prints: "
                    + "parley open --print")
            return
        }
        World.current.say(
            "open this link in the browser in which you want the page; it works once, for "
                + "\(page.seconds) seconds:")
        World.current.write(page.link)
    }

    /// A file of mode 0600 that leads a browser there: every user of the machine can read the arguments of a
    /// program that is started, and would be there first.
    private func file(leadingTo link: String) throws -> String {
        let path = place.path + "/open.html"
        let text = """
            <!doctype html><meta charset="utf-8"><title>Parley</title>
            <meta name="referrer" content="no-referrer">
            <meta http-equiv="refresh" content="0;url=\(link)">

            """
        let fresh = path + ".new"
        unlink(fresh)
        let descriptor = Glibc.open(
            fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure(path) }
        let bytes = Array(text.utf8)
        let count = write(descriptor, bytes, bytes.count)
        Glibc.close(descriptor)
        guard count == bytes.count, rename(fresh, path) == 0 else { throw Self.failure(path) }
        return path
    }

    private static func failure(_ path: String) -> NodeError {
        NodeError(
            "no-file", "\(path) cannot be written: \(String(cString: strerror(errno))).",
            hint: "`parley open --print` shows the address instead.")
    }
}

struct PageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "page",
        abstract: "list the browsers that are signed in, and sign them out",
        discussion: """
            Example:
              parley page sessions
            """,
        subcommands: [PageSessionsCommand.self, PageEnd.self])
}

struct PageSessionsCommand: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "sessions",
        abstract: "list the browsers that are signed in",
        discussion: """
            Shows since when, and when each was last used.

            Example:
              parley page sessions
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions

    func run(with node: any NodeService) async throws {
        let sessions = try await node.perform(ListPageSessions())
        let rows = sessions.map { session in
            [
                session.name, "since " + Clock().moment(session.created),
                "used " + Clock().moment(session.used),
            ]
        }
        try Output.show(sessions, json: output.json, as: Table(rows).text)
        if sessions.isEmpty, !output.json { World.current.say("no browser is signed in") }
    }
}

struct PageEnd: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "end",
        abstract: "sign a browser out at once",
        discussion: """
            Example:
              parley page end browser-1
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "its name, see parley page sessions")
    var name: String

    func run(with node: any NodeService) async throws {
        let reply = try await node.perform(EndPageSession(called: name))
        try Output.show(reply, json: output.json, as: "")
        if !output.json { World.current.say("\(harmless(name)) is signed out") }
    }
}
