/// What a connection reports to its owner.
///
/// All calls come on the connection's event loop, one after the other: first ``opened(_:)``, last
/// ``closed(_:)``, each exactly once. A handler must not block there: everything else on the loop
/// waits for it. A handler whose connection never opened is never called.
public protocol ConnectionHandler: AnyObject, Sendable {
    /// The connection stands. Keep it, to answer.
    func opened(_ connection: Connection)

    /// Bytes in the order in which they were sent, never empty, at most 64 KiB, cut anywhere.
    func received(_ bytes: [UInt8])

    /// The queue has shrunk to half of ``TransportLimits/writableByteCountMax`` after it had
    /// been above it.
    func becameWritable()

    /// The connection is gone; nothing follows.
    func closed(_ reason: CloseReason)
}

/// Why a connection ended.
public enum CloseReason: Error, Equatable, Hashable, Sendable {
    /// We closed it: ``Connection/close()`` or ``Connection/abort()``.
    case closedHere
    /// The transport was shut down.
    case shutDown
    /// The peer closed its side. A connection half-closed by the peer is closed as a whole.
    case closedByPeer
    /// It was not authenticated within ``TransportLimits/handshakeTimeMax``.
    case handshakeTimeout
    /// Its peer was not known, and another needed the place.
    case displaced
    /// The peer sent nothing for ``TransportLimits/idleTimeMax``.
    case idle
    /// The peer left too much unread for too long.
    case slowReader
    /// The system reported a fault, by its error number (`ECONNRESET`, …).
    case broken(errno: Int32)
}
