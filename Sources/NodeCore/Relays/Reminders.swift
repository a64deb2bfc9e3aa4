import ParleyLedger
import ParleyWire

/// How often devices without a link were reminded of what was put for them, and when they are
/// again.
///
/// Owns one count for each space that has a reminder due; the core keeps the same counts in the store.
/// Source: `Protocol/06-relay.md`, "Reminders".
struct Reminders: Sendable {
    /// This long after something was put the first devices are reminded; then 8 and 64 times as long
    /// after that, then once a day. In milliseconds.
    static let delayMin: UInt64 = 600_000
    /// The longest delay, in milliseconds.
    static let delayMax: UInt64 = 24 * 3_600_000
    /// How often in all, unless something new is put: about as many days as relays keep it.
    static let countMax: UInt64 = 30
    /// So many devices are reminded at a time.
    static let deviceCountMax = 3
    /// How often devices compare what they hold once nothing new arrives: within a day and a half.
    static let comparisonCountMax: UInt64 = 4

    private var counts: [SpaceNumber: UInt64] = [:]

    /// How often devices of a space were reminded; nil where no reminder is due.
    func count(of space: SpaceNumber) -> UInt64? { counts[space] }

    /// Sets how often devices of a space were reminded; nil ends that.
    ///
    /// - Returns: whether that is another count than before.
    mutating func setCount(_ count: UInt64?, of space: SpaceNumber) -> Bool {
        guard counts[space] != count else { return false }
        counts[space] = count
        return true
    }

    /// Forgets a space, whose count is gone from the store.
    mutating func forget(_ space: SpaceNumber) { counts[space] = nil }

    /// How often devices of a space will have been reminded after this time; nil where that is enough.
    func nextCount(of space: SpaceNumber) -> UInt64? {
        guard let count = counts[space], count + 1 < Self.countMax else { return nil }
        return count + 1
    }

    /// How long until the next reminder of a space, in milliseconds; nil where none is due. Neither all
    /// spaces nor all devices have theirs at once.
    ///
    /// - Parameter device: who reminds.
    func delay(of space: SpaceNumber, by device: DeviceID) -> UInt64? {
        guard let count = counts[space] else { return nil }
        let draw = device.prefix &+ UInt64(bitPattern: space.rawValue) &* 7_919
        let first = Self.delayMin + draw % (Self.delayMin / 4)
        return min(first << (3 * min(count, 4)), Self.delayMax)
    }

    /// Who is written to this time, different devices each time: those that lack something written
    /// here, and in the first rounds also others, at least one. Operations of third authors are
    /// compared with these, because their author may be gone; and a device that never acknowledges
    /// does not prevent that.
    ///
    /// - Parameter device: who reminds.
    func due<One>(
        behind: [One], others: [One], of space: SpaceNumber, by device: DeviceID
    ) -> [One] {
        guard let count = counts[space] else { return [] }
        func inTurn(_ devices: [One], _ limit: Int) -> [One] {
            guard !devices.isEmpty else { return [] }
            let start = Int((device.prefix &+ 3 * count) % UInt64(devices.count))
            return Array((devices[start...] + devices[..<start]).prefix(limit))
        }
        let reminded = inTurn(behind, Self.deviceCountMax)
        guard count < Self.comparisonCountMax else { return reminded }
        return reminded + inTurn(others, max(1, Self.deviceCountMax - reminded.count))
    }
}
