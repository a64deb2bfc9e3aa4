import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyStorage
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
        // However wrong the clock of one other person is, it places nothing further above its own time.
        let reach = message.time + StandRule.leadMax + NodeCore.clockToleranceMax
        if message.order.stand >> 16 > reach { return "before" }
        guard let answered = answered?.operation.header,
            answered.wallClock > message.time + NodeCore.clockToleranceMax
        else { return nil }
        return "before"
    }

    /// `ahead` where a time has not come yet by this device's clock; else nil.
    static func doubt(about time: UInt64) -> String? {
        time > SystemClock.now.wall + NodeCore.clockToleranceMax ? "ahead" : nil
    }

    /// Where a conversation stands among others, in Unix milliseconds; those with one `time` go by `written`.
    struct ListPlace: Comparable {
        var time: UInt64
        var written: UInt64

        /// The place of a conversation whose newest message stands at `written`, and was received at
        /// `received`.
        ///
        /// What was received is as new as the minute in which it was: however late it came, and whatever the
        /// clocks of its author and of others before said. Within that minute what it says of itself counts: a
        /// device that was away receives everything at once.
        init(written: UInt64, received: UInt64?) {
            let minute: UInt64 = 60_000
            self.written = written
            time = (received ?? written) / minute * minute
        }

        static func < (left: Self, right: Self) -> Bool {
            (left.time, left.written) < (right.time, right.written)
        }
    }

    /// Where a conversation stands among others.
    func listPlace(of summary: ConversationSummary, _ roster: Roster) throws -> ListPlace {
        var written = try listTime(of: summary)
        var received: UInt64?
        if let newest = summary.newest {
            let own = roster.everyDevice(of: ownPerson)
            if try store.log(newest.tag, in: summary.space.number).map({ own.contains($0.device) })
                == true
            {
                // One's own clock is the one that lists; what stood above may have been ahead of it.
                let latest = SystemClock.now.wall + NodeCore.clockToleranceMax
                written = summary.newestTime.flatMap { $0 <= latest ? $0 : nil } ?? written
            } else {
                received = try self.received(newest, in: summary.space, on: own)
            }
        }
        return ListPlace(written: written, received: received)
    }

    /// When one of these devices of this person said that it has a message; of several devices the first word
    /// counts.
    private func received(
        _ order: OrderKey, in space: SpaceRecord, on own: [DeviceID]
    ) throws -> UInt64? {
        let latest = SystemClock.now.wall + NodeCore.clockToleranceMax
        let times = try own.compactMap { device -> UInt64? in
            let actor = Digest(reinterpreting: device)
            let name = OperationHash.log(space: space.id, device: device, lane: .receipts)
            guard
                let mark = try store.mark(
                    .delivered, of: actor, on: order.tag, in: space.number),
                mark.places.contains(order.sequence),
                let log = try store.log(LogTag(name), in: space.number)
            else { return nil }
            return try firstWord(about: order, upTo: mark.said, in: log)
        }
        return times.filter { $0 <= latest }.min()
    }

    /// When a log of receipts first said that a message was received, by its author's clock. Its later words
    /// about the same author, as of a reaction, are looked through, so many of them.
    private func firstWord(
        about order: OrderKey, upTo last: UInt64, in log: LogRecord
    ) throws -> UInt64? {
        var first: UInt64?
        for place in (last - min(last, 64)...last).reversed() {
            guard let stored = try store.operation(at: place, in: log.number),
                let receipts = stored.operation.payload.flatMap(Receipts.init)
            else { break }
            guard let said = receipts.delivered.first(where: { $0.tag == order.tag }) else {
                continue
            }
            guard said.places.contains(order.sequence) else { break }
            first = stored.operation.header.wallClock
        }
        return first
    }

    /// When the newest message of a conversation was written, as far as this can be believed; for one without a
    /// message when it began.
    private func listTime(of summary: ConversationSummary) throws -> UInt64 {
        guard let order = summary.newest, let number = summary.newestNumber else {
            let began = summary.began ?? 0
            let latest = SystemClock.now.wall + NodeCore.clockToleranceMax
            guard began > latest, let first = try firstNumber(in: summary.space) else {
                return began
            }
            return try arrival(of: first, latest: latest)
        }
        return try listTime(of: number, order, written: summary.newestTime ?? 0)
    }

    /// The place of an entry in a list across conversations, in Unix milliseconds. Orders apply
    /// within one: a clock that was ahead once would put everything after it in its conversation
    /// above everything in others.
    func listTime(
        of number: OperationNumber, _ order: OrderKey, written time: UInt64
    ) throws -> UInt64 {
        let latest = SystemClock.now.wall + NodeCore.clockToleranceMax
        if let told = Self.listTime(stand: order.stand, written: time, latest: latest) {
            return told
        }
        return try arrival(of: number, latest: latest)
    }

    /// The first operation of a conversation that came here.
    private func firstNumber(in space: SpaceRecord) throws -> OperationNumber? {
        let firsts = try store.logs(in: space.number).filter { $0.lane == .control && $0.end > 0 }
            .compactMap { try store.operation(at: 0, in: $0.number)?.number }
        return firsts.min { $0.rawValue < $1.rawValue }
    }

    /// When something arrived whose time has not come yet: what this device wrote next, such as a receipt, tells
    /// it.
    private func arrival(of number: OperationNumber, latest: UInt64) throws -> UInt64 {
        for next in number.rawValue..<number.rawValue + Self.laterCountMax {
            guard let stored = try store.operation(OperationNumber(next)),
                stored.operation.header.wallClock <= latest,
                try store.log(stored.log)?.device == core.node.device
            else { continue }
            return stored.operation.header.wallClock
        }
        return latest
    }

    /// The later one of a stand and the time that an author's clock said which is not after `latest`, in
    /// Unix milliseconds; nil where both are. A clock that was behind and is right again is believed at
    /// once: its stands catch up later.
    static func listTime(stand: UInt64, written time: UInt64, latest: UInt64) -> UInt64? {
        [stand >> 16, time].filter { $0 <= latest }.max()
    }

    /// So many operations that came later are looked at.
    private static let laterCountMax: Int64 = 256

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

    /// The same in one text, for what uses this device's clock elsewhere; nil if nothing is wrong.
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
