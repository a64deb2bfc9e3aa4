/// A day of the Gregorian calendar, in days since 1970-01-01.
public struct CivilDay: Hashable, Comparable, Sendable {
    /// 9999-12-31.
    static let last = 2_932_896
    /// Days since 1970-01-01, not negative.
    public let number: Int

    /// The day of this number.
    public init(_ number: Int) { self.number = number }

    /// A day from 1970 to 9999; nil where the calendar has no such day.
    public init?(year: Int, month: Int, day: Int) {
        guard (1970...9999).contains(year), (1...12).contains(month), day >= 1,
            day <= Self.length(ofMonth: month, year)
        else { return nil }
        // Years begin in March, so that the day that comes and goes is the last of one.
        let (early, shifted) = month > 2 ? (year, month - 3) : (year - 1, month + 9)
        let (era, ofEra) = (early / 400, early % 400)
        let ofYear = (153 * shifted + 2) / 5 + day - 1
        number = era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
    }

    /// Year, month and day of the month.
    public var parts: (year: Int, month: Int, day: Int) {
        let shifted = number + 719_468
        let (era, ofEra) = (shifted / 146_097, shifted % 146_097)
        let year = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * year + year / 4 - year / 100)
        let month = (5 * ofYear + 2) / 153
        let day = ofYear - (153 * month + 2) / 5 + 1
        return (
            era * 400 + year + (month < 10 ? 0 : 1), month < 10 ? month + 3 : month - 9, day
        )
    }

    /// 0 for Monday to 6 for Sunday.
    var weekday: Int { (number + 3) % 7 }

    /// The last day of its month.
    var endOfMonth: CivilDay {
        let (year, month, day) = parts
        return CivilDay(number + Self.length(ofMonth: month, year) - day)
    }

    /// The earlier day is the lesser.
    public static func < (left: CivilDay, right: CivilDay) -> Bool { left.number < right.number }

    private static func length(ofMonth month: Int, _ year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
