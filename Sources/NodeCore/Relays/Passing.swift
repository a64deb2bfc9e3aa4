import ParleySealing
import ParleyWire

/// Signals that relays carry and nobody stores.
///
/// Owns signals that wait for a connection to a relay, for as long as they are of use; recent ones,
/// so that a relay gains nothing by repeating them; and how much each relay may deliver. All of it
/// is bounded, and in memory only.
/// Source: `Protocol/06-relay.md`, "Signals".
struct Passing: Sendable {
    /// A signal that waits for a relay. It is sealed only then.
    struct Waiting: Sendable {
        let signal: [UInt8]
        let device: DeviceID
        let person: PersonID
        /// When it was made, on the monotonic clock and in Unix milliseconds.
        let since: Instant
    }

    /// A signal is of use for so many milliseconds.
    static let lifetime: UInt64 = 10_000
    /// Signals that wait for a relay, or for its answer.
    static let waitingCountMax = 32
    /// What one that comes costs, in units of ``Allowance``.
    static let work: UInt64 = 100
    /// How much a relay may deliver at once, and per second, in the same units.
    static let burst: UInt64 = 32_000
    /// How much of envelopes that open with no key is looked at at once, and per second: a tenth of a
    /// processor.
    static let (junkBurst, junkRate): (UInt64, UInt64) = (20_000, 10_000)
    /// Signals that are known again: more than a relay may bring within their time.
    static let knownCountMax = 4_096

    /// Signals that wait for a relay, the oldest first.
    private var waiting: [NoiseKey: [Waiting]] = [:]
    private var known = RecentSet<Digest>(limit: knownCountMax)
    /// How much each relay may bring that costs a look, letters included.
    private var allowances: [NoiseKey: Allowance] = [:]
    /// How much of what opens with no key each may bring into drops.
    private var junk: [NoiseKey: Allowance] = [:]
    /// How many signals came through relays, and were taken.
    private(set) var takenCount: UInt64 = 0

    /// Queues a signal for a relay; if there are too many the oldest is dropped, because the newest
    /// counts.
    mutating func enqueue(_ signal: Waiting, for relay: NoiseKey) {
        // What waited for others that were never reached is forgotten with its time.
        if waiting[relay] == nil {
            waiting = waiting.mapValues { fresh($0, at: signal.since) }.filter { !$0.value.isEmpty }
        }
        let queue = fresh(waiting[relay] ?? [], at: signal.since)
        waiting[relay] = queue.suffix(Self.waitingCountMax - 1) + [signal]
    }

    /// Takes the signals that wait for a relay and are still of use, the oldest first.
    mutating func takeWaiting(for relay: NoiseKey, at now: Instant) -> [Waiting] {
        fresh(waiting.removeValue(forKey: relay) ?? [], at: now)
    }

    /// How many signals wait for a relay.
    func waitingCount(for relay: NoiseKey) -> Int { waiting[relay]?.count ?? 0 }

    /// Takes one more thing into account that a relay brings: as much as eight persons may send, for it
    /// is opened before it is known whose it is. Letters leave half of what there is at once to signals,
    /// which are of use now or never.
    ///
    /// - Returns: whether it may be opened.
    mutating func takeOpening(from relay: NoiseKey, isLetter: Bool, at now: Instant) -> Bool {
        allowances[relay, default: Allowance()].take(
            Self.work, at: now.monotonic,
            .init(burst: isLetter ? Self.burst / 2 : Self.burst, perSecond: Self.burst),
            orDropFor: 0) == .fine
    }

    /// Charges a relay for what it brought.
    mutating func spend(_ work: UInt64, by relay: NoiseKey) {
        allowances[relay, default: Allowance()].spend(work)
    }

    /// Takes an envelope into account that opens with no key. It is charged beside letters and signals:
    /// who fills one drop with such is not to keep them from the others.
    ///
    /// - Returns: whether what lies behind it may be looked at now.
    mutating func takeJunk(_ work: UInt64, by relay: NoiseKey, at now: Instant) -> Bool {
        junk[relay, default: Allowance()].take(
            work, at: now.monotonic, .init(burst: Self.junkBurst, perSecond: Self.junkRate),
            orDropFor: 0) == .fine
    }

    /// Whether a signal came lately, by its hash.
    func isKnown(_ name: Digest) -> Bool { known.contains(name) }

    /// Notes a signal that was taken.
    mutating func noteTaken(_ name: Digest) {
        known.insert(name)
        takenCount += 1
    }

    private func fresh(_ waiting: [Waiting], at now: Instant) -> [Waiting] {
        waiting.filter { now.monotonic < $0.since.monotonic + Self.lifetime }
    }
}
