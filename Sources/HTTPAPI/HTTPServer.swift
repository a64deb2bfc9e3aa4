internal import Foundation
internal import Glibc
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOPosix
public import Parley

/// Answers programs of this machine over HTTP for a node, until it is stopped.
public final class HTTPServer: Sendable {
    /// Where it listens, with the port that it got.
    public let address: LoopbackAddress
    private let group: MultiThreadedEventLoopGroup
    private let server: Server<GuardedChannel>
    private let running: Task<Void, Never>
    private let gate: Gate
    private let page: PageSessions?
    private let addressFile: String

    /// Listens, and says where in a file in the home.
    ///
    /// - Throws: ``NodeError`` where somebody else listens there.
    ///
    /// - Parameters:
    ///   - page: the browser sessions; nil for no page.
    ///   - completeHint: adds to advised commands which home they are about.
    public static func start(
        node: any NodeService, tokens: AccessTokens, page: PageSessions? = nil, home: String,
        on wanted: LoopbackAddress, completeHint: @escaping @Sendable (String) -> String = { $0 }
    ) async throws -> HTTPServer {
        try await start(
            node: node, tokens: tokens, page: page, home: home, on: wanted, times: Times(),
            completeHint: completeHint)
    }

    /// The same, with other patience.
    static func start(
        node: any NodeService, tokens: AccessTokens, page: PageSessions? = nil, home: String,
        on wanted: LoopbackAddress, times: Times,
        completeHint: @escaping @Sendable (String) -> String = { $0 }
    ) async throws -> HTTPServer {
        let door = try page.map { PageDoor(sessions: $0, host: try $0.host()) }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let gate = Gate()
        let uploads = Uploads(node: node, home: home, times: times)
        let desk = Desk(
            node: node, tokens: tokens, page: door, gate: gate, uploads: uploads, host: wanted,
            completeHint: completeHint)
        let channel = GuardedChannel(gate: gate, times: times) { request, writer, channel in
            try await desk.respond(request, writer, channel)
        }
        let (news, teller) = AsyncStream.makeStream(of: Result<Int, any Error>.self)
        let server = Server(
            childChannelSetup: channel,
            configuration: ServerConfiguration(
                address: .hostname(wanted.host, port: Int(wanted.port)), backlog: 128),
            onServerRunning: { teller.yield(.success($0.localAddress?.port ?? 0)) },
            eventLoopGroup: group,
            // Requests are nobody's business: nothing is logged.
            logger: Logger(label: "parley-http") { _ in SwiftLogNoOpLogHandler() })
        let running = Task {
            do {
                try await server.run()
            } catch {
                teller.yield(.failure(error))
            }
            teller.finish()
        }
        var address = wanted
        do {
            let port = try await Self.first(of: news)
            address.port = UInt16(clamping: port)
            try writeAddress(address, to: HTTPAPI.addressPath(home: home))
            try page?.begin(port: address.port)
        } catch {
            // It fails only where nothing was begun.
            try? await server.shutdownGracefully()
            // It fails only where it was stopped before.
            try? await group.shutdownGracefully()
            throw Self.nodeError(error, wanted)
        }
        sweep(uploads, desk, on: group.next(), every: TimeAmount(times.sweep))
        return HTTPServer(
            address: address, group: group, server: server, running: running, gate: gate,
            page: page, addressFile: HTTPAPI.addressPath(home: home))
    }

    private init(
        address: LoopbackAddress, group: MultiThreadedEventLoopGroup,
        server: Server<GuardedChannel>, running: Task<Void, Never>, gate: Gate,
        page: PageSessions?, addressFile: String
    ) {
        self.address = address
        self.group = group
        self.server = server
        self.running = running
        self.gate = gate
        self.page = page
        self.addressFile = addressFile
    }

    /// How many connections are open.
    var connectionCount: Int { gate.connectionCount }

    /// How many streams of events are open.
    var streamCount: Int { gate.streamCount }

    /// How long answers that are on their way may take to leave.
    private static let farewellTimeMax: Duration = .milliseconds(250)

    /// Removes the file, lets nobody in any more, lets answers leave, and hangs up.
    public func stop() async {
        unlink(addressFile)
        page?.end()
        gate.close()
        let hangUp = Task { [gate] in
            // When that is cut short, everybody has hung up already.
            try? await Task.sleep(for: Self.farewellTimeMax)
            gate.hangUp()
        }
        // It fails only where it was stopped before.
        try? await server.shutdownGracefully()
        hangUp.cancel()
        await running.value
        // As above.
        try? await group.shutdownGracefully()
    }

    /// Looks again and again for files that came in and are over, until the loop ends.
    private static func sweep(
        _ uploads: Uploads, _ desk: Desk, on loop: any EventLoop, every time: TimeAmount
    ) {
        loop.scheduleRepeatedAsyncTask(initialDelay: time, delay: time) { _ in
            loop.makeFutureWithTask {
                await uploads.dropOver { desk.keeper(of: $0).isAlive($0) }
            }
        }
    }

    private static func first(of news: AsyncStream<Result<Int, any Error>>) async throws -> Int {
        for await outcome in news { return try outcome.get() }
        throw NodeError("no-http", "The HTTP server stopped before it started.")
    }

    /// A file of mode 0600 that is complete whenever it exists.
    private static func writeAddress(_ address: LoopbackAddress, to path: String) throws {
        let fresh = path + ".new"
        unlink(fresh)
        let descriptor = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(path) }
        defer { Glibc.close(descriptor) }
        let bytes = Array("\(address)\n".utf8)
        guard write(descriptor, bytes, bytes.count) == bytes.count, rename(fresh, path) == 0 else {
            let failure = failure(path)
            unlink(fresh)
            throw failure
        }
    }

    private static func failure(_ path: String) -> NodeError {
        NodeError("no-http", "\(path) cannot be written: \(String(cString: strerror(errno))).")
    }

    private static func nodeError(_ error: any Error, _ address: LoopbackAddress) -> any Error {
        guard let error = error as? IOError else { return error }
        guard error.errnoCode == EADDRINUSE else {
            return NodeError(
                "no-http", "Cannot listen on \(address): \(error.description)")
        }
        return NodeError(
            "http-in-use", "Another program listens on \(address).",
            hint: "`parley run --http 127.0.0.1:0` takes any free port.")
    }
}
