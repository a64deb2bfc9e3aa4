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
final class RecoveryCall: ConnectionHandler {
    /// What one call is given.
    private static let patience: Duration = .seconds(10)

    private struct State {
        var link: Link
        var connection: Connection?
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
            for text in target.addresses {
                // An invalid address in a card is skipped.
                guard let endpoint = try? Endpoint(text),
                    let link = link(to: target, code, network)
                else { continue }
                let (isReached, found) = await call(
                    endpoint, link, for: code.rootKey.device, by: transport)
                wasReached = wasReached || isReached
                guard let found else { continue }
                await transport.shutdown()
                return (found, true)
            }
        }
        await transport.shutdown()
        return (nil, wasReached)
    }

    private static func call(
        _ endpoint: Endpoint, _ link: Link, for root: DeviceID, by transport: Transport
    ) async -> (isReached: Bool, card: Card?) {
        let (stream, continuation) = AsyncStream.makeStream(of: Card?.self)
        let call = RecoveryCall(link: link, root: root, answer: continuation)
        do {
            try await transport.dial(endpoint, within: patience, handler: call)
        } catch { return (false, nil) }
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

    func opened(_ connection: Connection) {
        let first = state.withLock { state in
            state.connection = connection
            return state.link.start()
        }
        connection.send(first)
    }

    func received(_ bytes: [UInt8]) {
        let events: [LinkEvent]? = state.withLock { state in
            // Why it ends here is of no use to anybody: the next address is tried.
            try? state.link.receive(bytes[...])
        }
        guard let connection = state.withLock({ $0.connection }) else { return }
        guard let events else { return connection.close() }
        for event in events {
            switch event {
            case .send(let bytes): connection.send(bytes)
            case .authenticated:
                state.withLock { $0.isProven = true }
                connection.markAuthenticated()
            case .frame(let frame):
                if let card = card(in: frame) { return finish(card, connection) }
            }
        }
    }

    private func finish(_ card: Card, _ connection: Connection) {
        answer.yield(card)
        answer.finish()
        connection.close()
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
        state.withLock { $0.connection = nil }
        answer.yield(nil)
        answer.finish()
    }
}
