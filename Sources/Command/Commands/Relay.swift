import ArgumentParser
import Foundation
import Parley
import ParleyRelayServer
import ParleyRelaying
import ParleyTransport

struct RelayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "relay",
        abstract: "keep sealed envelopes for devices that are away",
        discussion: """
            A relay keeps what nodes could not send to each other directly, until they fetch it, \
            and forwards bytes between two that cannot reach each other. It can read nothing, and \
            knows nobody.

            Example:
              parley relay --listen '*:7448'
              parley relay ticket new --count 10
            """,
        subcommands: [RelayRun.self, TicketCommand.self], defaultSubcommand: RelayRun.self)
}

/// Where a relay lives.
struct RelayHomeOptions: ParsableArguments {
    @Option(
        name: .long, help: ArgumentHelp("the folder of the relay", valueName: "folder"),
        completion: .directory)
    var home: String?

    func validate() throws {
        if let home, home.isEmpty { throw ValidationError("--home needs a folder.") }
    }

    var place: RelayHome {
        guard let home else { return .usual(World.current.environment) }
        return RelayHome(path: wholePath(home))
    }

    /// The store of a relay that is there.
    func openStore() throws -> SQLiteRelayStore {
        let place = place
        guard FileManager.default.fileExists(atPath: place.storeFile) else {
            throw NodeError(
                "no-relay", "There is no relay in \(place.path).",
                hint: "`parley relay run` creates one.")
        }
        return try place.store()
    }

    /// The relay's store, which may be open in a relay that runs. It is made where there is none.
    func store() throws -> SQLiteRelayStore {
        // The key is made with the folder: a ticket may be the first thing that is wanted.
        do {
            _ = try place.key()
            return try place.store()
        } catch let error as RelayServerError {
            throw NodeError(relay: error)
        }
    }
}

