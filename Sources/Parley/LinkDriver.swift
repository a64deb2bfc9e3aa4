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
///
/// It opens as many frames as the node has room for. If there is no room, or the peer does not read
/// its output, it opens none and reads none: further data waits on the peer's own machine.
final class LinkDriver: ConnectionHandler {
    /// Bytes that were read and not opened, at most: what a paused connection may still deliver.
    static let unopenedByteCountMax = 512 << 10
    /// Bytes that a peer may leave unread before nothing more is taken from it.
    static let unreadByteCountMax = 1 << 20
    /// How long a handshake through a pipe may take, as on a direct connection.
    static let handshakeTimeMax: Duration = .seconds(5)
    /// How long a sending key is used at most, in milliseconds: 10 minutes. Heartbeats make sure
    /// that something is sent.
    static let rekeyInterval: UInt64 = 600_000

    private struct State {
        var link: Link
        var carrier: (any LinkCarrier)?
        var isAuthenticated = false
        var rekeyedAt = SystemClock.now.monotonic
        /// Read, and not opened yet.
        var unopened: ArraySlice<UInt8> = []
        /// Frames that wait for their turn on the loop, in bytes.
        var unsealedByteCount = 0
        var isPaused = false
        /// The node is to be told once the peer has consumed its output.
        var awaitsRoom = false
        /// It is being hung up: nothing more is taken from it.
        var isEnding = false
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

    /// Whether the handshake is over.
    var isAuthenticated: Bool { state.withLock { $0.isAuthenticated } }

    /// What the peer has shown of its person's devices, and was proven.
    var peerIdentity: [[UInt8]] { state.withLock { $0.link.peer?.identity.encoded ?? [] } }

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
        let hasRoom = state.withLock { state in
            guard !state.isEnding else { return true }
            if state.unopened.isEmpty {
                state.unopened = bytes[...]
                return true
            }
            guard state.unopened.count + bytes.count <= Self.unopenedByteCountMax else {
                return false
            }
            state.unopened += bytes
            return true
        }
        // Only a connection that ends delivers so much unasked. The next link brings what is lost with it,
        // and no link may stand on which nothing is heard any more.
        guard hasRoom else { return hangUp() }
        open()
    }

    /// Opens what was read, as far as the node has room.
    private func open() {
        while true {
            guard let carrier = state.withLock({ $0.isEnding ? nil : $0.carrier }) else { return }
            guard mayBring(over: carrier) else { return pause(carrier) }
            do throws(LinkRejection) {
                guard let event = try nextEvent() else { return goOn(carrier) }
                handle(event, on: carrier)
            } catch {
                network.count(error)
                return carrier.close()
            }
        }
    }

    private func mayBring(over carrier: any LinkCarrier) -> Bool {
        guard state.withLock({ $0.isAuthenticated }) else { return true }
        return carrier.isWritable && inputs.hasRoom(for: .link(id))
    }

    private func nextEvent() throws(LinkRejection) -> LinkEvent? {
        let result: Result<LinkEvent?, LinkRejection> = state.withLock { state in
            // Moved out, so that nothing is copied.
            var rest = state.unopened
            state.unopened = []
            defer { state.unopened = rest }
            do throws(LinkRejection) {
                return .success(try state.link.next(&rest))
            } catch {
                rest = []
                return .failure(error)
            }
        }
        return try result.get()
    }

    private func pause(_ carrier: any LinkCarrier) {
        let isNews = state.withLock { state in
            defer { state.isPaused = true }
            return !state.isPaused
        }
        if isNews { carrier.pauseReading() }
    }

    private func goOn(_ carrier: any LinkCarrier) {
        let isNews = state.withLock { state in
            defer { state.isPaused = false }
            return state.isPaused
        }
        if isNews { carrier.resumeReading() }
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
            inputs.offer(.frame(id, frame))
        }
    }

    func becameWritable() {
        hold(false)
        open()
        if let carrier = state.withLock({ $0.carrier }) { tellIfRoom(on: carrier) }
    }

    private func tellIfRoom(on carrier: any LinkCarrier) {
        guard state.withLock({ $0.awaitsRoom }), carrier.awaitRoom() else { return }
        state.withLock { $0.awaitsRoom = false }
        inputs.offer(.roomOn(id))
    }

    func closed(_ reason: CloseReason) {
        let wasAuthenticated = state.withLock { state in
            (state.carrier, state.unopened) = (nil, [])
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
        let byteCount = frames.reduce(0) { $0 + $1.count }
        guard
            let carrier = state.withLock({ state in
                state.unsealedByteCount += byteCount
                return state.carrier
            })
        else { return }
        // Known at once, not only once the loop has come to it: the next batch makes no more for
        // a peer that does not read.
        if byteCount > 0 { holdIfFull(carrier) }
        carrier.perform {
            let bytes = self.state.withLock { state in
                state.unsealedByteCount -= byteCount
                return Self.seal(frames, &state)
            }
            carrier.send(bytes)
            if carrier.isWritable { self.holdIfFull(carrier) } else { self.hold(true) }
        }
    }

    /// Tells the node once the peer has consumed most of its output.
    func tellRoom() {
        guard let carrier = state.withLock({ $0.carrier }) else { return }
        // In sequence with earlier output, and with the carrier's own statements.
        carrier.perform {
            self.state.withLock { $0.awaitsRoom = true }
            self.tellIfRoom(on: carrier)
        }
    }

    private func holdIfFull(_ carrier: any LinkCarrier) {
        let unsealed = state.withLock { $0.unsealedByteCount }
        hold(unsealed + carrier.pendingByteCount > Self.unreadByteCountMax)
    }

    /// Accepts no frame from a peer that does not read its output, or resumes.
    private func hold(_ isHeld: Bool) {
        state.withLock { state in
            // Once the end was reported nobody would release it again.
            guard state.carrier != nil, !state.isEnding else { return }
            inputs.change { $0.hold(.link(id), isHeld) }
        }
    }

    private static func seal(_ frames: [[UInt8]], _ state: inout State) -> [UInt8] {
        let now = SystemClock.now.monotonic
        guard now > state.rekeyedAt + rekeyInterval else { return state.link.seal(frames) }
        state.rekeyedAt = now
        return state.link.rekey() + state.link.seal(frames)
    }

    /// Ends the connection after the pending output was sent. Received frames that wait are
    /// dropped.
    func hangUp() {
        let carrier = state.withLock { state -> (any LinkCarrier)? in
            guard let carrier = state.carrier else { return nil }
            (state.isEnding, state.unopened) = (true, [])
            // If the node was not told of a link, it is not told of its end.
            if state.isAuthenticated { inputs.change { $0.end(id) } }
            return carrier
        }
        carrier?.perform { carrier?.close() }
    }

    /// The peer is a person whom this node serves.
    func markKnown() { state.withLock { $0.carrier }?.markKnown() }

    /// There is room again: what was read is opened, and reading resumes.
    func resume() {
        guard let carrier = state.withLock({ $0.carrier }) else { return }
        carrier.perform { self.open() }
    }
}

extension LinkPeer {
    /// The description for the core of a peer that the handshake has proven.
    init(
        _ peer: AuthenticatedPeer, _ handshakeHash: [UInt8], isInitiator: Bool, isPiped: Bool
    ) {
        self.init(
            person: peer.person, root: Digest(reinterpreting: peer.identity.root),
            device: peer.device, identity: peer.identity.encoded, handshakeHash: handshakeHash,
            isInitiator: isInitiator, isPiped: isPiped)
    }
}
