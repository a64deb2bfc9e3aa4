/// Every bound of this room. What exceeds one is refused or closed, and counted.
///
/// Times are real time, counts are of one ``Listener`` (dialled connections are few, and our own
/// choice). Source: `Protocol/04-links.md`, "Bounds of a connection".
public struct TransportLimits: Sendable, Equatable {
    /// Accepted connections that may be open at once.
    public var connectionCountMax = 512

    /// Accepted connections that may be unauthenticated at once: what strangers can hold of us.
    public var unauthenticatedCountMax = 64

    /// Handshakes one remote address may begin in any ``handshakeWindow``. One that ends in
    /// ``Connection/markAuthenticated()`` is given back. An IPv6 address counts by its /64.
    public var handshakeCountMax = 10

    /// The window of ``handshakeCountMax``.
    public var handshakeWindow: Duration = .seconds(60)

    /// How long a connection may stay unauthenticated, however busily its bytes trickle in.
    /// With `nil` a connection counts as authenticated from its opening.
    public var handshakeTimeMax: Duration? = .seconds(5)

    /// How long a peer may send nothing at all. `nil`: for ever.
    public var idleTimeMax: Duration? = .seconds(90)

    /// Queued bytes above which ``Connection/isWritable`` is false; it is true again at half.
    public var writableByteCountMax = 1 << 20

    /// Queued bytes that a peer may leave unread for ``stallTimeMax`` before it is closed.
    public var queueByteCountMax = 8 << 20

    /// How long a peer may take nothing while more than ``queueByteCountMax`` waits for it.
    public var stallTimeMax: Duration = .seconds(10)

    /// Queued bytes that are never exceeded: what would is refused and the connection closed.
    public var overflowByteCountMax = 64 << 20

    /// How long ``Connection/close()`` tries to bring what is queued to the peer.
    public var farewellTimeMax: Duration = .seconds(5)

    /// The bounds for links between nodes.
    public init() {}

    /// The bounds for a socket of this machine that only its owner can open: no handshake is
    /// due, silence is allowed.
    public static var localSocket: TransportLimits {
        var limits = TransportLimits()
        limits.handshakeTimeMax = nil
        limits.idleTimeMax = nil
        return limits
    }
}