struct RelayRun: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "run a relay until it is stopped",
        discussion: """
            Prints a text that people give to `parley relays add`. Without --announce it names the \
            addresses that the relay listens on. Ctrl-C or SIGTERM stops it: everything that it \
            acknowledged is on the disk.

            Example:
              parley relay run --listen '*:7448' --announce relay.example.org:7448
              parley relay run --systemd-unit > parley-relay.service
            """)

    @OptionGroup var options: RelayHomeOptions
    @Option(
        name: .long,
        help: ArgumentHelp("an address to listen on; * means all", valueName: "host:port"))
    var listen: [String] = ["*:7448"]
    @Option(
        name: .long,
        help: ArgumentHelp("an address where others find it", valueName: "host:port"))
    var announce: [String] = []
    @Option(
        name: .long,
        help: ArgumentHelp(
            "where it serves its metrics, on this machine only", valueName: "host:port"))
    var metrics: String?
    @Flag(name: .long, help: "create mailboxes only for tickets")
    var tickets = false
    @Flag(name: .long, help: "do not forward bytes between clients that cannot reach each other")
    var noPipes = false
    @Option(name: .long, help: ArgumentHelp("GiB of envelopes to keep at most", valueName: "GiB"))
    var capacity: Int = 16
    @Option(name: .long, help: ArgumentHelp("MiB that a mailbox may hold", valueName: "MiB"))
    var mailbox: Int = 64
    @Flag(
        name: .long,
        help: ArgumentHelp(
            "accept everything, without limits: for measuring", visibility: .hidden))
    var unbounded = false
    @Flag(
        name: .long,
        help: ArgumentHelp("also stop at the end of standard input", visibility: .hidden))
    var untilInputEnds = false
    @Flag(name: .long, help: "print a systemd unit that runs this, and exit")
    var systemdUnit = false

    func validate() throws {
        for address in listen + announce + [metrics].compactMap({ $0 }) {
            _ = try Self.endpoint(address)
        }
        if let metrics, let host = try? Endpoint(metrics).host,  // refused above
            !["127.0.0.1", "::1", "localhost"].contains(host)
        {
            throw ValidationError("--metrics is served on this machine only: give 127.0.0.1:PORT.")
        }
        guard (1...1_000_000).contains(capacity), (1...65_536).contains(mailbox) else {
            throw ValidationError(
                "--capacity must be from 1 to 1000000 GiB, --mailbox from 1 to 65536 MiB.")
        }
    }

    private static func endpoint(_ text: String) throws -> Endpoint {
        do throws(Endpoint.Rejection) {
            return try Endpoint(text)
        } catch {
            throw ValidationError("\(text) is not an address: give HOST:PORT.")
        }
    }

    func run() async throws {
        if systemdUnit { return printUnit() }
        let stop = Stop.signals(watchesInput: untilInputEnds)
        raiseFileLimit()
        let (server, lock) = try await start()
        defer { withExtendedLifetime(lock) {} }
        let text = RelayText(key: server.key, addresses: addresses(of: server))
        let world = World.current
        world.say("a relay is running in \(options.place.path)")
        for endpoint in server.endpoints { world.write("listening on \(endpoint)") }
        if let endpoint = server.metricsEndpoint { world.write("metrics on \(endpoint)") }
        world.write(text.text)
        world.say("give that text to parley relays add; Ctrl-C stops the relay")
        for await _ in stop { break }
        world.say("stopping")
        await server.stop()
    }

    private func start() async throws -> (RelayServer, RelayLock) {
        do {
            var settings = RelayServer.Settings(endpoints: try listen.map(Self.endpoint))
            settings.metrics = try metrics.map(Self.endpoint)
            if unbounded { settings.policy = .unbounded }
            settings.policy.needsTicket = tickets
            settings.policy.hasPipes = !noPipes
            settings.policy.mailboxByteCountMax = UInt64(mailbox) << 20
            let key = try options.place.key()
            let lock = try options.place.lock()
            let store = try options.place.store(
                bounds: RelayStoreBounds(byteCountMax: UInt64(capacity) << 30))
            let world = World.current
            let server = try await RelayServer.start(settings, key: key, store: store) {
                world.say("warning: " + $0)
            }
            return (server, lock)
        } catch let error as TransportFailure {
            throw NodeError(
                "listen", "Cannot \(error.attempt): \(error.reason).",
                hint: "Add --listen to name another address.")
        } catch let error as RelayStoreFailure {
            throw NodeError("store", "\(error)", hint: "Is another relay running there?")
        } catch let error as RelayServerError {
            throw NodeError(relay: error)
        }
    }

    /// What others dial: what was announced, else what it listens on, without loopback where
    /// there is more.
    private func addresses(of server: RelayServer) -> [String] {
        if !announce.isEmpty { return announce }
        var found: [String] = []
        for endpoint in server.endpoints {
            let isEvery = ["0.0.0.0", "::"].contains(endpoint.host)
            if !isEvery {
                found.append(endpoint.description)
                continue
            }
            for host in LocalAddresses.all() where host.contains(":") == endpoint.host.contains(":")
            {
                if let place = try? Endpoint(host: host, port: endpoint.port) {  // a spelling less
                    found.append(place.description)
                }
            }
        }
        return Array(found.prefix(RelayText.addressCountMax))
    }

    private func raiseFileLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(7), &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, 65_536)
        // Where it is not allowed, fewer clients are served.
        setrlimit(__rlimit_resource_t(7), &limit)
    }

    /// The file of this program, wherever it was started from.
    private static var program: String {
        // Where the kernel tells nothing, where a package would put it.
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            ?? "/usr/bin/parley"
    }

    private func printUnit() {
        var arguments = ["run"]
        for address in listen { arguments += ["--listen", address] }
        for address in announce { arguments += ["--announce", address] }
        if let metrics { arguments += ["--metrics", metrics] }
        if tickets { arguments.append("--tickets") }
        if noPipes { arguments.append("--no-pipes") }
        if unbounded { arguments.append("--unbounded") }
        arguments += ["--capacity", "\(capacity)", "--mailbox", "\(mailbox)"]
        let home = options.home.map { _ in (path: options.place.path, user: NSUserName()) }
        World.current.write(
            SystemdUnit.text(program: Self.program, home: home, arguments: arguments))
    }
}

extension NodeError {
    /// What keeps a relay from using a folder.
    fileprivate init(relay error: RelayServerError) {
        self.init("relay-home", "\(error)", hint: "--home names another folder")
    }
}
