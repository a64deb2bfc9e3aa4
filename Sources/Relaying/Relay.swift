public import ParleyWire

/// One client's connection, by a number that is never used again.
public struct RelayConnection: Hashable, Comparable, Sendable {
    /// The number.
    public let number: UInt64

    /// The connection with this number.
    public init(_ number: UInt64) { self.number = number }

    /// By number.
    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}

/// What happens to a relay.
public enum RelayInput: Sendable {
    /// A connection stands. `origin` tells one remote party from another; empty where none can.
    case opened(RelayConnection, origin: [UInt8])
    /// A connection is gone.
    case closed(RelayConnection)
    /// A client asks for something.
    indirect case request(RelayConnection, CheckedRequest)
    /// A client asks, with this counter, for something that no client may ask.
    case malformedRequest(RelayConnection, counter: UInt64, byteCount: Int)
    /// A client said something about a pipe.
    case pipe(RelayConnection, PipeFrame)
    /// A client connected.
    case ping(RelayConnection)
    /// A client reads too slowly, or fast enough again.
    case congested(RelayConnection, Bool)
    /// The store carried out an order.
    case performed(RelayOrderNumber, RelayOutcome)
    /// The store could not carry out an order.
    case failed(RelayOrderNumber)
    /// Time passed; due once a second or so.
    case tick
    /// The relay is about to stop, and may be back after so many milliseconds.
    case leaving(retryAfter: UInt32)
}

/// The outputs of a relay.
public enum RelayEffect: Sendable {
    /// Send a frame to these clients, in this order.
    case send([RelayConnection], RelayServerFrame)
    /// Hang up.
    case close(RelayConnection, RelayClosing)
    /// Read nothing from a client for so many milliseconds.
    case pause(RelayConnection, UInt32)
    /// Have the store carry out an order; the outcome is an input. Orders of one batch may be
    /// carried out together.
    case perform(RelayOrderNumber, RelayOrder)
}

/// Why a relay hangs up.
public enum RelayClosing: String, CaseIterable, Sendable {
    /// More connections from one address than are taken.
    case tooManyOfOrigin
    /// It said nothing for too long.
    case silent
    /// It asked without waiting for answers, sent more through a pipe than it may, or far more
    /// frames about pipes.
    case unruly
    /// The relay stops.
    case leaving
}

/// Which order an outcome belongs to.
public struct RelayOrderNumber: Hashable, Sendable {
    let number: UInt64
}

/// A relay, as a value: what clients say, what the store did and the time in; what to send and
/// what to store out. It opens nothing: not an envelope, no socket, no file.
///
/// ```
///  clients ─▶ RelayDoor (a connection: checks) ─▶ Relay.handle ─▶ effects ─▶ clients
///                                                  ▲      │
///                                       outcomes ──┴─ RelayStore ◀─ orders
/// ```
///
/// **What it says is true:** nothing is answered and nobody hears of an envelope before the store
/// has it, since both follow from the outcome. **What it holds in memory** is bounded by what is in
/// progress: connections, subscriptions, open pipes, requests without an answer; each has its bound
/// in ``RelayPolicy`` or `Limits`. **It knows nothing about people:** mailboxes are names of keys.
/// Source: `Protocol/06-relay.md`.
public struct Relay: Sendable {
    /// What is known about one connection.
    struct Client: Sendable {
        let origin: [UInt8]
        var heardAt: UInt64
        var requests: Allotment
        var bytes: Allotment
        var frames: Allotment
        var giving: Allotment
        /// Orders that were given for it and have no outcome.
        var pendingCount = 0
        /// Of these, the ones whose answers are long.
        var pendingPageCount = 0
        var subscriptions: Set<MailboxID> = []
        var isCongested = false
        /// What it was not sent because it reads too slowly.
        var missed: Set<MailboxID> = []
        /// Of what it was not sent because it was given too much: it was told so once.
        var toldMissed: Set<MailboxID> = []
        /// Pipes that it asked for.
        var calls: Set<UInt32> = []
        /// Pipes that others asked for: they keep it from none of its own.
        var offers: Set<UInt32> = []
    }

    /// What is known about one address.
    struct Origin: Sendable {
        var connectionCount = 0
        var subscriptionCount = 0
        var requests: Allotment
        var bytes: Allotment
        var frames: Allotment
        var giving: Allotment
        var openings: Allotment
        var storing: Allotment
        var calls: Allotment
    }

    /// The purpose of an order.
    enum Purpose: Sendable {
        case answer
        case put(MailboxID, envelope: [UInt8])
        case pass(MailboxID, lifetime: UInt8, envelope: [UInt8])
        case call(MailboxID)
        case upkeep
    }

    struct Pending: Sendable {
        let connection: RelayConnection
        let counter: UInt64
        let purpose: Purpose
        /// Whether the answer is long.
        var isLong = false
        /// What was taken for its answer.
        var reservedByteCount = 0

