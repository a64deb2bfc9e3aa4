import ParleyWire

/// The orders of a leg to the program for sound and pictures.
public enum MediaOrder: Equatable, Sendable {
    /// Make an offer; on a restart, gather candidates again.
    case makeOffer(startsAnew: Bool)
    /// Take this offer and answer it.
    case answer(String)
    /// Take this answer to the last offer.
    case take(String)
    /// Take this way.
    case add(Candidate)
    /// End the connection.
    case close
}

/// The news about a leg from the program for sound and pictures.
public enum MediaNews: Equatable, Sendable {
    /// The offer that was asked for.
    case offer(String)
    /// The answer that was asked for.
    case answer(String)
    /// A way to this device.
    case candidate(Candidate)
    /// Something is sent from now on that was not described.
    case wantsOffer
    /// The connection stands.
    case connected
    /// Nothing comes through.
    case disconnected
    /// No way is left.
    case failed
}

/// The connection between this device and another one of the same call, as far as it is talked
/// about: one value that is fed, and says what to do.
///
/// Of the two, the device with the lesser name makes every offer, so offers never cross; the other
/// one asks for an offer. Each offer has a number, by which what belongs to an older one is known
/// as stale. Source: `Protocol/11-calls.md`, "Legs".
public struct Leg: Equatable, Sendable {
    /// Its progress.
    public enum Phase: String, CaseIterable, Sendable {
        /// The other device shall make an offer.
        case awaitingOffer
        /// The program was asked for an offer.
        case preparingOffer
        /// The offer is out.
        case offered
        /// The program was asked to answer.
        case preparingAnswer
        /// Both know of each other; ways are tried.
        case described
        /// Sound and pictures go both ways.
        case connected
        /// Nothing comes through any more.
        case broken
        /// It was given up.
        case failed
    }

    /// Everything that can happen to it.
    public enum Event: Equatable, Sendable {
        /// The program tells something.
        case news(MediaNews)
        /// The other device says something.
        case received(LegSignal)
        /// ``deadline`` has passed.
        case patienceOver
    }

    /// The outputs.
    public enum Output: Equatable, Sendable {
        /// Tell the program.
        case media(MediaOrder)
        /// Tell the other device.
        case send(LegSignal)
        /// The connection stands, for the first time or again.
        case connected
        /// The connection is given up.
        case failed
    }

    /// How long a step of the talk, or the search for a way, may take, in milliseconds.
    public static let patience: UInt64 = 10_000
    /// How long nothing may come through before candidates are gathered again, in milliseconds.
    public static let grace: UInt64 = 2_000
    /// How often in a row candidates are gathered again.
    public static let renewalCountMax = 3
    /// Ways that wait for the description that they belong to.
    public static let waitingCountMax = 64

    /// Its progress.
    public private(set) var phase: Phase
    /// Whether this device makes the offers.
    public let offers: Bool
    /// When it has to be offered ``Event/patienceOver``, in milliseconds of the monotonic clock.
    public private(set) var deadline: UInt64?
    /// The number of the last offer; 0 before the first.
    public private(set) var offer: UInt64

    private struct Waiting: Equatable, Sendable {
        var offer: UInt64
        var candidate: Candidate
    }

    private var waiting: Queue<Waiting> = []
    /// Whether the program says that something comes through, whatever is being talked about.
    private var isUp = false
    private var renewalCount = 0
    /// An offer that is wanted while another one is in progress; whether it is a restart.
    private var wanted: Bool?
    private var startsAnew = false

    /// A leg to another device, with its first outputs.
    public static func begun(offers: Bool, at now: UInt64) -> (Leg, [Output]) {
        let leg = Leg(offers: offers, at: now)
        return (leg, offers ? [.media(.makeOffer(startsAnew: false))] : [])
    }

    private init(offers: Bool, at now: UInt64) {
        self.offers = offers
        phase = offers ? .preparingOffer : .awaitingOffer
        offer = offers ? 1 : 0
        deadline = now + Self.patience
    }

    /// Handles an event, and returns the outputs, in order.
    public mutating func handle(_ event: Event, at now: UInt64) -> [Output] {
        switch event {
        case .news(.offer(let description)): return made(description, at: now)
        case .news(.answer(let description)): return answered(description, at: now)
        case .news(.candidate(let candidate)): return found(candidate)
        case .news(.wantsOffer): return want(startsAnew: false, at: now)
        case .news(.connected): return connected()
        case .news(.disconnected): return disconnected(at: now)
        case .news(.failed): return failed(at: now)
        case .received(.offer(let number, _, let description)):
            return received(offer: number, description, at: now)
        case .received(.answer(let number, let description)):
            return received(answer: number, description, at: now)
        case .received(.candidate(let number, let candidate)):
            return received(candidate, for: number)
        case .received(.renegotiate(let startsAnew)):
            return offers ? want(startsAnew: startsAnew, at: now) : []
        case .patienceOver: return patienceOver(at: now)
        }
    }
}

// MARK: - Offer and answer

extension Leg {
    private mutating func made(_ description: String, at now: UInt64) -> [Output] {
        switch phase {
        case .preparingOffer:
            phase = .offered
            deadline = now + Self.patience
            return [.send(.offer(offer, startsAnew: startsAnew, description))]
        case .awaitingOffer, .offered, .preparingAnswer, .described, .connected, .broken, .failed:
            return []
        }
    }

