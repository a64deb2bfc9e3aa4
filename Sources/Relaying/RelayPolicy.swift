import ParleyWire

/// The limits of a relay. Its operator may set each.
/// Source: `Protocol/06-relay.md`, "Bounds".
public struct RelayPolicy: Equatable, Sendable {
    /// Whether mailboxes are only made for tickets.
    public var needsTicket = false
    /// How long a mailbox lives without being opened again, in milliseconds.
    public var mailboxLifetime: UInt64 = 30 * day
    /// A mailbox with no more left than this lives on when it is opened.
    public var mailboxRenewal: UInt64 = 7 * day
    /// Bytes of envelopes in a mailbox for which no ticket says otherwise.
    public var mailboxByteCountMax: UInt64 = 64 << 20
    /// Bytes of envelopes in a shelf for which no ticket says otherwise.
    public var shelfByteCountMax: UInt64 = 256 << 20
    /// How long an envelope is kept, in milliseconds.
    public var envelopeLifetime: UInt64 = 30 * day

    /// Connections from one address.
    public var originConnectionCountMax = 64
    /// Mailboxes that the connections of one address are told of together: 128 for each.
    public var originSubscriptionCountMax = 8_192
    /// Mailboxes that all connections are told of together: some 200 MiB in memory.
    public var subscriptionCountMax = 1 << 20
    /// Requests of one connection: at once, and a second in the long run. Of one address four
    /// times as many.
    public var requests = Rate(burst: 4096, perSecond: 256)
    /// Bytes of one connection. Of one address four times as many.
    public var bytes = Rate(burst: 64 << 20, perSecond: 4 << 20)
    /// Frames of one connection that ask for nothing: pings, and those about pipes that bring
    /// little. Of one address four times as many.
    public var frames = Rate(burst: 2_048, perSecond: 1_024)
    /// Bytes that one connection is given, in pages and pushes. To one address four times as many.
    public var giving = Rate(burst: 128 << 20, perSecond: 4 << 20)
    /// Mailboxes opened from one address.
    public var openings = Rate(burst: 2048, perSecond: 1)
    /// Bytes of envelopes that one address may have stored: at once, and a second in the long run,
    /// which is 112 MiB an hour. Where every mailbox takes a ticket, tickets alone bound it.
    public var storing = Rate(burst: 256 << 20, perSecond: 32 << 10)
    /// Pipes that one address may have offered to others.
    public var calls = Rate(burst: 64, perSecond: 1)
    /// How long a client may be silent, in milliseconds.
    public var silenceMax: UInt64 = 5 * 60_000
    /// Whether clients that cannot reach each other are joined.
    public var hasPipes = true
    /// How long a caller waits for the owner of an inbox, in milliseconds.
    public var callLifetime: UInt64 = 10_000

    /// The usual bounds.
    public init() {}

    /// Takes from one address whatever comes: for measuring, and for relays among friends.
    public static var unbounded: RelayPolicy {
        var policy = RelayPolicy()
        let rate = Rate(burst: 1 << 40, perSecond: 1 << 40)
        policy.originConnectionCountMax = .max
        policy.originSubscriptionCountMax = .max
        policy.requests = rate
        policy.bytes = rate
        policy.frames = rate
        policy.giving = rate
        policy.openings = rate
        policy.storing = rate
        policy.calls = rate
        return policy
    }

    /// A day in milliseconds.
    public static let day: UInt64 = 24 * 3_600_000

    /// On what terms the owner with this right makes a mailbox.
    func terms(for right: MailboxRight) -> MailboxTerms {
        let isShelf = right == .shelf
        return MailboxTerms(
            needsTicket: needsTicket, lifetime: mailboxLifetime, renewal: mailboxRenewal,
            byteCountMax: max(
                isShelf ? shelfByteCountMax : mailboxByteCountMax,
                UInt64(Limits.envelopeByteCountMax)), isShelf: isShelf)
    }

    /// So much at once, and so much a second in the long run.
    public struct Rate: Equatable, Sendable {
        /// What may come at once.
        public var burst: Int
        /// What may come every second.
        public var perSecond: Int

        /// A rate with these fields.
        public init(burst: Int, perSecond: Int) {
            self.burst = burst
            self.perSecond = perSecond
        }
    }
}

/// A token bucket. The clock is passed in; where it goes back, nothing is refilled.
struct Allotment: Sendable {
    private let rate: RelayPolicy.Rate
    /// In thousandths, so that milliseconds give whole numbers.
    private var left: Int
    private var at: UInt64

    init(_ rate: RelayPolicy.Rate, times factor: Int = 1, at now: UInt64) {
        self.rate = RelayPolicy.Rate(
            burst: rate.burst * factor, perSecond: max(1, rate.perSecond * factor))
        left = self.rate.burst * 1000
        self.at = now
    }

    /// Whether it is full.
    mutating func isFull(at now: UInt64) -> Bool {
        refill(now)
        return left == rate.burst * 1000
    }

    /// Takes so much, even where that is more than is left.
    ///
    /// - Parameter debtTime: no more is owed than comes back in so many milliseconds.
    /// - Returns: milliseconds until that much is available again; 0 if it was.
    mutating func take(_ amount: Int, owingAtMost debtTime: Int? = nil, at now: UInt64) -> UInt32 {
        let wait = shortage(of: amount, at: now)
        left -= amount * 1000
        if let debtTime { left = max(left, -rate.perSecond * debtTime) }
        return wait
    }

    /// Gives back what was taken and not used.
    mutating func giveBack(_ amount: Int) { left = min(rate.burst * 1000, left + amount * 1000) }

    /// Milliseconds until that much is available; 0 if it is.
    ///
    /// - Parameter leavesQuarter: whether a quarter of all is to stay for others.
    mutating func shortage(
        of amount: Int, leavesQuarter: Bool = false, at now: UInt64
    ) -> UInt32 {
        refill(now)
        // What costs nothing needs no room to be left either.
        let spare = leavesQuarter && amount > 0 ? rate.burst / 4 : 0
        let missing = min(amount + spare, rate.burst) * 1000 - left
        return missing <= 0 ? 0 : UInt32(clamping: (missing + rate.perSecond - 1) / rate.perSecond)
    }

    private mutating func refill(_ now: UInt64) {
        if now > at {
            let (gained, overflows) = Int(clamping: now - at)
                .multipliedReportingOverflow(by: rate.perSecond)
            let full = rate.burst * 1000
            left = overflows || gained > full - left ? full : left + gained
        }
        at = now
    }
}
