internal import Glibc
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import Parley

/// A server for HTTP on a loopback address, whoever answers there.
struct HTTPListener: Sendable {
    /// Where it listens, with the port that it got.
    let address: LoopbackAddress
    /// Who is connected.
    let gate: Gate
    private let group: MultiThreadedEventLoopGroup
    private let server: Server<GuardedChannel>
    private let running: Task<Void, Never>

    /// Where its connections live.
    var loop: any EventLoop { group.next() }

    /// Listens.
    ///
    /// - Parameters:
    ///   - whenReady: called once with the address. If it throws, nobody listens any more.
    ///   - respond: answers a request.
    static func start(
        on wanted: LoopbackAddress, gate: Gate, times: Times,
        whenReady: (LoopbackAddress) throws -> Void = { _ in },
        respond: @escaping HTTPChannelHandler.Responder
    ) async throws -> HTTPListener {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let channel = GuardedChannel(gate: gate, times: times, responder: respond)
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
            address.port = UInt16(clamping: try await first(of: news))
            try whenReady(address)
        } catch {
            // It fails only where nothing was begun.
            try? await server.shutdownGracefully()
            // It fails only where it was stopped before.
            try? await group.shutdownGracefully()
            throw nodeError(error, wanted)
        }
        return HTTPListener(
            address: address, gate: gate, group: group, server: server, running: running)
    }

    /// How long answers that are on their way may take to leave.
    private static let farewellTimeMax: Duration = .milliseconds(250)

    /// Lets nobody in any more, lets answers leave, and hangs up.
    func stop() async {
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

    private static func first(of news: AsyncStream<Result<Int, any Error>>) async throws -> Int {
        for await outcome in news { return try outcome.get() }
        throw NodeError("no-http", "The HTTP server stopped before it started.")
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
