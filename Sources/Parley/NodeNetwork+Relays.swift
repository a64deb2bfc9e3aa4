import Logging
import ParleyNodeCore
import ParleySealing
import ParleyTransport
import ParleyWire
import Synchronization

/// An attempt to reach a relay, and the resulting connection.
final class RelayCall: Sendable {
    private struct State {
        var driver: RelayDriver?
        var task: Task<Void, Never>?
        var isAbandoned = false
    }
    private let state = Mutex(State())

    /// The connection, once it stands.
    var driver: RelayDriver? { state.withLock { $0.driver } }

    func begin(_ task: Task<Void, Never>) {
        let isAbandoned = state.withLock { state in
            state.task = task
            return state.isAbandoned
        }
        if isAbandoned { task.cancel() }
    }

    /// Passes on the events of a connection, and records it once it is established.
    ///
    /// Under the lock: once ``abandon()`` returned, nothing of this connection is passed on any
    /// more. Otherwise a late event would be taken for one of the next connection, and its
    /// establishment could follow the report that there is none.
    ///
    /// - Returns: whether the connection is still wanted.
    func tell(_ news: RelayNews, of driver: RelayDriver, to inputs: (RelayNews) -> Void) -> Bool {
        state.withLock { state in
            guard !state.isAbandoned else { return false }
            if case .opened = news { state.driver = driver }
            inputs(news)
            return true
        }
    }

    /// Ends it; the core is told.
    func end() { driver?.end() }

    /// Returns once all that was asked so far is on its way.
    func hasAsked() async { await driver?.hasAsked() }

    /// Ends it; nobody is told.
    func abandon() {
        let (driver, task) = state.withLock { state in
            state.isAbandoned = true
            return (state.driver, state.task)
        }
        task?.cancel()
        driver?.abandon()
    }
}

/// Relays: connections for the core, and pipes for links.
extension NodeNetwork {
    func callRelay(_ relay: NoiseKey, at addresses: [String]) {
        let call = RelayCall()
        let before: RelayCall? = state.withLock { state in
            guard !state.isClosing else { return nil }
            defer { state.relays[relay] = call }
            return state.relays[relay]
        }
        before?.abandon()
        guard !isOffline else { return inputs.offer(.relay(relay, .closed)) }
        call.begin(
            Task { [weak self] in
                guard let self else { return }
                let inputs = inputs
                let driver = await connect(to: relay, at: addresses) { driver, news in
                    // The core asks as soon as it hears of it.
                    let isWanted = call.tell(news, of: driver) { inputs.offer(.relay(relay, $0)) }
                    if !isWanted { driver.abandon() }
                    return inputs.hasRoom(for: .relay(relay))
                }
                if driver == nil, !Task.isCancelled { inputs.offer(.relay(relay, .closed)) }
            })
    }

    func askRelay(_ relay: NoiseKey, _ request: MailboxRequest) {
        state.withLock { $0.relays[relay] }?.driver?.ask(request)
    }

    func leaveRelay(_ relay: NoiseKey) {
        state.withLock { $0.relays.removeValue(forKey: relay) }?.abandon()
    }

    func loseRelay(_ relay: NoiseKey) { state.withLock { $0.relays[relay] }?.end() }

    /// Connects to a relay at the first address that answers.
    private func connect(
        to relay: NoiseKey, at addresses: [String],
        told: @escaping @Sendable (RelayDriver, RelayNews) -> Bool
    ) async -> RelayDriver? {
        var isMistaken = false
        defer {
            state.withLock { state in
                if isMistaken { state.mistaken.insert(relay) } else { state.mistaken.remove(relay) }
            }
        }
        for text in addresses {
            // An invalid address is skipped.
            guard !Task.isCancelled, let endpoint = try? Endpoint(text) else { continue }
            let (stream, continuation) = AsyncStream.makeStream(of: Bool.self)
            let driver = RelayDriver(
                relay, network: network, told: told,
                admitted: { [weak self] in self?.admit($0) ?? false },
                left: { [weak self] in self?.left($0) }
            ) { [weak self] in
                guard let self, !isOffline else { return nil }
                return responder()
            } refused: { [weak self] in
                self?.count($0)
            } finished: { succeeded in
                continuation.yield(succeeded)
                continuation.finish()
            }
            do {
                try await transport.dial(endpoint, within: Self.dialTimeMax, handler: driver)
            } catch {
                logger.debug(
                    "a relay was not reached",
                    metadata: ["address": "\(endpoint)", "error": "\(error)"])
                continue
            }
            for await succeeded in stream where succeeded {
                isMistaken = false
                return driver
            }
            // It went away before the handshake was over: it has not the key, or is no relay.
            isMistaken = true
        }
        return nil
    }

    /// Whether somebody answered at the address of a relay, when it was last called, who did not show
    /// that they are it.
    func isMistaken(_ relay: NoiseKey) -> Bool { mistakenRelays.contains(relay) }

    /// All relays of which that is so.
    var mistakenRelays: Set<NoiseKey> { state.withLock { $0.mistaken } }

    // MARK: Pipes

    /// Links to a device through a relay.
    func reach(_ target: DialTarget, through mailbox: CardMailbox) async -> Bool {
        let kept = state.withLock { $0.relays[mailbox.relay] }?.driver
        let relay: RelayDriver
        var isLent = false
        if let kept, kept.isOpen {
            relay = kept
        } else {
            guard
                let fresh = await connect(
                    to: mailbox.relay, at: mailbox.addresses, told: { _, _ in true })
            else { return false }
            relay = fresh
            isLent = true
        }
        let isLinked = await link(to: target, mailbox, through: relay)
        guard isLent else { return isLinked }
        // Made for this link alone: it goes with it.
        if isLinked { relay.endWithPipes() } else { relay.abandon() }
        return isLinked
    }

    private func link(
        to target: DialTarget, _ mailbox: CardMailbox, through relay: RelayDriver
    ) async -> Bool {
        let pipe: UInt32? = await withCheckedContinuation { continuation in
            relay.call(mailbox) { continuation.resume(returning: $0) }
        }
        guard let pipe else { return false }
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
        relay.run(driver, through: pipe)
        for await succeeded in stream { return succeeded }
        return false
    }
}
