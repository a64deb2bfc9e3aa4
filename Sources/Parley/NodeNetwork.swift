import Logging
import ParleyNodeCore
import ParleySealing
import ParleyTransport
import ParleyWire
import Synchronization

/// The node's side of the network: listens, dials, and keeps the links that are open.
final class NodeNetwork: LinkOutlet {
    /// How long one address is tried.
    static let dialTimeMax: Duration = .seconds(5)

    struct State {
        var links: [LinkID: LinkDriver] = [:]
        var devices: [DeviceID: LinkID] = [:]
        var nextLink: UInt64 = 1
        var addresses: [String] = []
        /// The port on which others on the local network can reach this node.
        var port: UInt16?
        /// Whether it looks for them, and is found.
        var seeksNeighbours = false
        var search: NeighbourSearch?
        var rejections: [String: Int] = [:]
        var dials: [DeviceID: Task<Void, Never>] = [:]
        /// Connections on which a link is, or may come about.
        var carried: [LinkID: LinkDriver] = [:]
        /// Connections to relays, those that are made for one link included.
        var reached: [ObjectIdentifier: RelayDriver] = [:]
        /// Connections to relays, and attempts to make them.
        var relays: [NoiseKey: RelayCall] = [:]
        /// Relays at whose address somebody answered, when they were last called, who did not show to
        /// be them.
        var mistaken: Set<NoiseKey> = []
        var isClosing = false
        var isOffline = false
        /// Whether it is that because of damage, and not because a person wants it.
        var isHeldBack = false
        /// Whether it was told where to listen, if only nowhere.
        var isRunning = false
        /// What new links show of the person's devices.
        var operations: [[UInt8]]
        /// Where a device is waited for that wants to be linked.
        var desk = PairingDesk()
    }

    let identity: NodeIdentity
    private let noise: DeviceNoiseKey
    let network: NetworkID
    let inputs: RunningNode
    let logger: Logger
    let transport = Transport()
    let state: Mutex<State>
    /// What callers show of themselves.
    let hellos = Mutex(HelloBook())

    init(
        identity: NodeIdentity, noise: DeviceNoiseKey, network: NetworkID, inputs: RunningNode,
        logger: Logger
    ) {
        self.identity = identity
        self.noise = noise
        self.network = network
        self.inputs = inputs
        self.logger = logger
        state = Mutex(State(operations: identity.operations))
    }

    // MARK: What status shows

    /// Where others can reach this node.
    var addresses: [String] { state.withLock { $0.addresses } }

    /// Where the devices are that are linked.
    var remoteAddresses: [DeviceID: String] {
        let links = state.withLock { state in
            state.devices.compactMap { device, link in
                state.links[link].map { (device, $0) }
            }
        }
        return Dictionary(
            links.map { ($0.0, $0.1.remoteAddress) }, uniquingKeysWith: { first, _ in first })
    }

    /// Bytes on all links since the node was opened.
    var traffic: (sent: Int, received: Int) {
        let counters = transport.counters
        return (Int(clamping: counters.bytesSent), Int(clamping: counters.bytesReceived))
    }

    /// What links and connections were refused, by code.
    var refusals: [String: Int] {
        var refusals = state.withLock { $0.rejections }
        let counters = transport.counters
        for refusal in ConnectionRefusal.allCases {
            let count = Self.count(of: refusal, in: counters)
            guard count > 0 else { continue }
            refusals[ConnectionRefusal.prefix + refusal.rawValue] = Int(clamping: count)
        }
        return refusals
    }

    private static func count(
        of refusal: ConnectionRefusal, in counters: TransportCounters
    ) -> UInt64 {
        switch refusal {
        case .tooMany: counters.tooManyConnections + counters.tooManyUnauthenticated
        case .tooManyStrangers: counters.tooManyStrangers
        case .displaced: counters.displaced
        case .handshakeRate: counters.handshakeRate
        case .handshakeTimeout: counters.handshakeTimeout
        case .idle: counters.idle
        case .slowReader: counters.slowReader
        }
    }