        var isUpkeep: Bool { if case .upkeep = purpose { true } else { false } }
    }

    /// How many addresses are remembered that have no connection.
    static let originCountMax = 4096
    /// With so many they are looked through at once, however many come and go between two looks.
    static let originCountLimit = 32_768
    /// How often silent clients are looked for, in milliseconds.
    static let sweepInterval: UInt64 = 5_000
    /// How often the store is asked to delete what has expired, in milliseconds.
    static let upkeepInterval: UInt64 = 60_000

    let policy: RelayPolicy
    /// Mixed with addresses, see ``RelayShare``.
    let salt: UInt64
    var clients: [RelayConnection: Client] = [:]
    var origins: [[UInt8]: Origin] = [:]
    /// The subscribers of a mailbox, the latest last.
    var subscribers: [MailboxID: [RelayConnection]] = [:]
    var pipes: [UInt32: Pipe] = [:]
    var pending: [UInt64: Pending] = [:]
    var lastOrder: UInt64 = 0
    var lastPipe: UInt32 = 0
    /// How many subscriptions there are.
    var subscriptionCount = 0
    private var day: RelayDay
    private var sweepAt: UInt64
    private var upkeepAt: UInt64
    /// Its counters.
    public internal(set) var counters = RelayCounters()

    /// A relay without clients.
    ///
    /// - Parameter salt: a random number that nobody else knows, see ``RelayShare``.
    public init(policy: RelayPolicy, salt: UInt64 = 0, at now: UInt64) {
        self.policy = policy
        self.salt = salt
        day = Self.day(at: now)
        sweepAt = WallTime(clamping: now).value
        upkeepAt = sweepAt
    }

    /// The welcome for a client that calls now.
    ///
    /// - Parameters:
    ///   - starts: the store's.
    ///   - newest: the store's.
    ///   - now: Unix milliseconds.
    public static func welcome(
        starts: [RelayStart], newest: UInt64, policy: RelayPolicy, at now: UInt64
    ) -> RelayWelcome {
        RelayWelcome(
            day: day(at: now), newest: newest, needsTicket: policy.needsTicket, starts: starts)
    }

    /// How many connections, subscriptions and pipes there are.
    public var load: (connections: Int, subscriptions: Int, pipes: Int) {
        (clients.count, subscriptionCount, pipes.count)
    }

    static func day(at now: UInt64) -> RelayDay { RelayDay(at: now) }

    /// Processes one input and returns the effects. Effects are performed in order, before the next
    /// input, except outcomes of the store, which come when they come.
    ///
    /// - Parameter moment: Unix milliseconds; beyond the year 2248 the clock stands still.
    public mutating func handle(_ input: RelayInput, at moment: UInt64) -> [RelayEffect] {
        // Whatever the machine believes: times of now are added to.
        let now = WallTime(clamping: moment).value
        var effects: [RelayEffect] = []
        switch input {
        case .opened(let connection, let origin): open(connection, origin, now, &effects)
        case .closed(let connection): forget(connection, &effects)
        case .request(let connection, let request): take(request, connection, now, &effects)
        case .malformedRequest(let connection, let counter, let byteCount):
            refuseMalformed(
                counter, byteCount: byteCount, connection, now, &effects)
        case .pipe(let connection, let frame): take(frame, connection, now, &effects)
        case .ping(let connection):
            guard clients[connection] != nil, pay(for: 0, connection, now, &effects) else { break }
            clients[connection]?.heardAt = now
            effects.append(.send([connection], .pong))
        case .congested(let connection, let isCongested):
            congest(connection, isCongested, &effects)
        case .performed(let number, let outcome): conclude(number, outcome, now, &effects)
        case .failed(let number):
            conclude(number, .answer(.refused(.busy(retryAfter: 10_000))), now, &effects)
        case .tick: tick(now, &effects)
        case .leaving(let delay):
            let all = clients.keys.sorted()
            effects.append(.send(all, .bye(retryAfter: delay)))
            effects += all.map { .close($0, .leaving) }
        }
        return effects
    }

    // MARK: Connections

    private mutating func open(
        _ connection: RelayConnection, _ name: [UInt8], _ now: UInt64,
        _ effects: inout [RelayEffect]
    ) {
        if origins[name] == nil, origins.count >= Self.originCountLimit {
            forgetRestedOrigins(now)
        }
        var origin =
            origins[name]
            ?? Origin(
                requests: Allotment(policy.requests, times: 4, at: now),
                bytes: Allotment(policy.bytes, times: 4, at: now),
                frames: Allotment(policy.frames, times: 4, at: now),
                giving: Allotment(policy.giving, times: 4, at: now),
                openings: Allotment(policy.openings, at: now),
                storing: Allotment(policy.storing, at: now),
                calls: Allotment(policy.calls, at: now))
        guard origin.connectionCount < policy.originConnectionCountMax || name.isEmpty else {
            counters.closings[.tooManyOfOrigin, default: 0] += 1
            effects.append(.close(connection, .tooManyOfOrigin))
            return
        }
        origin.connectionCount += 1
        origins[name] = origin
        clients[connection] = Client(
            origin: name, heardAt: now, requests: Allotment(policy.requests, at: now),
            bytes: Allotment(policy.bytes, at: now), frames: Allotment(policy.frames, at: now),
            giving: Allotment(policy.giving, at: now))
        counters.connections += 1
    }

