import NIOCore
import NIOPosix
import Synchronization

/// Sockets ⇄ bytes, with bounds.
///
/// **Contract.** It listens and dials over TCP (IPv4 and IPv6) and over socket files; passes each
/// connection's bytes to one ``ConnectionHandler``, in order, on one event loop; writes what is
/// queued, one write a turn; and ends every connection exactly once, with a typed reason that is
/// counted in ``counters``. Nothing that a stranger does costs more than ``TransportLimits``
/// allows: connections, handshakes, time, and memory are all bounded.
///
/// **What it never knows.** Where a frame begins, who a peer is, what is secret. It takes the word
/// of its user that a peer is authenticated (``Connection/markAuthenticated()``), and writes no
/// byte of its own.
///
/// ```
///  Listener ─accept─▶ Gate ──▶ ConnectionDriver ──received──▶ ConnectionHandler (the user)
///  dial ─────────────────────▶   │      ▲
///                                ▼      └─drain── Outbox ◀──send── Connection
///                              socket
/// ```
///
/// It owns threads: its creator must ``shutdown()`` it before releasing it.
public final class Transport: Sendable {
    /// How long a dial tries, unless told otherwise.
    public static let dialTimeMax: Duration = .seconds(10)

    /// Reads grow with the incoming data, to the longest record, and shrink again; each is one at a
    /// time: a paused connection delivers one read at most.
    static let readAllocator = AdaptiveRecvByteBufferAllocator(
        minimum: 2 << 10, initial: 16 << 10, maximum: 64 << 10)

    private let group: MultiThreadedEventLoopGroup
    private let tally = Tally()
    private let registry = Registry()
    private let shared: ConnectionDriver.Shared
    private let listeners = Mutex<[Listener]>([])
    private let dials = DialCount()
    private let now: @Sendable () -> NIODeadline

    /// Starts the event loops.
    ///
    /// - Parameter threadCount: how many; a connection stays on one of them.
    public convenience init(threadCount: Int = 2) {
        self.init(threadCount: threadCount, now: { .now() })
    }

    /// With a clock of its own for the handshake rate.
    init(threadCount: Int, now: @escaping @Sendable () -> NIODeadline) {
        group = MultiThreadedEventLoopGroup(numberOfThreads: threadCount)
        shared = ConnectionDriver.Shared(tally: tally, registry: registry)
        self.now = now
    }

    /// One of the event loops.
    var eventLoop: any EventLoop { group.next() }

    /// The counts until now.
    public var counters: TransportCounters { tally.snapshot }

    /// Connections that are open now, dialled ones included.
    public var openConnectionCount: Int { registry.count }

    /// Listens on an address of this machine, or on all of them with the host `*`.
    ///
    /// - Parameter handler: makes the owner of each connection; called on its event loop.
    public func listen(
        on endpoint: Endpoint, limits: TransportLimits = TransportLimits(),
        handler: @escaping @Sendable () -> any ConnectionHandler
    ) async throws(TransportFailure) -> Listener {
        let doorkeeper = doorkeeper(limits, handler)
        do {
            return try await keep(Listener(channels: try await doorkeeper.bind(endpoint)))
        } catch {
            throw TransportFailure(attempt: "listen on \(endpoint)", error: error)
        }
    }

    /// Listens on a socket file of mode 0600. A file left behind by a crash is replaced; one that
    /// somebody listens on, or that is no socket, is left alone.
    public func listen(
        path: String, limits: TransportLimits = .localSocket,
        handler: @escaping @Sendable () -> any ConnectionHandler
    ) async throws(TransportFailure) -> Listener {
        let doorkeeper = doorkeeper(limits, handler)
        do {
            let channel = try await doorkeeper.bind(path: path)
            return try await keep(Listener(channels: [channel], path: path))
        } catch let error as TransportFailure {
            throw error
        } catch {
            throw TransportFailure(attempt: "listen on \(path)", error: error)
        }
    }

    /// Accepts on a socket that somebody else already listens on and handed to this process, which
    /// owns it from now on. A socket file stays when the listener is closed: its creator needs it
    /// again.
    public func listen(
        on descriptor: Int32, limits: TransportLimits = TransportLimits(),
        handler: @escaping @Sendable () -> any ConnectionHandler
    ) async throws(TransportFailure) -> Listener {
        let doorkeeper = doorkeeper(limits, handler)
        do {
            return try await keep(Listener(channels: [try await doorkeeper.take(descriptor)]))
        } catch {
            throw TransportFailure(attempt: "listen on a socket that was handed over", error: error)
        }
    }