    func count(_ rejection: LinkRejection) {
        let code = LinkRefusal(rejection).rawValue
        state.withLock { $0.rejections[LinkRefusal.prefix + code, default: 0] += 1 }
        logger.debug("a link was refused", metadata: ["reason": "\(code)"])
    }

    func count(_ refusal: PipeRefusal) {
        state.withLock { $0.rejections[PipeRefusal.prefix + refusal.rawValue, default: 0] += 1 }
    }

    // MARK: Listening

    /// Listens on these addresses, and on sockets that were handed over; returns where others can reach
    /// them.
    func listen(on texts: [String], sockets: [Int32] = []) async throws -> [String] {
        var reachable: [String] = []
        state.withLock { $0.isRunning = true }
        for socket in sockets { reachable += try await listen(onSocket: socket) }
        for text in texts {
            let endpoint: Endpoint
            do {
                endpoint = try Endpoint(text)
            } catch {
                throw NodeError(
                    "bad-address", "“\(text)” is not an address to listen on.",
                    hint: "Write host:port, such as 192.0.2.7:7447, [2001:db8::7]:7447 or *:7447.")
            }
            do {
                let listener = try await transport.listen(on: endpoint, handler: door)
                for real in listener.endpoints {
                    reachable += reachableAddresses(
                        of: real, onEvery: endpoint.host == Endpoint.everyHost)
                }
            } catch {
                throw NodeError(
                    "listen", "Cannot listen on \(endpoint): \(error.reason).",
                    hint: "Choose another address or port; port 0 means any free one.")
            }
        }
        let unique = Array(Set(reachable)).sorted().prefix(16)
        state.withLock { $0.addresses = Array(unique) }
        return Array(unique)
    }

    private func listen(onSocket socket: Int32) async throws -> [String] {
        do {
            let listener = try await transport.listen(on: socket, handler: door)
            return listener.endpoints.flatMap { real in
                reachableAddresses(of: real, onEvery: ["0.0.0.0", "::"].contains(real.host))
            }
        } catch {
            throw NodeError("listen", "Cannot \(error.attempt): \(error.reason).")
        }
    }

    /// Who opens the door to others.
    private var door: @Sendable () -> any ConnectionHandler {
        { [weak self] in
            guard let self, !self.isOffline else { return RefusingHandler() }
            return Doorkeeper { [self] pattern -> any ConnectionHandler in
                if pattern == Pairing.pattern { pairing() } else { responder() }
            }
        }
    }

    private func reachableAddresses(of real: Endpoint, onEvery isEvery: Bool) -> [String] {
        if !LocalAddresses.isLoopback(real.host) {
            state.withLock { $0.port = $0.port ?? real.port }
        }
        guard isEvery else { return ["\(real)"] }
        let isSix = real.host.contains(":")
        return LocalAddresses.all().filter { $0.contains(":") == isSix }.compactMap {
            // Addresses of the system are well formed; one that is not is left out.
            (try? Endpoint(host: $0, port: real.port)).map { "\($0)" }
        }
    }

    func responder() -> LinkDriver {
        var random = SystemRandom()
        let link = Link(
            responder: credentials, network: network,
            judge: { [weak self] operations in
                self?.hellos.withLock { $0.judge(operations, at: SystemClock.now.monotonic) }
            }, using: &random)
        return LinkDriver(
            id: newLink(), link: link, isInitiator: false, inputs: inputs, network: self)
    }

    var credentials: LinkCredentials {
        LinkCredentials(
            person: identity.person, device: identity.device, noiseKey: noise,
            identity: state.withLock { $0.operations })
    }

    /// What a card shows of this device's link key.
    var noiseKey: NoiseKey { noise.publicKey }

    func renewIdentity(_ operations: [[UInt8]]) {
        state.withLock { $0.operations = operations }
    }

