/// Hours of each day without notifications, over midnight if the end is before the beginning.
struct QuietHours: Equatable, Sendable {
    /// Minutes since midnight: the first that is quiet, and the first that is not.
    let start: Int, end: Int

    /// Reads `22:00-07:00`; nil for anything else, and for hours without a length.
    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let start = Self.minute(parts[0]), let end = Self.minute(parts[1]),
            start != end
        else { return nil }
        (self.start, self.end) = (start, end)
    }

    /// - Parameter minute: since midnight.
    func contains(_ minute: Int) -> Bool {
        start < end ? (start..<end).contains(minute) : minute >= start || minute < end
    }

    private static func minute(_ text: String) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 }),
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let hour = Int(parts[0]), let minute = Int(parts[1]), hour < 24, minute < 60
        else { return nil }
        return hour * 60 + minute
    }
}
