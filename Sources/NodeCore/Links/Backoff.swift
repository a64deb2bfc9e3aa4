/// How long to wait before the next attempt: twice as long after each failure, up to a limit.
struct Backoff: Equatable, Sendable {
    /// The delay while nothing has failed, in milliseconds.
    let first: UInt64
    /// The longest delay, in milliseconds.
    let max: UInt64

    /// The delay after so many failures in a row, in milliseconds.
    func delay(after failureCount: UInt64) -> UInt64 {
        // Shifted any further, the first delay would lose bits and come out short.
        let doublings = Swift.min(failureCount, UInt64(first.leadingZeroBitCount))
        return Swift.min(max, first << doublings)
    }
}