    func newLink() -> LinkID {
        state.withLock { state in
            defer { state.nextLink += 1 }
            return LinkID(state.nextLink)
        }
    }

    // MARK: Links

    func opened(_ driver: LinkDriver, to device: DeviceID) {
        state.withLock { state in
            state.links[driver.id] = driver
            state.devices[device] = driver.id
        }
    }

    func closed(_ driver: LinkDriver) {
        state.withLock { state in
            state.carried[driver.id] = nil
            state.links[driver.id] = nil
            state.devices = state.devices.filter { $0.value != driver.id }
        }
    }

    private func driver(_ link: LinkID) -> LinkDriver? { state.withLock { $0.links[link] } }

    func send(_ frames: [[UInt8]], on link: LinkID) { driver(link)?.send(frames) }

    func tellRoom(on link: LinkID) { driver(link)?.tellRoom() }

    func hangUp(_ link: LinkID) { driver(link)?.hangUp() }

    func markKnown(_ link: LinkID) {
        guard let driver = driver(link) else { return }
        driver.markKnown()
        hellos.withLock { $0.learn(driver.peerIdentity) }
    }

    func resume(_ sender: NodeInbox.Sender) {
        switch sender {
        case .link(let link): driver(link)?.resume()
        case .relay(let relay): state.withLock { $0.relays[relay] }?.driver?.resume()
        // What could not be told is seen again.
        case .neighbours: break
        }
    }

    // MARK: Dialling

    func dial(_ target: DialTarget) {
        guard !isOffline else { return inputs.offer(.dialFailed(target.device)) }
        state.withLock { state in
            guard !state.isClosing else { return }
            state.dials[target.device] = Task { [weak self] in await self?.reach(target) }
        }
    }

    /// Tries one address after the other.
    private func reach(_ target: DialTarget) async {
        for text in target.addresses {
            // An invalid address in a card is skipped.
            guard !Task.isCancelled, let endpoint = try? Endpoint(text) else { continue }
            if await reach(target, at: endpoint) { return }
        }
        for mailbox in target.mailboxes where !Task.isCancelled {
            if await reach(target, through: mailbox) { return }
        }
        inputs.offer(.dialFailed(target.device))
    }

    private func reach(_ target: DialTarget, at endpoint: Endpoint) async -> Bool {
        var random = SystemRandom()
        let link = Link(
            initiatorTo: target.noiseKey, expecting: target.device, credentials: credentials,
            network: network, using: &random)
        let (stream, continuation) = AsyncStream.makeStream(of: Bool.self)
        let driver = LinkDriver(
            id: newLink(), link: link, isInitiator: true, inputs: inputs, network: self
        ) { succeeded in
            continuation.yield(succeeded)
            continuation.finish()
        }
        do {
            try await transport.dial(endpoint, within: Self.dialTimeMax, handler: driver)
        } catch {
            logger.debug("not reached", metadata: ["address": "\(endpoint)", "error": "\(error)"])
            return false
        }
        for await succeeded in stream { return succeeded }
        return false
    }

    // MARK: The end

    func shutdown() async {
        let (links, dials, relays) = state.withLock { state in
            state.isClosing = true
            return (state.links.keys.sorted(), state.dials, Array(state.relays.values))
        }
        await endSearch()
        // The last output is of use to others.
        for relay in relays { await relay.hasAsked() }
        for relay in relays { relay.abandon() }
        for device in dials.keys.sorted() { dials[device]?.cancel() }
        for link in links { send([Frame.bye.encoded()], on: link) }
        await transport.shutdown(within: .milliseconds(750))
    }
}

/// Closes a connection that came while the node was going away.
private final class RefusingHandler: ConnectionHandler {
    func opened(_ connection: Connection) { connection.close() }
    func received(_ bytes: [UInt8]) {}
    func becameWritable() {}
    func closed(_ reason: CloseReason) {}
}
