import ParleyNodeCore
import ParleySealing
import ParleyTransport
import ParleyWire

/// One look for an inviter's card on a relay, by a guest who has no node yet: nothing is written,
/// and the relay is told no name.
enum CardCall {
    /// What one address is given.
    private static let patience: Duration = .seconds(10)

    /// The result.
    enum Outcome {
        case found(Card)
        /// The relay answered, and the card does not lie there.
        case absent
        /// No relay with that key answered.
        case unreached
    }

    /// The inviter's card.
    static func card(for invite: Invite, network: NetworkID) async -> Outcome {
        guard case .relay(let relay, let addresses) = invite.place else { return .absent }
        let transport = Transport()
        var outcome = Outcome.unreached
        for text in addresses {
            // An invalid address in an invite is skipped.
            guard let endpoint = try? Endpoint(text) else { continue }
            outcome = await card(for: invite, on: relay, at: endpoint, network, by: transport)
            // It is one relay, whichever way leads there.
            guard case .unreached = outcome else { break }
        }
        await transport.shutdown()
        return outcome
    }

    private static func card(
        for invite: Invite, on relay: NoiseKey, at endpoint: Endpoint, _ network: NetworkID,
        by transport: Transport
    ) async -> Outcome {
        guard let request = invite.cardRequest(number: 1) else { return .absent }
        let (news, continuation) = AsyncStream.makeStream(of: RelayNews.self)
        let driver = RelayDriver(
            relay, network: network,
            told: { _, news in
                continuation.yield(news)
                return true
            },
            admitted: { _ in true },
            left: { _ in continuation.finish() },
            answerer: { nil },
            refused: { _ in },
            finished: { _ in })
        do {
            try await transport.dial(endpoint, within: patience, handler: driver)
        } catch { return .unreached }
        let timer = Task {
            // Cancelled as soon as there is an answer.
            try? await Task.sleep(for: patience)
            continuation.finish()
        }
        defer {
            timer.cancel()
            driver.abandon()
        }
        for await each in news {
            switch each {
            case .opened: driver.ask(request)
            case .answered(_, .entries(let entries, _, _)):
                return invite.card(in: entries).map(Outcome.found) ?? .absent
            case .answered: return .absent
            case .closed: return .unreached
            case .arrived, .passed, .missed, .day, .leaving: continue
            }
        }
        return .unreached
    }
}
