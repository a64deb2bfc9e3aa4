import ParleyWire

/// Time as far as an author needs it: the wall clock drawn forward by what was seen.
///
/// No clock ever decides whether an operation is accepted; it only orders what is concurrent.
/// Source: `Protocol/03-operations.md`, "Order".
public enum HybridClock {
    /// A stamp further ahead of the own clock than this does not draw it along: 10 minutes.
    public static let futureMax: UInt64 = 10 * 60 * 1000

    /// Whether the stamp lies so far ahead that it is most likely wrong.
    ///
    /// - Parameters:
    ///   - clock: a hybrid clock.
    ///   - wallClock: the own wall clock in Unix milliseconds.
    public static func isFarFuture(_ clock: UInt64, at wallClock: UInt64) -> Bool {
        clock >> 16 > wallClock + futureMax
    }

    /// The clock of the next operation.
    ///
    /// - Parameters:
    ///   - wallClock: the own wall clock in Unix milliseconds.
    ///   - seen: the greatest clock among its causes, far-future ones left out.
    public static func next(wallClock: UInt64, after seen: UInt64) -> UInt64 {
        min(Limits.clockMax - 1, max(wallClock << 16, seen + 1))
    }
}
