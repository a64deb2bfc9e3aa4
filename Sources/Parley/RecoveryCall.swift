import ParleyNodeCore
import ParleySealing
import ParleyTransport
import ParleyWire
import Synchronization

/// One call to somebody who may know the person that a recovery code belongs to.
///
/// It shows an identity that the root key founded for this call alone, so that nothing is written
/// before the newest identity log is known: two operations of the root at one place would look as
/// if the code were in two hands.
final class RecoveryCall: ConnectionHandler, PipedEnd {
    /// What one call is given.
    private static let patience: Duration = .seconds(10)

    private struct State {
        var link: Link
        var carrier: (any LinkCarrier)?
        /// The answering device has proven that it is the one that was called.
        var isProven = false
    }

    private let state: Mutex<State>
    private let root: DeviceID
    private let answer: AsyncStream<Card?>.Continuation

    private init(link: Link, root: DeviceID, answer: AsyncStream<Card?>.Continuation) {
        state = Mutex(State(link: link))
        self.root = root
        self.answer = answer
    }

    /// The card of the person whose root key this code makes, from the first who shows it.
    ///
    /// - Parameter targets: devices of somebody who knows the person, or the person's own others.
    static func ask(
        _ targets: [DialTarget], _ code: RecoveryCode, network: NetworkID
    ) async -> (card: Card?, wasReached: Bool) {
        let transport = Transport()
        var wasReached = false
        for target in targets {
            let (isReached, found) = await ask(target, code, network, by: transport)
            wasReached = wasReached || isReached
            guard let found else { continue }
            await transport.shutdown()
            return (found, true)
        }
        await transport.shutdown()
        return (nil, wasReached)
    }

    /// Asks one device: directly where that leads to it, else through its relays.
    private static func ask(
        _ target: DialTarget, _ code: RecoveryCode, _ network: NetworkID, by transport: Transport
    ) async -> (isReached: Bool, card: Card?) {
        let root = code.rootKey.device
        for text in target.addresses {
            // An invalid address in a card is skipped.
            guard let endpoint = try? Endpoint(text), let link = link(to: target, code, network)
            else { continue }
            let answer = await answer(over: link, for: root) { call in
                do {
                    try await transport.dial(endpoint, within: patience, handler: call)
                    return true
                } catch { return false }
            }
            if answer.isReached { return answer }
        }
        for mailbox in target.mailboxes {
            guard let relay = await guest(of: mailbox, network, by: transport) else { continue }
            defer { relay.abandon() }
            let pipe: UInt32? = await withCheckedContinuation { continuation in
                relay.call(mailbox) { continuation.resume(returning: $0) }
            }
            guard let pipe, let link = link(to: target, code, network) else { continue }
            let answer = await answer(over: link, for: root) { call in
                relay.run(call, through: pipe)
                return true
            }
            if answer.isReached { return answer }
        }
        return (false, nil)
    }

    /// A connection to the relay of a mailbox, at the first address that leads there.
    private static func guest(
        of mailbox: CardMailbox, _ network: NetworkID, by transport: Transport
    ) async -> RelayDriver? {
        for text in mailbox.addresses {
            // An invalid address in a card is skipped.
            guard let endpoint = try? Endpoint(text) else { continue }
            let (stream, continuation) = AsyncStream.makeStream(of: Bool.self)
            let relay = RelayDriver(
                mailbox.relay, network: network,
                told: { _, _ in true },
                admitted: { _ in true },
                left: { _ in continuation.finish() },
                answerer: { nil },
                refused: { _ in },
                finished: { continuation.yield($0) })
            do {
                try await transport.dial(endpoint, within: patience, handler: relay)
            } catch { continue }
            for await isOpen in stream {
                if isOpen { return relay }
                break
            }
        }
        return nil
    }

    private static func answer(
        over link: Link, for root: DeviceID, dial: (RecoveryCall) async -> Bool
    ) async -> (isReached: Bool, card: Card?) {
        let (stream, continuation) = AsyncStream.makeStream(of: Card?.self)
        let call = RecoveryCall(link: link, root: root, answer: continuation)
        guard await dial(call) else { return (false, nil) }
        let timer = Task {
            // Cancelled as soon as there is an answer.
            try? await Task.sleep(for: patience)
            continuation.finish()
        }
        defer { timer.cancel() }
        var card: Card?
        for await found in stream {
            card = found
            break
        }
        // Anybody may have that address now.
        return (call.state.withLock(\.isProven), card)
    }

    private static func link(
        to target: DialTarget, _ code: RecoveryCode, _ network: NetworkID
    ) -> Link? {
        var random = SystemRandom()
        let key = DeviceSigningKey.generate(using: &random)
        let noise = DeviceNoiseKey.generate(using: &random)
        guard
            // Founding takes nothing that could be refused.
            let identity = try? IdentityLog.founded(
                root: code.rootKey, device: key, noiseKey: noise.publicKey,
                time: SystemClock.now.wall, using: &random)
        else { return nil }
        return Link(
            initiatorTo: target.noiseKey, expecting: target.device,
            credentials: LinkCredentials(
                person: identity.person, device: key.device, noiseKey: noise,
                identity: identity.encoded),
            network: network, using: &random)
    }

    // MARK: The transport's side

    var isAuthenticated: Bool { state.withLock(\.isProven) }

    func opened(_ connection: Connection) { opened(over: connection) }

    func opened(over carrier: any LinkCarrier) {
        let first = state.withLock { state in
            state.carrier = carrier
            return state.link.start()
        }
        carrier.send(first)
    }

    func received(_ bytes: [UInt8]) {
        let events: [LinkEvent]? = state.withLock { state in
            // Why it ends here is of no use to anybody: the next address is tried.
            try? state.link.receive(bytes[...])
        }
        guard let carrier = state.withLock({ $0.carrier }) else { return }
        guard let events else { return carrier.close() }
        for event in events {
            switch event {
            case .send(let bytes): carrier.send(bytes)
            case .authenticated:
                state.withLock { $0.isProven = true }
                carrier.markAuthenticated()
            case .frame(let frame):
                if let card = card(in: frame) { return finish(card, carrier) }
            }
        }
    }

    private func finish(_ card: Card, _ carrier: any LinkCarrier) {
        answer.yield(card)
        answer.finish()
        carrier.close()
    }

    /// The card in a frame, if it is of the person with this root key, and every part of it is
    /// valid.
    private func card(in frame: [UInt8]) -> Card? {
        // Anything else is not what was requested.
        guard case .introduce(let introduction)? = try? Frame.decode(frame),
            // As above.
            let card = try? Card(bytes: introduction.card),
            // As above.
            let identity = try? IdentityLog(operations: card.identity),
            identity.root == root, identity.person == card.person
        else { return nil }
        // As above.
        return try? card.verified(by: identity)
    }

    func becameWritable() {}

    func closed(_ reason: CloseReason) {
        state.withLock { $0.carrier = nil }
        answer.yield(nil)
        answer.finish()
    }
}