    private mutating func forget(_ connection: RelayConnection, _ effects: inout [RelayEffect]) {
        guard let client = clients.removeValue(forKey: connection) else { return }
        origins[client.origin]?.connectionCount -= 1
        // Each is taken off a list of its own: the order cannot be seen.
        for mailbox in client.subscriptions { unlist(connection, mailbox) }
        subscriptionCount -= client.subscriptions.count
        origins[client.origin]?.subscriptionCount -= client.subscriptions.count
        for pipe in client.calls.union(client.offers).sorted() {
            end(pipe, except: connection, &effects)
        }
    }

    mutating func hangUp(
        _ connection: RelayConnection, _ reason: RelayClosing, _ effects: inout [RelayEffect]
    ) {
        counters.closings[reason, default: 0] += 1
        effects.append(.close(connection, reason))
        forget(connection, &effects)
    }

    private mutating func congest(
        _ connection: RelayConnection, _ isCongested: Bool, _ effects: inout [RelayEffect]
    ) {
        clients[connection]?.isCongested = isCongested
        guard !isCongested, let missed = clients[connection]?.missed else { return }
        clients[connection]?.missed = []
        for mailbox in missed.sorted() { effects.append(.send([connection], .missed(mailbox))) }
    }

    mutating func unlist(_ connection: RelayConnection, _ mailbox: MailboxID) {
        subscribers[mailbox]?.removeAll { $0 == connection }
        if subscribers[mailbox]?.isEmpty == true { subscribers[mailbox] = nil }
    }

    // MARK: Time

    private mutating func tick(_ now: UInt64, _ effects: inout [RelayEffect]) {
        let today = Self.day(at: now)
        if today != day {
            day = today
            effects.append(.send(clients.keys.sorted(), .day(today)))
        }
        if Self.isDue(&sweepAt, every: Self.sweepInterval, now) { sweep(now, &effects) }
        for pipe in pipes.keys.sorted() where pipes[pipe]?.isOverdue(at: now) == true {
            end(pipe, except: nil, &effects)
        }
        if Self.isDue(&upkeepAt, every: Self.upkeepInterval, now) { upkeep(now, &effects) }
    }

    /// Whether the time has come; then the next one is set. A clock that was set back does not keep
    /// it waiting.
    private static func isDue(_ at: inout UInt64, every interval: UInt64, _ now: UInt64) -> Bool {
        guard now >= at || at > now + interval else { return false }
        at = now + interval
        return true
    }

    private mutating func sweep(_ now: UInt64, _ effects: inout [RelayEffect]) {
        for connection in clients.keys.sorted() {
            guard let client = clients[connection] else { continue }
            // After the clock was set back it waits again.
            if client.heardAt > now { clients[connection]?.heardAt = now }
            if now > client.heardAt + policy.silenceMax { hangUp(connection, .silent, &effects) }
        }
    }

    private mutating func upkeep(_ now: UInt64, _ effects: inout [RelayEffect]) {
        // The last one may still be under way, a piece at a time.
        if !pending.values.contains(where: \.isUpkeep) {
            let order = RelayOrder.expire(
                envelopesBefore: now - min(now, policy.envelopeLifetime))
            let nobody = Pending(connection: RelayConnection(0), counter: 0, purpose: .upkeep)
            give(order, for: nobody, &effects)
        }
        forgetRestedOrigins(now)
    }

    /// Forgets addresses that have no connection, once they are allowed all again, or are too many.
    private mutating func forgetRestedOrigins(_ now: UInt64) {
        for name in origins.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            guard var origin = origins[name], origin.connectionCount == 0 else { continue }
            let isRested =
                origin.requests.isFull(at: now) && origin.bytes.isFull(at: now)
                && origin.frames.isFull(at: now) && origin.giving.isFull(at: now)
                && origin.openings.isFull(at: now) && origin.storing.isFull(at: now)
                && origin.calls.isFull(at: now)
            if isRested || origins.count > Self.originCountMax { origins[name] = nil }
        }
    }

    mutating func give(
        _ order: RelayOrder, for purpose: Pending, _ effects: inout [RelayEffect]
    ) {
        lastOrder += 1
        pending[lastOrder] = purpose
        clients[purpose.connection]?.pendingCount += 1
        if purpose.isLong { clients[purpose.connection]?.pendingPageCount += 1 }
        effects.append(.perform(RelayOrderNumber(number: lastOrder), order))
    }
}
