/// How patient this device is with a relay: when it calls it again, and when it asks it again.
///
/// Owns how often in a row calls failed, connections ended early, and the relay had no time.
/// Anything about one connection is forgotten with it.
/// Source: `Protocol/06-relay.md`, "What a relay refuses".
struct RelayPace: Sendable {
    /// 1 s, 2 s, 4 s … 5 min between calls.
    static let callBackoff = Backoff(first: 1_000, max: 300_000)
    /// 1 s, 2 s, 4 s … 5 min at least, each time that the relay has no time.
    static let busyBackoff = Backoff(first: 500, max: 300_000)
    /// The longest that a relay may ask for patience, in milliseconds.
    static let restMax: UInt64 = 3_600_000
    /// A connection that ended sooner than this, in milliseconds, was of little use.
    static let usefulTime: UInt64 = 30_000
    /// So many of these in a row may be bad luck, and are made up for at once.
    static let shortCountMax: UInt64 = 3

    /// How many calls in a row failed.
    private(set) var failureCount: UInt64 = 0
    /// How many connections in a row ended soon after they had come about.
    private var shortCount: UInt64 = 0
    /// When the connection was established, on the monotonic clock; nil if there is none.
    private var openedAt: UInt64?
    /// The relay wants to be left alone until this moment of the monotonic clock.
    private(set) var busyUntil: UInt64 = 0
    /// How often in a row it had no time.
    private var busyCount: UInt64 = 0
    /// It said goodbye, and may be back after so many milliseconds.
    private var absence: UInt64?

    /// Whether the relay said goodbye on this connection: one that ends then has not failed.
    var hasSaidGoodbye: Bool { absence != nil }

    /// Whether the relay is left alone.
    ///
    /// - Parameter now: on the monotonic clock, in milliseconds.
    func isBusy(at now: UInt64) -> Bool { now < busyUntil }

    /// Notes that a connection stands.
    mutating func open(at now: UInt64) {
        forgetConnection()
        failureCount = 0
        openedAt = now
    }

    /// Notes that a connection ended, or that a call failed.
    ///
    /// - Parameter placeFailureCount: of the place that is tried next: another person's word may be
    ///   tried sooner than one that failed often.
    /// - Returns: how long to wait before the next call, in milliseconds: the backoff and up to a
    ///   quarter more; not before a relay that said goodbye may be back, up to 5 min. A relay that
    ///   accepts each call and soon hangs up, though it fails at none, is called after 2 s, 4 s …
    ///   64 s from the fourth time on: the requests at the beginning cost both sides.
    mutating func close(
        at now: UInt64, placeFailureCount: UInt64,
        using random: inout some RandomNumberGenerator
    ) -> UInt64 {
        if !hasSaidGoodbye, let openedAt {
            shortCount = now < openedAt + Self.usefulTime ? shortCount + 1 : 0
        }
        let unlucky = min(shortCount - min(shortCount, Self.shortCountMax), 6)
        let delay = Self.callBackoff.delay(
            after: max(min(failureCount, placeFailureCount), unlucky))
        let least = min(max(delay, absence ?? 0), Self.callBackoff.max)
        if !hasSaidGoodbye { failureCount += 1 }
        forgetConnection()
        return least + random.next() % (least / 4)
    }

    /// Forgets how often calls failed: there may be a way now where there was none.
    mutating func forgive() {
        failureCount = 0
        shortCount = 0
    }

    /// Notes that the relay goes away, and may be back after so many milliseconds.
    mutating func noteGoodbye(for absence: UInt64) { self.absence = absence }

    /// Leaves the relay alone until a moment of the monotonic clock.
    mutating func pause(until moment: UInt64) { busyUntil = moment }

    /// Notes that the relay has no time: for as long as it says, and at least its backoff. Requests
    /// made together and refused together count once.
    ///
    /// - Returns: how long that is, in milliseconds.
    mutating func rest(for delay: UInt64, at now: UInt64) -> UInt64 {
        if !isBusy(at: now) { busyCount += 1 }
        let least = Self.busyBackoff.delay(after: busyCount)
        busyUntil = max(busyUntil, now + max(least, min(delay, Self.restMax)))
        return busyUntil - now
    }

    /// Notes that the relay did what takes it time.
    mutating func noteWork(at now: UInt64) {
        if !isBusy(at: now) { busyCount = 0 }
    }

    private mutating func forgetConnection() {
        openedAt = nil
        busyUntil = 0
        busyCount = 0
        absence = nil
    }
}