    private mutating func answered(_ description: String, at now: UInt64) -> [Output] {
        switch phase {
        case .preparingAnswer:
            settle(at: now)
            return [.send(.answer(offer, description))]
        case .awaitingOffer, .preparingOffer, .offered, .described, .connected, .broken, .failed:
            return []
        }
    }

    private mutating func received(
        offer number: UInt64, _ description: String, at now: UInt64
    ) -> [Output] {
        guard !offers, number > offer else { return [] }
        switch phase {
        case .awaitingOffer, .preparingAnswer, .described, .connected, .broken:
            phase = .preparingAnswer
            offer = number
            deadline = now + Self.patience
            return [.media(.answer(description))] + release()
        case .preparingOffer, .offered, .failed:
            return []
        }
    }

    private mutating func received(
        answer number: UInt64, _ description: String, at now: UInt64
    ) -> [Output] {
        guard number == offer else { return [] }
        switch phase {
        case .offered:
            settle(at: now)
            let outputs = [.media(.take(description))] + release()
            guard let startsAnew = wanted else { return outputs }
            return outputs + makeOffer(startsAnew: startsAnew, at: now)
        case .awaitingOffer, .preparingOffer, .preparingAnswer, .described, .connected, .broken,
            .failed:
            return []
        }
    }

    /// Both descriptions are present.
    private mutating func settle(at now: UInt64) {
        phase = isUp ? .connected : .described
        deadline = isUp ? nil : now + Self.patience
    }

    private mutating func makeOffer(startsAnew: Bool, at now: UInt64) -> [Output] {
        phase = .preparingOffer
        offer += 1
        wanted = nil
        self.startsAnew = startsAnew
        deadline = now + Self.patience
        return [.media(.makeOffer(startsAnew: startsAnew))]
    }

    /// An offer is wanted: the sent media have changed, or candidates are to be gathered again.
    private mutating func want(startsAnew: Bool, at now: UInt64) -> [Output] {
        switch phase {
        case .described, .connected, .broken:
            return offers
                ? makeOffer(startsAnew: startsAnew, at: now)
                : [.send(.renegotiate(startsAnew: startsAnew))]
        case .preparingOffer, .offered:
            wanted = startsAnew || wanted == true
            return []
        case .preparingAnswer:
            return [.send(.renegotiate(startsAnew: startsAnew))]
        case .awaitingOffer, .failed:
            return []
        }
    }
}

// MARK: - Ways

extension Leg {
    private func found(_ candidate: Candidate) -> [Output] {
        switch phase {
        case .preparingOffer, .offered, .preparingAnswer, .described, .connected, .broken:
            [.send(.candidate(offer, candidate))]
        case .awaitingOffer, .failed:
            []
        }
    }

    private mutating func received(_ candidate: Candidate, for number: UInt64) -> [Output] {
        switch phase {
        case .preparingAnswer, .described, .connected, .broken:
            if number == offer { return [.media(.add(candidate))] }
            wait(candidate, for: number)
        case .awaitingOffer, .preparingOffer, .offered:
            wait(candidate, for: number)
        case .failed:
            break
        }
        return []
    }

    private mutating func wait(_ candidate: Candidate, for number: UInt64) {
        // Nobody answers an offer that was not made.
        guard number >= offer, !offers || number == offer else { return }
        waiting.append(Waiting(offer: number, candidate: candidate))
        if waiting.count > Self.waitingCountMax { waiting.dropOldest() }
    }

    /// What waited for the description that came now.
    private mutating func release() -> [Output] {
        let ready = waiting.filter { $0.offer == offer }
        waiting.removeAll { $0.offer <= offer }
        return ready.map { .media(.add($0.candidate)) }
    }

    private mutating func connected() -> [Output] {
        switch phase {
        case .described, .broken:
            phase = .connected
            deadline = nil
        case .offered, .preparingOffer, .preparingAnswer:
            break
        case .connected, .awaitingOffer, .failed:
            return []
        }
        renewalCount = 0
        let wasUp = isUp
        isUp = true
        return wasUp ? [] : [.connected]
    }

    private mutating func disconnected(at now: UInt64) -> [Output] {
        isUp = false
        switch phase {
        case .connected:
            phase = .broken
            deadline = now + Self.grace
        case .awaitingOffer, .preparingOffer, .offered, .preparingAnswer, .described, .broken,
            .failed:
            break
        }
        return []
    }

    private mutating func failed(at now: UInt64) -> [Output] {
        isUp = false
        switch phase {
        case .described, .connected, .broken:
            return renew(at: now)
        case .awaitingOffer, .preparingOffer, .offered, .preparingAnswer, .failed:
            return []
        }
    }

    private mutating func patienceOver(at now: UInt64) -> [Output] {
        switch phase {
        case .awaitingOffer, .preparingOffer, .offered, .preparingAnswer, .described, .broken:
            return renew(at: now)
        case .connected, .failed:
            return []
        }
    }

    /// Gathers candidates again, or gives up.
    private mutating func renew(at now: UInt64) -> [Output] {
        renewalCount += 1
        // While something comes through, a talk that leads nowhere is no reason to end it.
        guard renewalCount <= Self.renewalCountMax || isUp else {
            phase = .failed
            deadline = nil
            return [.media(.close), .failed]
        }
        guard !offers else { return makeOffer(startsAnew: true, at: now) }
        if phase == .connected { phase = .broken }
        deadline = now + Self.patience
        return [.send(.renegotiate(startsAnew: true))]
    }
}
