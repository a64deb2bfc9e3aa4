/// Why the shell ended a link that ran through a pipe.
enum PipeRefusal: String, CaseIterable, Sendable {
    /// All places were taken by others who had come just before.
    case tooManyStrangers = "too-many-strangers"
    /// It gave way to another one.
    case displaced
    /// It did not shake hands in time.
    case handshakeTimeout = "handshake-timeout"
}

/// Who may come in through the pipes of one connection to a relay, as a value; the time is passed
/// in.
///
/// A guest is a link of which it is not known that its peer is somebody this node knows. The relay
/// alone sees addresses, so guests have a bounded share of all pipes, and where all places are
/// taken the oldest gives way once it had its time. A place stays taken for that time also where
/// its guest is gone: so handshakes are bounded, and not only those that last.
/// Source: `Protocol/04-links.md`, "Bounds of a connection".
struct PipeGuests: Sendable {
    /// Guests of one connection: half of what a relay offers at a time.
    static let countMax = 16
    /// Milliseconds that a guest has before it may have to give way to another.
    static let timeMin: UInt64 = 2_000

    /// Names one that was let in.
    struct Ticket: Hashable, Comparable, Sendable {
        fileprivate let number: UInt64
        static func < (left: Self, right: Self) -> Bool { left.number < right.number }
    }

    private struct Guest {
        let since: UInt64
        var isGone = false
    }

    private var guests: [Ticket: Guest] = [:]
    private var last: UInt64 = 0

    /// Places that are taken.
    var count: Int { guests.count }

    /// Lets one in, or does not: then there is no ticket.
    ///
    /// - Returns: its ticket, and that of a guest who gives way to it and is to be hung up on.
    mutating func admit(at now: UInt64) -> (ticket: Ticket?, displaced: Ticket?) {
        guests = guests.filter { !$0.value.isGone || now < $0.value.since + Self.timeMin }
        var displaced: Ticket?
        if guests.count >= Self.countMax {
            // Tickets ascend with time: the order of the loop cannot be seen.
            displaced = guests.filter { now >= $0.value.since + Self.timeMin }.keys.min()
            guard let displaced else { return (nil, nil) }
            guests[displaced] = nil
        }
        last += 1
        let ticket = Ticket(number: last)
        guests[ticket] = Guest(since: now)
        return (ticket, displaced)
    }

    /// The peer is known: it is no guest any more.
    mutating func known(_ ticket: Ticket) { guests[ticket] = nil }

    /// The link is over.
    mutating func left(_ ticket: Ticket) { guests[ticket]?.isGone = true }
}
