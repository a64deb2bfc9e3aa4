extension Duration {
    /// So many minutes.
    public static func minutes(_ count: Int) -> Duration { .seconds(count * 60) }
    /// So many hours.
    public static func hours(_ count: Int) -> Duration { .minutes(count * 60) }
    /// So many days of 24 hours.
    public static func days(_ count: Int) -> Duration { .hours(count * 24) }

    /// Whole milliseconds, below 0 where the duration is.
    var signedMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000)
        guard !isTooLong else { return seconds < 0 ? .min : .max }
        return whole + attoseconds / 1_000_000_000_000_000
    }

    /// Whole milliseconds; 0 where the duration is below 0, for time does not run backwards.
    var milliseconds: UInt64 { UInt64(max(0, signedMilliseconds)) }

    /// As people say it: "15 min", "1 h 2 min 5 s", "250 ms".
    var spoken: String {
        let units: [(name: String, length: UInt64)] = [
            ("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000), ("ms", 1),
        ]
        var rest = milliseconds
        var words: [String] = []
        for unit in units where rest >= unit.length {
            words.append("\(rest / unit.length) \(unit.name)")
            rest %= unit.length
        }
        return words.isEmpty ? "0 s" : words.joined(separator: " ")
    }
}
