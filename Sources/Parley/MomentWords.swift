public import Foundation

/// Times as a person reads them: where they are, in twenty-four hours, whatever the locale.
public struct MomentWords: Sendable {
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    private var calendar = Calendar(identifier: .gregorian)

    /// Words for times of a zone.
    public init(_ zone: TimeZone) { calendar.timeZone = zone }

    /// `Sat 25 Dec 2004`. Times are in Unix milliseconds, here and below.
    public func day(_ milliseconds: UInt64) -> String {
        let parts = parts(milliseconds)
        let weekday = Self.days[((parts.weekday ?? 1) - 1) % 7]
        let month = Self.months[((parts.month ?? 1) - 1) % 12]
        return "\(weekday) \(parts.day ?? 0) \(month) \(parts.year ?? 0)"
    }

    /// `09:14`.
    public func time(_ milliseconds: UInt64) -> String {
        let parts = parts(milliseconds)
        return Self.padded(parts.hour) + ":" + Self.padded(parts.minute)
    }

    /// `25 Dec 2004 09:14`.
    public func moment(_ milliseconds: UInt64) -> String {
        day(milliseconds).dropFirst(4) + " " + time(milliseconds)
    }

    private func parts(_ milliseconds: UInt64) -> DateComponents {
        let date = Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
        return calendar.dateComponents(
            [.year, .month, .day, .weekday, .hour, .minute], from: date)
    }

    private static func padded(_ number: Int?) -> String {
        let number = number ?? 0
        return number < 10 ? "0\(number)" : "\(number)"
    }
}
