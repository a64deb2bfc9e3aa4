import ArgumentParser
import Foundation
import Parley
import ParleyHTTPAPI
import ParleyLocalAPI

struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "run the node until it is stopped",
        discussion: """
            Listens for other nodes, and for commands on this machine. Without --listen, and \
            without the key run.listen of the configuration, it uses the port it had before, else \
            7447, else any free one, on all addresses. On the local network it finds only nodes \
            that it knows, and only they find it. Stop it with Ctrl-C or SIGTERM: it closes its \
            connections and loses nothing. At SIGHUP it reads its configuration again.

            It notifies you of what arrives, through a program of yours (notify.command) and on \
            the desktop. If systemd starts it, it uses the sockets that systemd passes to it, \
            reports when it is ready and alive, and logs to the journal; `parley service install` \
            sets that up. Its log holds no texts, names or keys.

            With --http, or the key run.http, programs of this machine can use it over HTTP as \
            well, only on a loopback address and with a token (parley token): POST /rpc, GET \
            /events, /changes, /metrics, /healthz. The file "http" in its home holds the address. \
            With --page, or the key run.page, it serves, at the same address, the page that parley \
            open opens in a browser.

            Example:
              parley run --listen 192.0.2.1:7447 --listen '[2001:db8::1]:7447'
            """)

    @OptionGroup var place: HomeOptions
    @Option(
        name: .long,
        help: ArgumentHelp("an address to listen on; * means all", valueName: "host:port"))
    var listen: [String] = []
    @Flag(
        name: .long,
        help: "do not listen: others reach this node only if it calls them, or through a relay")
    var noListen = false

    @Flag(name: .long, help: "neither look for contacts on the local network nor be found there")
    var noLan = false

    @Option(
        name: .long, defaultAsFlag: LoopbackAddress.usual.description,
        help: ArgumentHelp(
            "answer programs of this machine over HTTP; without an address, on any free port",
            valueName: "host:port"))
    var http: String?

    @Flag(name: .long, help: "serve the page for a browser on this machine, see parley open")
    var page = false

    /// Whether a text is an address with a port.
    static func isAddress(_ address: String) -> Bool {
        let port = address.split(separator: ":", omittingEmptySubsequences: false).last
        return address.contains(":") && port.flatMap { UInt16($0) } != nil
    }

    func validate() throws {
        if let http, LoopbackAddress(http) == nil {
            throw ValidationError(
                "\(http) is not a loopback address: --http takes 127.0.0.1:PORT, "
                    + "[::1]:PORT or localhost:PORT.")
        }
        if noListen, !listen.isEmpty {
            throw ValidationError("--listen and --no-listen exclude each other.")
        }
        for address in listen where !Self.isAddress(address) {
            throw ValidationError("\(address) is not an address: give HOST:PORT.")
        }
    }

    func run() async throws { try await serve(whenReady: nil) }

    /// Runs the node until it is stopped.
    ///
    /// - Parameters:
    ///   - stop: where signals are told that somebody watches already; two who watch them miss them.
    ///   - whenReady: called once the node runs; nil where nobody waits for that.
    func serve(
        until stop: AsyncStream<Void>? = nil,
        whenReady: ((any NodeService) async throws -> Void)?
    ) async throws {
        let home = place.path
        // From here on a signal means: end in good order.
        let stop = stop ?? Stop.signals()
        let environment = World.current.environment
        let configuration = try Configuration.load(named: place.config, environment: environment)
        let service = RunningService(configuration, environment: environment)
        let running = try await World.reach(
            home, asksSocket: service.sockets.local == nil,
            running: { client -> RunningHome in
                await client.close()
                throw NodeError(
                    "already-running", "A node is already running in \(home).",
                    hint:
                        "`parley status` shows how it is doing; if it is a chat, leave that first.")
            },
            home: { try await HomeNode.openToRun(home: $0, passphrase: place.passphrase) })
        do {
            try await listen(running, service.sockets, configuration)
            let server = try await LocalServer.start(
                node: running.node, home: home, socket: service.sockets.local)
            var web: HTTPServer?
            let courier = WebhookCourier(node: running.node, book: running.webhooks)
            do {
                let servesPage = page || configuration.isOn("run.page")
                web = try await startHTTP(
                    for: running, home, on: http ?? configuration.text("run.http"),
                    servesPage: servesPage)
                if servesPage, whenReady == nil {
                    World.current.advise("parley open shows the page")
                }
                if !noLan, configuration.isOn("run.lan") { running.seekNeighbours() }
                let changes = try await running.node.changes()
                try await service.greet(running.node)
                try await whenReady?(running.node)
                let tasks = service.work(
                    for: running, changes: changes, configFile: place.config)
                for await _ in stop { break }
                for task in tasks { task.cancel() }
                service.sayStopping()
            } catch {
                await courier.stop()
                await web?.stop()
                await server.stop()
                throw error
            }
            await courier.stop()
            await web?.stop()
            await server.stop()
        } catch {
            await running.shutdown()
            throw error
        }
        await running.shutdown()
    }

    /// Before it answers: an invite names the addresses that it listens on.
    private func listen(
        _ running: RunningHome, _ sockets: InheritedSockets, _ configuration: Configuration
    ) async throws {
        if noListen { return try await running.start([], []) }
        if !sockets.network.isEmpty { return try await running.start(listen, sockets.network) }
        let addresses = listen.isEmpty ? configuration.strings("run.listen") : listen
        try await Port(home: place.path).start(running, listen: addresses)
    }

    /// Answers over HTTP where that is wanted.
    private func startHTTP(
        for running: RunningHome, _ home: String, on address: String, servesPage: Bool
    ) async throws -> HTTPServer? {
        let wanted = LoopbackAddress(address)
        guard servesPage || wanted != nil else { return nil }
        func start(_ address: LoopbackAddress) async throws -> HTTPServer {
            try await HTTPServer.start(
                node: running.node, tokens: running.tokens,
                page: servesPage ? running.pageSessions : nil, home: home, on: address,
                completeHint: Advice.completer)
        }
        let web: HTTPServer
        if let wanted {
            web = try await start(wanted)
        } else {
            // What a browser noted of the page is of its port, too.
            var address = LoopbackAddress.usual
            address.port = try running.pageSessions.lastPort() ?? 0
            do {
                web = try await start(address)
            } catch let error as NodeError where error.code == "http-in-use" {
                web = try await start(.usual)
            }
        }
        World.current.write("answering on http://\(web.address)")
        return web
    }
}

