import ArgumentParser
import Foundation
import Glibc
import Parley
import ParleyHTTPAPI
import ParleyLocalAPI

struct Open: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "open the page of your node in a browser",
        discussion: """
            If no node is running, it runs one until it is stopped, as parley run --page does. If \
            there is none yet, the page begins one: a new person, or a further device of yours. The \
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
        if Node.isVacant(place.path) { return try await begin() }
        try await serve { try await open(on: $0) }
    }

    private func serve(
        until stop: AsyncStream<Void>? = nil,
        _ whenReady: @escaping (any NodeService) async throws -> Void
    ) async throws {
        var run = try Run.parse(["--page"])
        run.place = place
        try await run.serve(until: stop, whenReady: whenReady)
    }

    /// Has the page make a home, runs its node, and leads the page there.
    private func begin() async throws {
        let server = try await BeginServer.start(maker())
        let wait = Task { await server.isMade() }
        let (stop, teller) = AsyncStream.makeStream(of: Void.self)
        let signals = Stop.watch { _ in
            wait.cancel()
            teller.yield()
        }
        defer { signals.cancel() }
        let folder: String?
        do {
            folder = try show(server)
        } catch {
            await server.stop()
            throw error
        }
        // Its link leads to nothing any more.
        defer { if let folder { try? FileManager.default.removeItem(atPath: folder) } }
        guard await wait.value else { return await server.stop() }
        do {
            try await serve(until: stop) { node in
                await server.lead(to: try await node.perform(OpenPage()).link)
            }
        } catch {
            await server.fail(
                error as? NodeError
                    ?? NodeError(
                        "failed", "The node was made, and does not run.",
                        hint: "`parley open` says why."))
            throw error
        }
    }

    private func maker() throws -> HomeMaker {
        let home = place.path
        let passphrase = try place.passphraseFile.map(Passphrase.read(file:))
        // The page asks for a name where none is known.
        let name = (try? Initialise.chosenName(nil)) ?? ""
        return HomeMaker(
            home: home, name: name, device: HomeNode.machineName,
            found: { name, code in
                try await HomeNode.create(
                    home: home, name: name, passphrase: passphrase, code: code)
            },
            join: { text, device in
                let joined = try await HomeNode.join(
                    home: home, text: text, name: device, passphrase: passphrase)
                await joined.shutdown()
            })
    }

    /// Leads a browser there. Returns the folder with what does, to be removed; nil for none.
    private func show(_ server: BeginServer) throws -> String? {
        let world = World.current
        world.say("there is no node in \(harmless(place.path)) yet: the page begins one")
        let folder = print ? nil : try Self.makeFolder()
        if let folder,
            try world.show(try Self.file(folder + "/open.html", leadingTo: server.link))
        {
            world.say("a browser opens it now; in another one, open this link:")
        } else {
            world.say("open this link in the browser in which you want it, as long as this runs:")
        }
        world.write(server.link)
        return folder
    }

    /// Beside the home, which is not there yet: a folder that nobody else reads.
    private static func makeFolder() throws -> String {
        let folder = FileManager.default.temporaryDirectory.path + "/parley-XXXXXX"
        var name = Array(folder.utf8CString)
        guard mkdtemp(&name) != nil else { throw failure(folder) }
        return String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private func open(on node: any NodeService) async throws {
        let page = try await node.perform(OpenPage())
        let path = place.path + "/open.html"
        if !print, try World.current.show(try Self.file(path, leadingTo: page.link)) {
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
    private static func file(_ path: String, leadingTo link: String) throws -> String {
        let text = """
            <!doctype html><meta charset="utf-8"><title>Parley</title>
            <meta name="referrer" content="no-referrer">
            <meta http-equiv="refresh" content="0;url=\(link)">

            """
        let fresh = path + ".new"
        unlink(fresh)
        let descriptor = Glibc.open(
            fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(path) }
        let bytes = Array(text.utf8)
        let count = write(descriptor, bytes, bytes.count)
        Glibc.close(descriptor)
        guard count == bytes.count, rename(fresh, path) == 0 else { throw failure(path) }
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
