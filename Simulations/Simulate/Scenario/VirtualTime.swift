/// A stretch of virtual time, written as `"2h"`, `"1h30m"`, `"45s"` or `"250ms"` in a scenario.
public struct VirtualTime: Equatable, Comparable, Hashable, Sendable {
    /// Its length in milliseconds.
    public var milliseconds: UInt64

    /// A stretch of so many milliseconds.
    public init(milliseconds: UInt64) { self.milliseconds = milliseconds }

    /// So many milliseconds.
    public static func milliseconds(_ count: UInt64) -> Self { Self(milliseconds: count) }
    /// So many seconds.
    public static func seconds(_ count: UInt64) -> Self { Self(milliseconds: count * 1_000) }
    /// So many minutes.
    public static func minutes(_ count: UInt64) -> Self { .seconds(count * 60) }
    /// So many hours.
    public static func hours(_ count: UInt64) -> Self { .minutes(count * 60) }
    /// So many days.
    public static func days(_ count: UInt64) -> Self { .hours(count * 24) }

    /// Stretches order by their length.
    public static func < (left: Self, right: Self) -> Bool {
        left.milliseconds < right.milliseconds
    }
}

extension VirtualTime: CustomStringConvertible {
    /// The units, the longest first.
    private static let units: [(name: String, length: UInt64)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1),
    ]

    /// As a scenario writes it; "0s" for none.
    public var description: String {
        var rest = milliseconds
        var text = ""
        for unit in Self.units where rest >= unit.length {
            text += "\(rest / unit.length)\(unit.name)"
            rest %= unit.length
        }
        return text.isEmpty ? "0s" : text
    }

    /// Reads what ``description`` writes: numbers with units, the longest first, each once.
    public init?(_ text: String) {
        var rest = text[...]
        var total: UInt64 = 0
        var units = Self.units[...]
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            rest = rest[digits.endIndex...]
            let name = String(rest.prefix { $0.isLetter })
            rest = rest.dropFirst(name.count)
            guard let count = UInt64(digits),
                let place = units.firstIndex(where: { $0.name == name })
            else { return nil }
            let (length, isTooLong) = count.multipliedReportingOverflow(by: units[place].length)
            let (sum, isTooMuch) = total.addingReportingOverflow(length)
            guard !isTooLong, !isTooMuch else { return nil }
            total = sum
            units = units[(place + 1)...]
        }
        guard !text.isEmpty else { return nil }
        self.init(milliseconds: total)
    }
}

extension VirtualTime: Codable {
    /// From text like "10m".
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let time = Self(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "'\(text)' is no time like 1h30m, 45s or 250ms")
        }
        self = time
    }

    /// As text like "10m".
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
