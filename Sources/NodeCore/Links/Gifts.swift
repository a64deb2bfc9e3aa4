/// What was given to a person for nothing within an hour.
struct Gifts: Sendable {
    /// How many were, less what has come back since.
    private(set) var given: UInt64 = 0
    private var since: UInt64 = 0

    /// Whether it is as if nothing had been given.
    func areBack(at now: UInt64) -> Bool { given == 0 || now >= since + Allowance.hour }

    /// How many may still be given for nothing, if that is `free` within an hour.
    mutating func left(of free: UInt64, at now: UInt64) -> UInt64 {
        let passed = min(now - min(now, since), Allowance.hour)
        let (product, overflow) = passed.multipliedReportingOverflow(by: free)
        let back = overflow ? free : product / Allowance.hour
        if back > 0 {
            given -= min(given, back)
            since = now
        }
        return free - min(free, given)
    }

    /// Takes into account that so many were given.
    ///
    /// - Returns: how many of them are to be paid for.
    mutating func take(_ count: UInt64, freely free: UInt64, at now: UInt64) -> UInt64 {
        let unpaid = min(count, left(of: free, at: now))
        given += unpaid
        return count - unpaid
    }
}
