public import Parley
internal import ParleyTransport

/// Answers programs of this machine for a node, until it is stopped.
public final class LocalServer: Sendable {
    private let transport: Transport
    private let listener: Listener

    /// Listens in this home. Throws where another program listens there, or the path is too long
    /// for a socket.
    ///
    /// - Parameter socket: one that somebody else already listens on, as handed over by a service
    ///   manager; nil if there is none.
    public static func start(
        node: any NodeService, home: String, socket: Int32? = nil
    ) async throws -> LocalServer {
        let transport = Transport(threadCount: 1)
        var limits = TransportLimits.localSocket
        limits.connectionCountMax = LocalAPI.connectionCountMax
        do {
            let handler: @Sendable () -> any ConnectionHandler = { ServerConnection(node: node) }
            let listener =
                if let socket {
                    try await transport.listen(on: socket, limits: limits, handler: handler)
                } else {
                    try await transport.listen(
                        path: LocalAPI.socketPath(home: home), limits: limits, handler: handler)
                }
            return LocalServer(transport: transport, listener: listener)
        } catch {
            await transport.shutdown(within: .milliseconds(500))
            throw Self.nodeError(error, home: home)
        }
    }

    private init(transport: Transport, listener: Listener) {
        self.transport = transport
        self.listener = listener
    }

    /// How long a program that is connected may take to read its last answers, all of them together.
    private static let farewellTimeMax: Duration = .milliseconds(250)

    /// Removes the socket, then lets answers that are on their way leave.
    public func stop() async {
        await listener.close()
        await transport.shutdown(within: Self.farewellTimeMax)
    }

    private static func nodeError(_ failure: TransportFailure, home: String) -> NodeError {
        switch failure.code {
        case .addressInUse:
            NodeError(
                "already-running", "A node is already running in \(home).",
                hint: "Stop it first, or choose another folder with --home.")
        case .pathTooLong:
            NodeError(
                "path-too-long", "The path of the socket in \(home) is too long.",
                hint: "Choose a folder with a shorter path, with --home.")
        case .refused, .timedOut, .unreachable, .unknownHost, .addressNotAvailable, .notPermitted,
            .noSuchFile, .notASocket, .notDialable, .closedAtOnce, .shutDown, .system:
            NodeError("no-socket", "Cannot open a socket in \(home): \(failure).")
        }
    }
}