/// The port a node listens on, so that those who know it find it again.
struct Port {
    /// Tried first in a new home.
    static let usual: UInt16 = 7447
    let home: String

    private var file: URL { URL(fileURLWithPath: home + "/port") }

    /// The port of last time, where there was one.
    var last: UInt16? {
        // No file, or nothing sensible in it: then the usual one.
        guard let data = try? Data(contentsOf: file), data.count < 8 else { return nil }
        return UInt16(String(decoding: data, as: UTF8.self).prefix { $0.isNumber })
    }

    /// Listens where the person said, else on a port that stays the same.
    func start(_ running: RunningHome, listen: [String]) async throws {
        guard listen.isEmpty else { return try await running.start(listen, []) }
        let wanted = last ?? Self.usual
        do {
            try await running.start(["*:\(wanted)"], [])
        } catch let error as NodeError where error.code == "listen" {
            try await running.start(["*:0"], [])
            World.current.say(
                "port \(wanted) is taken: using a free one, which is kept from now on")
        }
        try await keep(running.node.perform(GetStatus()).addresses)
    }

    private func keep(_ addresses: [String]) async throws {
        guard let text = addresses.first?.split(separator: ":").last, let port = UInt16(text),
            port != last
        else { return }
        try Data("\(port)\n".utf8).write(to: file, options: .atomic)
    }
}
