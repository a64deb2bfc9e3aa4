import ParleyLedger

/// When the rosters that are held in memory were last asked for.
struct JudgeUses: Sendable {
    private var last: [SpaceNumber: UInt64] = [:]
    private var count: UInt64 = 0

    mutating func note(_ space: SpaceNumber) {
        count += 1
        last[space] = count
    }

    /// Those that nobody asked for the longest, and forgets them.
    mutating func takeOldest(_ number: Int) -> [SpaceNumber] {
        let oldest = last.sorted { $0.value < $1.value }.prefix(number).map(\.key)
        for space in oldest { last[space] = nil }
        return oldest
    }
}