    /// Opens a connection. A name is tried on all its addresses.
    ///
    /// - Returns: the connection; `handler` has heard ``ConnectionHandler/opened(_:)`` by then.
    ///   When this throws, the handler has heard nothing.
    @discardableResult
    public func dial(
        _ endpoint: Endpoint, within time: Duration = Transport.dialTimeMax,
        limits: TransportLimits = TransportLimits(), handler: any ConnectionHandler
    ) async throws(TransportFailure) -> Connection {
        let attempt = "dial \(endpoint)"
        guard endpoint.port != 0, endpoint.host != Endpoint.everyHost else {
            throw TransportFailure(.notDialable, attempt: attempt)
        }
        let bootstrap = bootstrap(time)
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
        let port = Int(endpoint.port)
        // A host that is no address is a name, to be looked up.
        let address = try? SocketAddress(ipAddress: endpoint.host, port: port)
        return try await begin(attempt, limits, handler) {
            guard let address else { return bootstrap.connect(host: endpoint.host, port: port) }
            return bootstrap.connect(to: address)
        }
    }

    /// Opens a connection to a socket file of this machine.
    @discardableResult
    public func dial(
        path: String, within time: Duration = Transport.dialTimeMax,
        limits: TransportLimits = .localSocket, handler: any ConnectionHandler
    ) async throws(TransportFailure) -> Connection {
        let bootstrap = bootstrap(time)
        return try await begin("dial \(path)", limits, handler) {
            bootstrap.connect(unixDomainSocketPath: path)
        }
    }

    /// Shuts down, losing nothing that was queued if the peers read it in time: accepts nobody,
    /// closes each peer gracefully, waits until all connections are closed, ends the threads. Peers
    /// that have not completed the handshake are closed at once. A second call does nothing.
    ///
    /// - Parameter time: how long the peers are waited for, all of them together.
    public func shutdown(within time: Duration = .seconds(1)) async {
        guard let open = registry.close() else { return }
        let listeners = listeners.withLock { listeners in
            defer { listeners = [] }
            return listeners
        }
        for listener in listeners { await listener.close() }
        for (connection, _) in open { connection.close(.shutDown, within: time) }
        for (_, channel) in open {
            // The future of a close never fails.
            try? await channel.closeFuture.get()
        }
        // A dial that is under way still works on the event loops.
        await dials.close()
        // Fails only when it was shut down before, which cannot be: we are the first.
        try? await group.shutdownGracefully()
    }

    private func doorkeeper(
        _ limits: TransportLimits, _ makeHandler: @escaping @Sendable () -> any ConnectionHandler
    ) -> Doorkeeper {
        Doorkeeper(
            group: group, limits: limits, shared: shared,
            gate: Gate(limits: limits, now: now), makeHandler: makeHandler)
    }

    private func keep(_ listener: Listener) async throws(TransportFailure) -> Listener {
        listeners.withLock { $0.append(listener) }
        guard registry.isOpen else {
            await listener.close()
            throw TransportFailure(.shutDown, attempt: "listen")
        }
        return listener
    }

    private func bootstrap(_ time: Duration) -> ClientBootstrap {
        ClientBootstrap(group: group)
            .connectTimeout(TimeAmount(time))
            .channelOption(.recvAllocator, value: Self.readAllocator)
            .channelOption(.maxMessagesPerRead, value: 1)
            // No byte is read before a handler is set.
            .channelOption(.autoRead, value: false)
    }

    /// The driver joins after the connection stands: a name with several addresses makes several
    /// channels, and the handler must hear of one.
    private func begin(
        _ attempt: String, _ limits: TransportLimits, _ handler: any ConnectionHandler,
        connect: () -> EventLoopFuture<any Channel>
    ) async throws(TransportFailure) -> Connection {
        let shared = shared
        guard registry.isOpen, dials.begin() else {
            throw TransportFailure(.shutDown, attempt: attempt)
        }
        defer { dials.end() }
        do {
            let future = connect().flatMapThrowing { channel in
                let driver = ConnectionDriver(handler: handler, limits: limits, shared: shared)
                return try driver.join(channel, attempt: attempt)
            }
            let connection = try await future.get()
            tally.update { $0.dialled += 1 }
            return connection
        } catch {
            tally.update { $0.dialFailures += 1 }
            throw TransportFailure(attempt: attempt, error: error)
        }
    }
}
