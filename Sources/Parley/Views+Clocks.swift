import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyWire

/// Clocks that are wrong, in words. Source: `Protocol/03-operations.md`, "Wrong clocks".
extension Views {
    /// Why the time of a message cannot be true; see ``MessageView/timeDoubt``.
    static func doubt(
        about message: Message, answering answered: StoredOperation?, at wall: UInt64
    ) -> String? {
        // Others vouch for nothing of an imported message, its time included.
        if message.origin != nil { return nil }
        if message.time > wall + NodeCore.clockToleranceMax { return "ahead" }
        guard let answered = answered?.operation.header,
            answered.wallClock > message.time + NodeCore.clockToleranceMax
        else { return nil }
        return "before"
    }

    /// Sentences for the owner of a clock that differs from those of the peers.
    func clockWarnings(at now: Instant) throws -> [String] {
        let all = core.clockDifferences(at: now)
        let apart = all.filter(\.isApart)
        let ahead = apart.filter { $0.ahead > 0 }
        let behind = apart.filter { $0.ahead < 0 }
        let most = ahead.count > behind.count ? ahead : behind
        // One other clock says that one of the two is wrong; several say which.
        if most.count > 1, most.count * 2 > all.count {
            let list = try most.map { "\(Self.length($0.ahead)) \(try clock(of: $0))" }
            let way = most[0].ahead > 0 ? "behind" : "ahead of"
            return [
                "This device's clock seems wrong: it is \(way) those of \(most.count) of "
                    + "\(all.count) peers (\(list.joined(separator: ", "))). Set it right: your "
                    + "messages carry its time."
            ]
        }
        return try apart.map { difference in
            let way = difference.ahead > 0 ? "ahead of" : "behind"
            return "The clock of \(try clock(of: difference)) is "
                + "\(Self.length(difference.ahead)) \(way) this device's: one of the two is wrong."
        }
    }

    /// The same in one text, for what goes by this device's clock elsewhere; nil where nothing is wrong.
    func clockWarning() throws -> String? {
        let warnings = try clockWarnings(at: SystemClock.now)
        return warnings.isEmpty ? nil : warnings.joined(separator: " ")
    }

    private func clock(of difference: ClockDifference) throws -> String {
        try difference.person == ownPerson
            ? "your device \(difference.device.short)" : name(of: difference.person)
    }

    /// `7 min`, `1 h 5 min`, `400 days`: of milliseconds, whatever their sign.
    private static func length(_ milliseconds: Int64) -> String {
        let minutes = (milliseconds.magnitude + 30_000) / 60_000
        let (hours, days) = (minutes / 60, (minutes + 720) / 1_440)
        if minutes < 60 { return "\(minutes) min" }
        if hours < 48 {
            return "\(hours) h" + (minutes % 60 == 0 ? "" : " \(minutes % 60) min")
        }
        return "\(days) days"
    }
}
