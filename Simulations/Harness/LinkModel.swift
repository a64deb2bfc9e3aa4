/// How the way between two nodes behaves. A link is a TCP connection: it keeps the order of its
/// frames and loses none, until it breaks and loses all that are on their way.
public struct LinkModel: Equatable, Sendable {
    /// How long a frame takes, in milliseconds.
    public var delay: ClosedRange<UInt64> = 1...20
    /// One frame in so many is held up for ``stall`` as well, and all behind it; 0 for none.
    public var stallEvery: UInt64 = 0
    /// How long a stall is, in milliseconds.
    public var stall: ClosedRange<UInt64> = 1_000...20_000
    /// One frame in so many meets a reset somewhere on its way; 0 for none.
    public var resetEvery: UInt64 = 0
    /// Bytes that pass in a millisecond, each direction for itself; 0 for any number.
    public var bytesPerMillisecond: UInt64 = 0

    /// A way that delays a little and never breaks.
    public init() {}
}
