/// Which events are reported, according to the person's settings. A value: time is passed in.
struct NoticeGate: Sendable {
    /// When a call rings.
    enum Calls: String, Sendable {
        case always, outsideQuietHours = "outside-quiet-hours", never
    }

    /// The settings.
    struct Rules: Equatable, Sendable {
        var mentionsOnly = false
        var quietHours: QuietHours?
        var calls = Calls.outsideQuietHours
        var perMinute = 30
    }

    var rules: Rules
    /// The minute in which was counted, how many went through, and how many did not.
    private var (minute, count, heldCount) = (Int64.min, 0, 0)
    /// Notices of a call go through for as long as it rang.
    private var ringing: Set<String> = []

    init(_ rules: Rules) { self.rules = rules }

    /// The result for a notice: itself, nothing, or with a summary of what was held back before it.
    ///
    /// - Parameters:
    ///   - seconds: now, in whole seconds of a clock that does not go back.
    ///   - minuteOfDay: now, by the person's clock.
    mutating func pass(_ notice: Notice, at seconds: Int64, minuteOfDay: Int) -> [Notice] {
        guard isWanted(notice, minuteOfDay) else { return [] }
        if seconds / 60 != minute {
            (minute, count) = (seconds / 60, 0)
        }
        // A call is over for a person who was told that it rings, whatever else was reported.
        if notice.event == .callEnded { return [notice] }
        guard count < rules.perMinute else {
            heldCount += 1
            return []
        }
        count += 1
        defer { heldCount = 0 }
        return (heldCount > 0 ? [Notice(event: .more, count: heldCount)] : []) + [notice]
    }

    private mutating func isWanted(_ notice: Notice, _ minuteOfDay: Int) -> Bool {
        let isQuiet = rules.quietHours?.contains(minuteOfDay) ?? false
        switch notice.event {
        case .call:
            let rings = rules.calls == .always || (rules.calls == .outsideQuietHours && !isQuiet)
            if rings { ringing.insert(notice.reference) }
            return rings
        case .callEnded: return ringing.remove(notice.reference) != nil
        case .message: return !isQuiet && !(rules.mentionsOnly && notice.isGroup)
        case .mention, .reminder, .request, .invitation, .more: return !isQuiet
        }
    }
}
