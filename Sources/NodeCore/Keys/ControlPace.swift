import ParleyWire

/// How often a device writes into its own control log by itself. Such a log [ends for good](Limits), whoever
/// causes it to grow: so what is automatic becomes rarer the longer it is, and the last quarter is for what
/// people do, and for keys after a change of members.
/// Source: `Protocol/09-epochs.md`, "A long control log".
enum ControlPace {
    private static let hour: UInt64 = 3_600_000
    /// From this length on an epoch is made at most once an hour, and none for an answer.
    private static let reserved: UInt64 = 3_072

    /// How old an epoch is before an answer has another one made; nil for never.
    ///
    /// - Parameter end: how many operations the device's control log has.
    static func answerAge(at end: UInt64) -> UInt64? {
        switch end {
        case ..<1_024: hour / 4
        case ..<2_048: hour
        case ..<reserved: 24 * hour
        default: nil
        }
    }

    /// How long after one epoch the next one is made, except by the author of a change of the roster.
    static func epochInterval(at end: UInt64) -> UInt64 { end < reserved ? 0 : hour }

    /// Whether a fault may still be written: without it operations arrive by reconciliation.
    static func hasRoomForFault(at end: UInt64) -> Bool { end < 2_048 }
}

/// When a device told others of epochs that it cannot open: those of one person, on whatever devices they were
/// made, once an hour, and of all together a few a day.
struct FaultPace: Sendable {
    /// Faults of one day.
    static let dayCountMax = 8
    private static let day: UInt64 = 86_400_000

    private var last: [PersonID: UInt64] = [:]
    private var times: [UInt64] = []

    /// Whether one may be written about an epoch of a person's.
    ///
    /// - Parameter now: on the monotonic clock, in milliseconds.
    func allows(about person: PersonID, at now: UInt64) -> Bool {
        let isSoon = last[person].map { now < $0 + NodeCore.faultInterval } ?? false
        return !isSoon && times.count { now < $0 + Self.day } < Self.dayCountMax
    }

    /// Notes that one was written.
    mutating func note(about person: PersonID, at now: UInt64) {
        last[person] = now
        times = times.filter { now < $0 + Self.day } + [now]
    }
}
