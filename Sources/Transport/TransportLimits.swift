/// Every bound of this room. What exceeds one is refused or closed, and counted.
///
/// Times are real time, counts are of one ``Listener`` (dialled connections are few, and our own
/// choice). Source: `Protocol/04-links.md`, "Bounds of a connection".
public struct TransportLimits: Sendable, Equatable {
    /// Accepted connections that may be open at once.
    public var connectionCountMax = 512

    /// Accepted connections that may be unauthenticated at once: what strangers can hold of us.
    public var unauthenticatedCountMax = 64

    /// Accepted connections whose peers are not known to be known, including unauthenticated ones:
    /// all other places are left to known peers. See ``Connection/markKnown()``.
    public var guestCountMax = 128

    /// Of these, those of one remote address. An IPv6 address counts by its /64.
    public var guestOfOriginCountMax = 8

    /// How much time a guest has before it may be replaced.
    public var guestTimeMin: Duration = .seconds(2)

    /// Handshakes one remote address may begin in any ``handshakeWindow``. One that ends in
    /// ``Connection/markKnown()`` is given back. An IPv6 address counts by its /64.
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

    /// Queued bytes up to which there is room for what need not go at once: see
    /// ``Connection/awaitRoom()``.
    public var roomByteCountMax = 128 << 10

    /// Queued bytes that a peer may leave unread for ``stallTimeMax`` before it is closed.
    public var queueByteCountMax = 1 << 20

    /// How long a peer may take nothing while more than ``queueByteCountMax`` waits for it.
    public var stallTimeMax: Duration = .seconds(20)

    /// Queued bytes that are never exceeded: what would is refused and the connection closed.
    public var overflowByteCountMax = 20 << 20

    /// Queued bytes of all connections of a transport: above it a peer that left more than
    /// ``queueByteCountMax`` unread is closed as soon as more is to be queued for it.
    public var totalByteCountMax = 48 << 20

    /// How long ``Connection/close()`` tries to deliver queued bytes to the peer.
    public var farewellTimeMax: Duration = .seconds(5)

    /// The bounds for links between nodes.
    public init() {}

    /// The bounds for a socket of this machine that only its owner can open: no handshake is
    /// due, silence is allowed.
    public static var localSocket: TransportLimits {
        var limits = TransportLimits()
        limits.handshakeTimeMax = nil
        limits.idleTimeMax = nil
        // Well below what counts as left unread: a follower that pauses is waited for.
        limits.writableByteCountMax = 256 << 10
        // Its owner may ask for all there is.
        limits.overflowByteCountMax = 64 << 20
        limits.totalByteCountMax = 256 << 20
        return limits
    }
}
