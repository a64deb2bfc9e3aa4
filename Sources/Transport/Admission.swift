import Glibc
import NIOCore
import Synchronization

/// Why a connection from outside was refused before a byte of it was read.
enum Refusal: Error, Equatable, Sendable {
    case tooManyConnections
    case tooManyUnauthenticated
    case tooManyStrangers
    case handshakeRate
}

/// Where a connection comes from, as far as one remote party can be told from another: an IPv4
/// address, or the /64 of an IPv6 address, since that is what one household is given.
struct Origin: Hashable, Sendable {
    let prefix: [UInt8]

    init(prefix: [UInt8]) { self.prefix = prefix }

    /// `nil` for a socket of this machine's file system, which has no origin.
    init?(_ address: SocketAddress?) {
        guard let address, let text = address.ipAddress else { return nil }
        let isIPv6 = text.contains(":")
        var bytes = [UInt8](repeating: 0, count: 16)
        let isRead = inet_pton(isIPv6 ? AF_INET6 : AF_INET, text, &bytes) == 1
        precondition(isRead, "the system's own spelling of an address must be readable")
        prefix = Array(bytes.prefix(isIPv6 ? 8 : 4))
    }
}

/// The admission rules: a value to which the time is passed, so that every rule can be tested
/// without waiting.
///
/// A guest is a connection whose peer is not known to be somebody this node knows: it has not
/// completed the handshake yet, or is a stranger's. Guests have a bounded share of all places, so
/// the others are left to known peers, and an address has a bounded share of the guests'. If all
/// are taken, the oldest guest is replaced once it had its time: a flood does not keep out for long
/// a peer that completes the handshake at once.
///
/// Memory is bounded: the guests, and at most ``originCountMax`` origins of at most
/// `handshakeCountMax` times. When all are live, further origins come in uncounted: the bound on
/// guests still holds, and turning them away would let a flood lock everybody out.
struct Admission: Sendable {
    /// How many origins are remembered. A /48 has 65,536 of them, so a table must end somewhere.
    static let originCountMax = 4096

    /// Names a connection that was let in.
    typealias Ticket = UInt64

    private struct Guest {
        let origin: Origin?
        let since: NIODeadline
        var isAuthenticated = false
    }

    private let limits: TransportLimits
    private var beginnings: [Origin: [NIODeadline]] = [:]
    private var guests: [Ticket: Guest] = [:]
    private var guestsOf: [Origin: Int] = [:]
    private var last: Ticket = 0
    private(set) var openCount = 0
    private(set) var unauthenticatedCount = 0

    init(limits: TransportLimits) { self.limits = limits }

    private var needsHandshake: Bool { limits.handshakeTimeMax != nil }

    /// Connections of which it is not known that their peer is known.
    var guestCount: Int { guests.count }

    /// Counts a connection in, or says why not. One that was let in must be told to ``ended(_:)`` in
    /// the end.
    ///
    /// - Returns: its ticket, and that of a guest who gives way to it and is to be closed.
    @discardableResult
    mutating func admit(
        _ origin: Origin?, at now: NIODeadline
    ) throws(Refusal) -> (ticket: Ticket, displaced: Ticket?) {
        guard openCount < limits.connectionCountMax else { throw .tooManyConnections }
        var displaced: Ticket?
        if needsHandshake {
            if let origin, guestsOf[origin] ?? 0 >= limits.guestOfOriginCountMax {
                throw .tooManyStrangers
            }
            if unauthenticatedCount >= limits.unauthenticatedCountMax {
                displaced = oldest(at: now) { !$0.isAuthenticated }
                guard displaced != nil else { throw .tooManyUnauthenticated }
            } else if guests.count >= limits.guestCountMax {
                displaced = oldest(at: now) { _ in true }
                guard displaced != nil else { throw .tooManyStrangers }
            }
            if let origin { try begin(origin, at: now) }
        }
        if let displaced { forget(displaced) }
        last += 1
        openCount += 1
        if needsHandshake {
            unauthenticatedCount += 1
            guests[last] = Guest(origin: origin, since: now)
            if let origin { guestsOf[origin, default: 0] += 1 }
        }
        return (last, displaced)
    }

