import Parley

/// Sentences that the assistant found, as lines: the number of the message, when it was written, by whom, and
/// what it says.
///
/// ```
/// #12  25 Nov 2026 09:14  ben: I'll book the hut by Friday.
///      ben, until 2026-11-27
/// ```
enum AssistantLines {
    /// A line, and what is known beside it.
    struct Row {
        var line: CitedLine
        /// The number by which it is named: that of the message, and of the sentence where several of one
        /// message are listed.
        var number: String
        var facts: [String] = []
    }

    static func text(_ rows: [Row], clock: Clock = Clock()) -> String {
        let columns = rows.map(\.number.count).max() ?? 0
        let margin = String(repeating: " ", count: columns + 2)
        return rows.flatMap { row in
            let gap = String(repeating: " ", count: max(0, columns - row.number.count))
            let facts = row.facts.joined(separator: ", ")
            return [gap + row.number + "  " + said(row.line, clock)]
                + (facts.isEmpty ? [] : [margin + facts])
        }.joined(separator: "\n")
    }

    static func text(_ lines: [CitedLine]) -> String {
        text(lines.map { Row(line: $0, number: "#\($0.number)") })
    }

    /// Rows for lines of which a message may have several.
    static func rows(_ lines: [CitedLine], _ facts: (Int) -> [String]) -> [Row] {
        let counts = lines.reduce(into: [:]) { $0[$1.number, default: 0] += 1 }
        return lines.enumerated().map { index, line in
            let part = counts[line.number] ?? 1 > 1 ? ".\(line.sentence + 1)" : ""
            return Row(line: line, number: "#\(line.number)\(part)", facts: facts(index))
        }
    }

    private static func said(_ line: CitedLine, _ clock: Clock) -> String {
        let name = line.isOwn ? "you" : harmless(line.author)
        return "\(clock.moment(line.time))  \(name): \(harmless(line.text))"
            + (line.isCut ? " …" : "")
    }

    /// That earlier messages were not looked at.
    static func sayWhatIsLeft(_ looked: LookedAt) {
        guard looked.hasMore else { return }
        World.current.say(
            "the newest \(looked.messageCount) messages were looked at; there are earlier ones")
    }
}

/// What one missed, as lines: each conversation under its name.
///
/// ```
/// trip  4 new
///   for you
///     #12  25 Nov 2026 09:14  ben: @ann, can you call the hut?
///   also said
///     #14  25 Nov 2026 09:20  cay: The road is closed.
/// ```
enum CatchUpLines {
    static func text(_ view: CatchUpView) -> String {
        view.parts.map { part in
            var lines = ["\(harmless(part.title))  \(part.unreadCount) new"]
            add("for you", part.urgent.map(\.line), to: &lines)
            add("may be decided", part.decisions, to: &lines)
            add("also said", part.points, to: &lines)
            return lines.joined(separator: "\n")
        }.joined(separator: "\n\n")
    }

    private static func add(_ title: String, _ found: [CitedLine], to lines: inout [String]) {
        guard !found.isEmpty else { return }
        lines.append("  " + title)
        let text = AssistantLines.text(found)
        lines += text.split(separator: "\n").map { "    " + $0 }
    }
}
