/// A day of the Gregorian calendar, in UTC: all that a log without time zones can tell.
public struct CalendarDay: Equatable, Sendable, CustomStringConvertible {
    /// Milliseconds of one day. There are no leap seconds in Unix time.
    public static let millisecondCount: UInt64 = 86_400_000

    /// The year, 1970 to 2200: what a wall clock here may show.
    public let year: Int
    /// The month, from 1.
    public let month: Int
    /// The day, from 1.
    public let day: Int

    /// The day that these ten characters name, as `2004-12-25`; nil where they name none.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == [4, 2, 2] else { return nil }
        let isDigits = parts.joined().utf8.allSatisfy { (0x30...0x39).contains($0) }
        let numbers = parts.compactMap { Int($0) }
        guard isDigits, numbers.count == 3, (1970...2200).contains(numbers[0]) else { return nil }
        guard (1...12).contains(numbers[1]) else { return nil }
        let last = Self.dayCount(month: numbers[1], year: numbers[0])
        guard (1...last).contains(numbers[2]) else { return nil }
        (year, month, day) = (numbers[0], numbers[1], numbers[2])
    }

    /// When it begins, in Unix milliseconds.
    public var start: UInt64 {
        var days = 0
        for past in 1970..<year { days += Self.isLeap(past) ? 366 : 365 }
        for past in 1..<month { days += Self.dayCount(month: past, year: year) }
        return UInt64(days + day - 1) * Self.millisecondCount
    }

    /// `2004-12-25`.
    public var description: String {
        func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(year)-\(padded(month))-\(padded(day))"
    }

    private static func isLeap(_ year: Int) -> Bool {
        year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
    }

    private static func dayCount(month: Int, year: Int) -> Int {
        if month == 2 { return isLeap(year) ? 29 : 28 }
        return [4, 6, 9, 11].contains(month) ? 30 : 31
    }
}
