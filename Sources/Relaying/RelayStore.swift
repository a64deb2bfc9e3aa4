public import ParleyWire

/// The store of a relay, whatever implements it.
///
/// **Contract**, which one set of tests checks for every store: orders are performed in sequence,
/// each seeing the effects of those before it; once ``perform(_:at:)`` has returned, they survive a
/// crash of the process and of the machine; if it throws, none of them was performed. The counter
/// of a mailbox only ever increases, also over a restart, and is not reused by a store that was
/// rolled back, as far as the store can prevent it: ``RelayCounter`` bases it on the time. A store
/// decides nothing that a relay could: quotas, expiry and who may write are passed to it.
public protocol RelayStore {
    /// When it was opened last, the newest first, this time included; as many as a
    /// ``ParleyWire/RelayWelcome`` holds.
    var starts: [RelayStart] { get }
    /// The greatest counter that any envelope got.
    var newest: UInt64 { get }

    /// Carries out orders.
    ///
    /// - Parameter now: Unix milliseconds.
    /// - Returns: an outcome for each order, in their turn.
    mutating func perform(
        _ orders: [RelayOrder], at now: UInt64
    ) throws(RelayStoreFailure) -> [RelayOutcome]
}

/// What a relay asks of its store.
public enum RelayOrder: Equatable, Sendable {
    /// Create a mailbox on these terms, or extend its life. Outcome:
    /// ``RelayAnswer/opened(expires:byteCountMax:)``. `writers`, unless nil, are from now on those
    /// who may write besides the owner, or read if it is a shelf.
    case open(MailboxID, writers: [WriterID]?, ticket: Digest?, MailboxTerms)
    /// Keep an envelope with this hash, by who has this right; when an inbox is full, the oldest
    /// of its greatest share go, but of a drop and of a shelf none; and under pressure what others left untouched, see
    /// ``RelayStoreBounds``. Where more would have to go than goes at once, it is refused as
    /// ``ParleyWire/RelayRefusal/busyAsEmptying``. Outcome: ``RelayAnswer/stored(counter:)``, or
    /// ``RelayOutcome/known(counter:)``.
    case put(
        MailboxID, by: MailboxRight, share: RelayShare, hash: Digest, envelope: [UInt8])
    /// Entries of a range, for the owner. Of a mailbox that is not there: none.
    case get(MailboxID, RelayRange)
    /// Entries of a range of a shelf, for a key that may be named as its reader. Outcome: these, or
    /// why not.
    case read(MailboxID, by: WriterID, RelayRange)
    /// The newest counter, 0 if there is none. Outcome: ``RelayAnswer/subscribed(newest:)``.
    case newest(MailboxID)
    /// Delete the content of a mailbox up to a counter.
    case acknowledge(MailboxID, upTo: UInt64)
    /// Whether a key with this right may write. Outcome: done, or why not.
    case mayWrite(MailboxID, by: MailboxRight)
    /// Forget envelopes that came before this time, and mailboxes whose own time is over and that
    /// are empty. Some at a time: the rest is ``RelayOutcome/unfinished(_:)``.
    case expire(envelopesBefore: UInt64)
}

extension RelayOrder {
    /// Whether it can change stored data.
    public var writes: Bool {
        switch self {
        case .open, .put, .acknowledge, .expire: true
        case .get, .read, .newest, .mayWrite: false
        }
    }
}

/// What became of an order.
public enum RelayOutcome: Equatable, Sendable {
    /// The answer to the client.
    case answer(RelayAnswer)
    /// The envelope was there already, with this counter.
    case known(counter: UInt64)
    /// A part of it was done. The rest is to be ordered under the same number once others had their
    /// turn: nobody is answered before.
    case unfinished(RelayOrder)
}

/// How much a store keeps.
///
/// A mailbox is *paid* if it was opened with a ticket, as long as that holds. Where there is no room
/// for an envelope, unpaid mailboxes are emptied for it, first the one that was least lately opened,
/// put into or acknowledged; a paid one never, nor the one that the envelope is for. Shelves are emptied
/// before all others, and for an unpaid shelf nothing but shelves: files push out no messages. A store may
/// empty one piece by piece, the oldest first, and keeps of it what there is room for.
public struct RelayStoreBounds: Equatable, Sendable {
    /// Bytes of envelopes in all.
    public var byteCountMax: UInt64
    /// Of these, bytes in mailboxes that are not paid.
    public var unpaidByteCountMax: UInt64

    /// Of these, bytes in shelves.
    public var shelfByteCountMax: UInt64

    /// Bounds with these fields; by default half of all for unpaid mailboxes and a quarter for
    /// unpaid shelves.
    public init(
        byteCountMax: UInt64 = 16 << 30, unpaidByteCountMax: UInt64? = nil,
        shelfByteCountMax: UInt64? = nil
    ) {
        self.byteCountMax = byteCountMax
        self.unpaidByteCountMax = unpaidByteCountMax ?? byteCountMax / 2
        self.shelfByteCountMax = shelfByteCountMax ?? byteCountMax / 4
    }

    /// How long who finds no room shall wait, in milliseconds: envelopes go by the day.
    public static let fullDelay: UInt32 = 600_000
    /// How long who finds that room is being made shall wait, in milliseconds.
    public static let emptyingDelay: UInt32 = 1_000
}

extension RelayRefusal {
    /// There is no room, and there may be some later.
    public static let busyAsFull = RelayRefusal.busy(retryAfter: RelayStoreBounds.fullDelay)
    /// There is no room yet: much has to go for it, and some went.
    public static let busyAsEmptying = RelayRefusal.busy(
        retryAfter: RelayStoreBounds.emptyingDelay)
}

/// On what terms a mailbox is made.
public struct MailboxTerms: Equatable, Sendable {
    /// Whether it takes a ticket.
    public var needsTicket: Bool
    /// How long it lives, in milliseconds.
    public var lifetime: UInt64
    /// It lives on, for a ticket where one is needed, once no more than this is left.
    public var renewal: UInt64
    /// How many bytes of envelopes it holds, unless a ticket says otherwise.
    public var byteCountMax: UInt64
    /// Whether it is a shelf: others read it, nobody else writes, and what would not fit is refused.
    public var isShelf: Bool

    /// Terms with these fields.
    public init(
        needsTicket: Bool, lifetime: UInt64, renewal: UInt64, byteCountMax: UInt64,
        isShelf: Bool = false
    ) {
        self.needsTicket = needsTicket
        self.lifetime = lifetime
        self.renewal = renewal
        self.byteCountMax = byteCountMax
        self.isShelf = isShelf
    }
}

/// Why a store did nothing of what it was asked.
public struct RelayStoreFailure: Error, Equatable, Sendable, CustomStringConvertible {
    /// What was attempted, and the system's own words. Never the data to be stored.
    public let description: String

    /// A failure with this description.
    public init(_ description: String) { self.description = description }
}

/// How counters are given.
public enum RelayCounter {
    /// The one after `newest`: microseconds since 1970, so that a store that was set back gives
    /// no counter again, unless the clock was set back with it.
    public static func next(after newest: UInt64, at now: UInt64) -> UInt64 {
        max(newest + 1, now * 1000)
    }
}
