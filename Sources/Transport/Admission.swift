import Glibc
import NIOCore
import Synchronization

/// Why a connection from outside was turned away before a byte of it was read.
enum Refusal: Error, Equatable, Sendable {
    case tooManyConnections
    case tooManyUnauthenticated
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

/// Who may come in: a value that is told the time, so that every rule can be tried without waiting.
///
/// Memory is bounded: at most ``originCountMax`` origins of at most `handshakeCountMax` times.
/// When all are live, further origins come in uncounted: the bound on unauthenticated connections
/// still holds, and turning them away would let a flood lock everybody out.
struct Admission: Sendable {
    /// How many origins are remembered. A /48 has 65,536 of them, so a table must end somewhere.
    static let originCountMax = 4096

    private let limits: TransportLimits
    private var beginnings: [Origin: [NIODeadline]] = [:]
    private(set) var openCount = 0
    private(set) var unauthenticatedCount = 0

    init(limits: TransportLimits) { self.limits = limits }

    private var needsHandshake: Bool { limits.handshakeTimeMax != nil }

    /// Counts a connection in, or says why not. One that was let in must be told to
    /// ``ended(wasAuthenticated:)`` in the end.
    mutating func admit(_ origin: Origin?, at now: NIODeadline) throws(Refusal) {
        guard openCount < limits.connectionCountMax else { throw .tooManyConnections }
        if needsHandshake {
            guard unauthenticatedCount < limits.unauthenticatedCountMax else {
                throw .tooManyUnauthenticated
            }
            if let origin { try begin(origin, at: now) }
            unauthenticatedCount += 1
        }
        openCount += 1
    }

    /// A handshake succeeded: it no longer counts against its origin.
    mutating func authenticated(_ origin: Origin?) {
        guard needsHandshake else { return }
        unauthenticatedCount -= 1
        guard let origin, var times = beginnings[origin] else { return }
        times.removeLast()
        beginnings[origin] = times.isEmpty ? nil : times
    }

    /// A connection that was let in is gone.
    mutating func ended(wasAuthenticated: Bool) {
        openCount -= 1
        if needsHandshake, !wasAuthenticated { unauthenticatedCount -= 1 }
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
    private let admission: Mutex<Admission>
    private let now: @Sendable () -> NIODeadline

    init(limits: TransportLimits, now: @escaping @Sendable () -> NIODeadline) {
        admission = Mutex(Admission(limits: limits))
        self.now = now
    }

    func admit(_ origin: Origin?) throws(Refusal) {
        let time = now()
        let refusal = admission.withLock { (admission) -> Refusal? in
            do throws(Refusal) {
                try admission.admit(origin, at: time)
                return nil
            } catch {
                return error
            }
        }
        if let refusal { throw refusal }
    }

    func authenticated(_ origin: Origin?) { admission.withLock { $0.authenticated(origin) } }

    func ended(wasAuthenticated: Bool) {
        admission.withLock { $0.ended(wasAuthenticated: wasAuthenticated) }
    }
}
