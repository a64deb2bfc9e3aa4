import Glibc
import NIOCore
import NIOPosix
import Synchronization

/// A door: accepts connections until it is closed. Those that came in live on without it.
///
/// Made by ``Transport/listen(on:limits:handler:)`` and ``Transport/listen(path:limits:handler:)``.
public final class Listener: Sendable {
    /// Where it really listens: with the port that the system chose, one entry for each address
    /// family. Empty for a socket file.
    public let endpoints: [Endpoint]

    /// The socket file, if it is one.
    public let path: String?

    private let channels: [any Channel]
    private let isClosed = Mutex(false)

    init(channels: [any Channel], path: String? = nil) {
        self.channels = channels
        self.path = path
        endpoints = channels.compactMap { channel in
            guard let host = channel.localAddress?.ipAddress, let port = channel.localAddress?.port
            else { return nil }
            // What the system tells is an address; there is nothing to report otherwise.
            return try? Endpoint(host: host, port: UInt16(clamping: port))
        }
    }

    /// Accepts nobody any more, and removes the socket file. Again: does nothing.
    public func close() async {
        let isFirst = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return !isClosed
        }
        guard isFirst else { return }
        // The name goes first: nobody shall find a door that no longer opens.
        if let path { UnixSocket.remove(path) }
        for channel in channels {
            channel.close(promise: nil)
            // Closing fails only when it is closed already.
            try? await channel.closeFuture.get()
        }
    }
}

/// How one listener binds and lets in.
struct Doorkeeper: Sendable {
    let group: MultiThreadedEventLoopGroup
    let limits: TransportLimits
    let shared: ConnectionDriver.Shared
    let gate: Gate
    let makeHandler: @Sendable () -> any ConnectionHandler

    /// How often an IPv6 port equal to the IPv4 port that the system chose is tried for.
    private static let sharedPortAttemptCountMax = 8

    func bind(_ endpoint: Endpoint) async throws -> [any Channel] {
        guard endpoint.host == Endpoint.everyHost else {
            return [try await bind(host: endpoint.host, port: endpoint.port)]
        }
        var attemptsLeft = endpoint.port == 0 ? Self.sharedPortAttemptCountMax : 1
        while true {
            let first = try await bind(host: "0.0.0.0", port: endpoint.port)
            let port = UInt16(clamping: first.localAddress?.port ?? 0)
            do {
                return [first, try await bind(host: "::", port: port)]
            } catch {
                let code = TransportFailure(attempt: "", error: error).code
                // A machine without IPv6 is served by IPv4 alone.
                if code == .unreachable || code == .addressNotAvailable { return [first] }
                attemptsLeft -= 1
                // Half a door is closed again; the first error is the one to report.
                try? await first.close()
                if attemptsLeft == 0 || code != .addressInUse { throw error }
            }
        }
    }

    func bind(path: String) async throws -> any Channel {
        let descriptor = try UnixSocket.bind(path)
        return try await bootstrap().withBoundSocket(descriptor).get()
    }

    /// Takes a socket that is bound and listens.
    func take(_ descriptor: Int32) async throws -> any Channel {
        let flags = fcntl(descriptor, F_GETFL)
        guard flags >= 0, fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0 else {
            throw IOError(errnoCode: errno, reason: "fcntl")
        }
        return try await bootstrap().withBoundSocket(descriptor).get()
    }

    private func bind(host: String, port: UInt16) async throws -> any Channel {
        let isIPv6 = host.contains(":")
        var bootstrap = bootstrap()
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.socketOption(.so_keepalive), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
        if isIPv6 {
            // Each family has its own socket: an IPv4 peer never comes as `::ffff:…`.
            let option = ChannelOptions.Types.SocketOption(level: .ipv6, name: .ipv6_v6only)
            bootstrap = bootstrap.serverChannelOption(option, value: 1)
        }
        // A host that is no address is a name, to be looked up. An address is not: the system does
        // not find `::` where no address of IPv6 is in use yet.
        guard let address = try? SocketAddress(ipAddress: host, port: Int(port)) else {
            return try await bootstrap.bind(host: host, port: Int(port)).get()
        }
        return try await bootstrap.bind(to: address).get()
    }

    private func bootstrap() -> ServerBootstrap {
        ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 256)
            .childChannelOption(.recvAllocator, value: Transport.readAllocator)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try letIn(channel) }
            }
    }

    /// An error makes the system's accept loop close the connection, with nothing read.
    private func letIn(_ channel: any Channel) throws {
        let ticket: Admission.Ticket
        do throws(Refusal) {
            ticket = try gate.admit(Origin(channel.remoteAddress))
        } catch {
            shared.tally.update { $0.count(error) }
            throw error
        }
        shared.tally.update { $0.accepted += 1 }
        let driver = ConnectionDriver(
            handler: makeHandler(), limits: limits, shared: shared, admitted: (gate, ticket))
        let loop = channel.eventLoop
        let bound = NIOLoopBound(driver, eventLoop: loop)
        gate.onDisplacing(ticket) { loop.execute { bound.value.end(.displaced) } }
        try channel.pipeline.syncOperations.addHandler(driver)
    }
}