    /// A handshake succeeded: whose it is need not be known.
    mutating func authenticated(_ ticket: Ticket) {
        guard guests[ticket]?.isAuthenticated == false else { return }
        guests[ticket]?.isAuthenticated = true
        unauthenticatedCount -= 1
    }

    /// The peer is known: the connection counts against its origin no longer.
    mutating func known(_ ticket: Ticket) {
        guard let guest = forget(ticket), let origin = guest.origin,
            let times = beginnings[origin]
        else { return }
        beginnings[origin] = times.count == 1 ? nil : times.dropLast()
    }

    /// A connection that was let in is gone.
    mutating func ended(_ ticket: Ticket) {
        openCount -= 1
        forget(ticket)
    }

    private func oldest(at now: NIODeadline, where isMeant: (Guest) -> Bool) -> Ticket? {
        let horizon = now - TimeAmount(limits.guestTimeMin)
        // Tickets ascend with time: the order of the loop cannot be seen.
        return guests.filter { isMeant($0.value) && $0.value.since <= horizon }.keys.min()
    }

    @discardableResult
    private mutating func forget(_ ticket: Ticket) -> Guest? {
        guard let guest = guests.removeValue(forKey: ticket) else { return nil }
        if !guest.isAuthenticated { unauthenticatedCount -= 1 }
        if let origin = guest.origin, let count = guestsOf[origin] {
            guestsOf[origin] = count > 1 ? count - 1 : nil
        }
        return guest
    }

    private mutating func begin(_ origin: Origin, at now: NIODeadline) throws(Refusal) {
        let horizon = now - TimeAmount(limits.handshakeWindow)
        var times = beginnings[origin, default: []]
        times.removeAll { $0 <= horizon }
        guard times.count < limits.handshakeCountMax else { throw .handshakeRate }
        if beginnings[origin] == nil, beginnings.count >= Self.originCountMax {
            // Order does not matter: every origin is judged alone.
            beginnings = beginnings.filter { _, times in times.contains { $0 > horizon } }
            guard beginnings.count < Self.originCountMax else { return }
        }
        beginnings[origin] = times + [now]
    }
}

/// The admission that all event loops of one listener share.
final class Gate: Sendable {
    private struct State {
        var admission: Admission
        /// How guests are asked to leave.
        var closers: [Admission.Ticket: @Sendable () -> Void] = [:]
    }
    private let state: Mutex<State>
    private let now: @Sendable () -> NIODeadline

    init(limits: TransportLimits, now: @escaping @Sendable () -> NIODeadline) {
        state = Mutex(State(admission: Admission(limits: limits)))
        self.now = now
    }

    /// Lets a connection in, in place of a guest where it must be.
    func admit(_ origin: Origin?) throws(Refusal) -> Admission.Ticket {
        let time = now()
        typealias Outcome = Result<(Admission.Ticket, (@Sendable () -> Void)?), Refusal>
        let outcome: Outcome = state.withLock { state in
            do throws(Refusal) {
                let (ticket, displaced) = try state.admission.admit(origin, at: time)
                let close = displaced.flatMap { state.closers.removeValue(forKey: $0) }
                return .success((ticket, close))
            } catch {
                return .failure(error)
            }
        }
        let (ticket, close) = try outcome.get()
        close?()
        return ticket
    }

    /// How a guest is asked to leave where another needs the place.
    func onDisplacing(_ ticket: Admission.Ticket, _ close: @escaping @Sendable () -> Void) {
        state.withLock { $0.closers[ticket] = close }
    }

    func authenticated(_ ticket: Admission.Ticket) {
        state.withLock { $0.admission.authenticated(ticket) }
    }

    func known(_ ticket: Admission.Ticket) {
        state.withLock { state in
            state.admission.known(ticket)
            state.closers[ticket] = nil
        }
    }

    func ended(_ ticket: Admission.Ticket) {
        state.withLock { state in
            state.admission.ended(ticket)
            state.closers[ticket] = nil
        }
    }
}
