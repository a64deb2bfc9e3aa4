import Foundation
public import ParleyRelaying
public import ParleySealing
public import ParleyTransport
public import ParleyWire
import Synchronization

/// A relay that runs: sockets, one engine, one store.
///
/// ```
///  clients ─▶ RelayClientHandler (a connection: Noise, signatures; on its event loop)
///                 │ inputs                       ▲ frames
///                 ▼                              │
///             RelayEngine (one queue: Relay decides, SQLiteRelayStore keeps; a turn, an fsync)
/// ```
public final class RelayServer: Sendable {
    /// How a relay is run.
    public struct Settings: Sendable {
        /// Where it listens.
        public var endpoints: [Endpoint]
        /// Where it tells its figures, on this machine only; nowhere where nil.
        public var metrics: Endpoint?
        /// The network that it serves.
        public var network: NetworkID = .main
        /// Its limits.
        public var policy = RelayPolicy()
        /// Connections at a time.
        public var connectionCountMax = 16_384
        /// Milliseconds that clients are told to wait when the relay stops.
        public var retryAfter: UInt32 = 5_000

        /// The usual way to run, listening here.
        public init(endpoints: [Endpoint]) { self.endpoints = endpoints }
    }

    /// The public half of the relay's key.
    public let key: NoiseKey
    /// Where it listens, with the port that the system chose.
    public let endpoints: [Endpoint]
    /// Where it tells its figures.
    public let metricsEndpoint: Endpoint?

    private let transport: Transport
    let engine: RelayEngine
    private let retryAfter: UInt32

    /// Starts a relay with this key and store.
    ///
    /// - Parameter report: told what the operator should know.
    public static func start(
        _ settings: Settings, key: DeviceNoiseKey, store: sending SQLiteRelayStore,
        now: @escaping @Sendable () -> UInt64 = RelayServer.wallClock,
        report: @escaping @Sendable (String) -> Void
    ) async throws -> RelayServer {
        let engine = RelayEngine(
            store: store, policy: settings.policy, now: now, report: report)
        let transport = Transport()
        let rejections = Rejections()
        let lastNumber = Mutex<UInt64>(0)
        do {
            var endpoints: [Endpoint] = []
            for endpoint in settings.endpoints {
                let listener = try await transport.listen(
                    on: endpoint, limits: limits(settings)
                ) {
                    let number = lastNumber.withLock { number -> UInt64 in
                        number += 1
                        return number
                    }
                    return RelayClientHandler(
                        number: RelayConnection(number), engine: engine, key: key,
                        network: settings.network, rejected: { rejections.count($0) })
                }
                endpoints += listener.endpoints
            }
            var metricsEndpoint: Endpoint?
            if let endpoint = settings.metrics {
                let metrics = RelayMetrics(
                    engine: engine, transport: transport, rejections: rejections)
                let listener = try await transport.listen(on: endpoint, limits: metricsLimits) {
                    MetricsHandler(metrics)
                }
                metricsEndpoint = listener.endpoints.first
            }
            engine.start()
            return RelayServer(
                key: key.publicKey, endpoints: endpoints, metricsEndpoint: metricsEndpoint,
                transport: transport, engine: engine, retryAfter: settings.retryAfter)
        } catch {
            await engine.stop(retryAfter: 0)
            await transport.shutdown()
            throw error
        }
    }

    private init(
        key: NoiseKey, endpoints: [Endpoint], metricsEndpoint: Endpoint?, transport: Transport,
        engine: RelayEngine, retryAfter: UInt32
    ) {
        self.key = key
        self.endpoints = endpoints
        self.metricsEndpoint = metricsEndpoint
        self.transport = transport
        self.engine = engine
        self.retryAfter = retryAfter
    }

    /// Shuts down cleanly: answers requests whose results are on disk, says goodbye, closes.
    public func stop() async {
        await engine.stop(retryAfter: retryAfter)
        await transport.shutdown()
    }

    /// Unix milliseconds.
    public static let wallClock: @Sendable () -> UInt64 = {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return UInt64(time.tv_sec) * 1000 + UInt64(time.tv_nsec) / 1_000_000
    }

    private static func limits(_ settings: Settings) -> TransportLimits {
        var limits = TransportLimits()
        limits.connectionCountMax = settings.connectionCountMax
        limits.unauthenticatedCountMax = 512
        limits.guestCountMax = 512
        limits.guestOfOriginCountMax = 60
        limits.handshakeCountMax = 60
        // The relay itself knows which clients have been silent for too long.
        limits.idleTimeMax = nil
        limits.writableByteCountMax = RelayEngine.writableByteCountMax
        limits.queueByteCountMax = 4 << 20
        limits.overflowByteCountMax = 32 << 20
        return limits
    }

    private static var metricsLimits: TransportLimits {
        var limits = TransportLimits.localSocket
        limits.connectionCountMax = 16
        limits.idleTimeMax = .seconds(10)
        return limits
    }
}

/// How many connections were ended because of what the client sent, by why.
final class Rejections: Sendable {
    private let counts = Mutex<[String: UInt64]>([:])

    var all: [String: UInt64] { counts.withLock { $0 } }

    func count(_ rejection: RelayClientRejection) {
        let reason =
            switch rejection {
            case .link: "link"
            case .malformed: "malformed"
            case .staleCounter: "staleCounter"
            case .badSignature: "badSignature"
            }
        counts.withLock { $0[reason, default: 0] += 1 }
    }
}
