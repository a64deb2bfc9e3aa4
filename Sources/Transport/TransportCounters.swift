import Synchronization

/// What a transport has seen since it was created, refusals by kind. All counts only grow.
public struct TransportCounters: Sendable, Equatable {
    /// Connections from outside that were let in.
    public var accepted: UInt64 = 0
    /// Connections that we opened.
    public var dialled: UInt64 = 0
    /// Attempts to open one that failed.
    public var dialFailures: UInt64 = 0
    /// Turned away: ``TransportLimits/connectionCountMax``.
    public var tooManyConnections: UInt64 = 0
    /// Turned away: ``TransportLimits/unauthenticatedCountMax``.
    public var tooManyUnauthenticated: UInt64 = 0
    /// Turned away: ``TransportLimits/guestCountMax`` or ``TransportLimits/guestOfOriginCountMax``.
    public var tooManyStrangers: UInt64 = 0
    /// Closed so that another could come in: ``TransportLimits/guestTimeMin``.
    public var displaced: UInt64 = 0
    /// Turned away: ``TransportLimits/handshakeCountMax``.
    public var handshakeRate: UInt64 = 0
    /// Closed: ``TransportLimits/handshakeTimeMax``.
    public var handshakeTimeout: UInt64 = 0
    /// Closed: ``TransportLimits/idleTimeMax``.
    public var idle: UInt64 = 0
    /// Closed: ``TransportLimits/stallTimeMax`` or ``TransportLimits/overflowByteCountMax``.
    public var slowReader: UInt64 = 0
    /// Closed by a fault of the socket, such as a reset.
    public var broken: UInt64 = 0
    /// Closed by the peer, wholly or by half.
    public var closedByPeer: UInt64 = 0
    /// Closed by us, ``Transport/shutdown()`` included.
    public var closedHere: UInt64 = 0
    /// Bytes handed to connection handlers.
    public var bytesReceived: UInt64 = 0
    /// Bytes that the system took for a peer.
    public var bytesSent: UInt64 = 0

    /// All zero.
    public init() {}

    mutating func count(_ reason: CloseReason) {
        switch reason {
        case .closedHere, .shutDown: closedHere += 1
        case .closedByPeer: closedByPeer += 1
        case .handshakeTimeout: handshakeTimeout += 1
        case .displaced: displaced += 1
        case .idle: idle += 1
        case .slowReader: slowReader += 1
        case .broken: broken += 1
        }
    }

    mutating func count(_ refusal: Refusal) {
        switch refusal {
        case .tooManyConnections: tooManyConnections += 1
        case .tooManyUnauthenticated: tooManyUnauthenticated += 1
        case .tooManyStrangers: tooManyStrangers += 1
        case .handshakeRate: handshakeRate += 1
        }
    }
}

/// The one set of counters that all connections of a transport share.
final class Tally: Sendable {
    private let counters = Mutex(TransportCounters())

    var snapshot: TransportCounters { counters.withLock { $0 } }

    func update(_ change: (inout TransportCounters) -> Void) {
        counters.withLock { change(&$0) }
    }
}
