/// The clocks of one machine: both are wrong in ways of their own.
///
/// The monotonic clock runs evenly and never goes back. The wall clock is what people set: it is
/// off, runs a little fast or slow, and jumps.
public struct NodeClock: Equatable, Sendable {
    /// How far ahead of the world's the wall clock is, in milliseconds.
    public var skew: Int64 = 0
    /// How many parts in a million the wall clock runs too fast; below 0, too slow.
    public var drift: Int64 = 0

    /// Clocks that are right.
    public init() {}

    /// What the wall clock shows, in Unix milliseconds.
    ///
    /// - Parameters:
    ///   - epoch: the true Unix time when the world began.
    ///   - now: milliseconds since then.
    func wall(epoch: UInt64, now: UInt64) -> UInt64 {
        let drifted = Int64(now) * drift / 1_000_000
        return UInt64(max(0, Int64(epoch + now) + drifted + skew))
    }
}
