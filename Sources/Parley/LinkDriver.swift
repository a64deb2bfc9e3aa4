import Logging
import ParleyNodeCore
import ParleySealing
import ParleyTransport
import ParleyWire
import Synchronization

/// Joins one connection to one ``Link``: bytes in, frames out, and back.
///
/// The transport calls it on the connection's event loop, one call after the other; the node calls
/// it from its actor. The link itself is only ever used on the loop, so frames keep their order.
final class LinkDriver: ConnectionHandler {
    /// Frames that may wait in the node's inbox before reading pauses.
    static let pendingFrameMax = 64
    /// A sending key is used for so long at most, in milliseconds: 10 minutes. Heartbeats see to it
    /// that something is sent.
    static let rekeyInterval: UInt64 = 600_000

    private struct State {
        var link: Link
        var carrier: (any LinkCarrier)?
        var isAuthenticated = false
        var rekeyedAt = SystemClock.now.monotonic
        var pendingFrames = 0
        var isPaused = false
    }

    let id: LinkID
    let isInitiator: Bool
    private let state: Mutex<State>
    private let inputs: RunningNode
    private let network: NodeNetwork
    private let finished: @Sendable (Bool) -> Void

    /// - Parameter finished: told once whether the handshake succeeded.
    init(
        id: LinkID, link: Link, isInitiator: Bool, inputs: RunningNode, network: NodeNetwork,
        finished: @escaping @Sendable (Bool) -> Void = { _ in }
    ) {
        self.id = id
        self.isInitiator = isInitiator
        state = Mutex(State(link: link))
        self.inputs = inputs
        self.network = network
        self.finished = finished
    }

    var remoteAddress: String { state.withLock { $0.carrier?.remoteAddress ?? "" } }

    // MARK: The transport's side

    func opened(_ connection: Connection) { opened(over: connection) }

    func opened(over carrier: any LinkCarrier) {
        guard network.admit(self) else { return carrier.close() }
        let first = state.withLock { state in
            state.carrier = carrier
            return isInitiator ? state.link.start() : []
        }
        if !first.isEmpty { carrier.send(first) }
    }

    func received(_ bytes: [UInt8]) {
        let result: Result<[LinkEvent], LinkRejection> = state.withLock { state in
            do throws(LinkRejection) {
                return .success(try state.link.receive(bytes[...]))
            } catch {
                return .failure(error)
            }
        }
        guard let carrier = state.withLock({ $0.carrier }) else { return }
        switch result {
        case .success(let events):
            for event in events { handle(event, on: carrier) }
        case .failure(let rejection):
            network.count(rejection)
            carrier.close()
        }
    }

    private func handle(_ event: LinkEvent, on carrier: any LinkCarrier) {
        switch event {
        case .send(let bytes):
            carrier.send(bytes)
        case .authenticated(let peer):
            carrier.markAuthenticated()
            let hash = state.withLock { state in
                state.isAuthenticated = true
                return state.link.handshakeHash
            }
            network.opened(self, to: peer.device)
            inputs.offer(
                .linkOpened(
                    id,
                    LinkPeer(
                        peer, hash, isInitiator: isInitiator, isPiped: carrier.isPiped)))
            finished(true)
        case .frame(let frame):
            let mustPause = state.withLock { state in
                state.pendingFrames += 1
                guard !state.isPaused, state.pendingFrames > Self.pendingFrameMax else {
                    return false
                }
                state.isPaused = true
                return true
            }
            if mustPause { carrier.pauseReading() }
            inputs.offer(.frame(id, frame))
        }
    }

    func becameWritable() {}

    func closed(_ reason: CloseReason) {
        let wasAuthenticated = state.withLock { state in
            state.carrier = nil
            return state.isAuthenticated
        }
        network.closed(self)
        if wasAuthenticated {
            inputs.offer(.linkClosed(id))
        } else {
            finished(false)
        }
    }

    // MARK: The node's side

    /// Seals and sends frames, in order.
    func send(_ frames: [[UInt8]]) {
        guard let carrier = state.withLock({ $0.carrier }) else { return }
        carrier.perform {
            carrier.send(self.state.withLock { Self.seal(frames, &$0) })
        }
    }

    private static func seal(_ frames: [[UInt8]], _ state: inout State) -> [UInt8] {
        let now = SystemClock.now.monotonic
        guard now > state.rekeyedAt + rekeyInterval else { return state.link.seal(frames) }
        state.rekeyedAt = now
        return state.link.rekey() + state.link.seal(frames)
    }

    /// Ends the connection after what was sent.
    func hangUp() {
        guard let carrier = state.withLock({ $0.carrier }) else { return }
        carrier.perform { carrier.close() }
    }

    /// The node has dealt with so many frames: reading goes on.
    func consumed(_ count: Int) {
        let resumed: (any LinkCarrier)? = state.withLock { state in
            state.pendingFrames -= count
            guard state.isPaused, state.pendingFrames < Self.pendingFrameMax / 2 else {
                return nil
            }
            state.isPaused = false
            return state.carrier
        }
        resumed?.resumeReading()
    }
}

extension LinkPeer {
    /// What the core is told of a peer that the handshake has proven.
    init(
        _ peer: AuthenticatedPeer, _ handshakeHash: [UInt8], isInitiator: Bool, isPiped: Bool
    ) {
        self.init(
            person: peer.person, root: Digest(reinterpreting: peer.identity.root),
            device: peer.device, identity: peer.identity.encoded, handshakeHash: handshakeHash,
            isInitiator: isInitiator, isPiped: isPiped)
    }
}
