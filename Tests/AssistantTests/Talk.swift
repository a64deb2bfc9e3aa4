import ParleyAssistant

/// Conversations for tests: "ann: I'll do it." is what ann says.
enum Talk {
    /// Friday, 27 November 2026, 12:00 UTC.
    static let noon: UInt64 = 1_795_780_800_000

    /// - Parameter lines: a name, a colon and a text each; a minute passes between two.
    static func said(_ lines: [String], offset: Int = 0, at time: UInt64 = noon) -> [SaidMessage] {
        lines.enumerated().map { index, line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return SaidMessage(
                number: Int64(index + 1), author: String(parts[0]), name: String(parts[0]),
                time: time + UInt64(index) * 60_000, offset: offset,
                text: parts.count > 1 ? String(parts[1].dropFirst()) : "")
        }
    }

    static func analysis(_ lines: String...) -> Analysis { Analysis(said(lines)) }
}
