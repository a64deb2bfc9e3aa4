import Parley
import ParleyWire

/// Things to be done, as lines.
///
/// ```
/// #12  ☐ book the hut  ben, until 2026-12-01
/// #14  ☑ call the hut  ann, done by ann
/// ```
enum ItemLines {
    /// All of them, each in a line, and in further ones where more is to say.
    static func text(_ items: [ItemView], isWhole: Bool = false) -> String {
        let columns = items.map { "#\($0.number)".count }.max() ?? 0
        return items.flatMap { lines($0, numberColumns: columns, isWhole: isWhole) }
            .joined(separator: "\n")
    }

    /// A line between messages: that something is to be done, and how it stands.
    static func text(_ item: ItemView) -> String {
        let state = item.doneBy.map { "done by \(harmless($0))" } ?? "to do"
        var facts = VisibleName.listed(item.assignees.map(harmless))
        if let due = item.due { facts.append("due \(due)") }
        return "\(harmless(item.author)): \(words(item))  "
            + "(item #\(item.number), \(([state] + facts).joined(separator: ", ")))"
            + WaitingMarks.text(item.waiting) + MessageLines.mark(item.timeDoubt)
    }

    private static func words(_ item: ItemView) -> String {
        item.isHidden ? MessageLines.hidden : harmless(item.title)
    }

    private static func lines(
        _ item: ItemView, numberColumns: Int, isWhole: Bool
    ) -> [String] {
        let number = "#\(item.number)"
        let gap = String(repeating: " ", count: max(0, numberColumns - number.count))
        let margin = String(repeating: " ", count: numberColumns + 4)
        let box = item.doneBy == nil ? "☐" : "☑"
        let facts = facts(item).joined(separator: ", ")
        var lines = [
            "\(gap)\(number)  \(box) \(words(item))" + (facts.isEmpty ? "" : "  \(facts)")
                + MessageLines.mark(item.timeDoubt) + WaitingMarks.text(item.waiting)
        ]
        for title in item.otherTitles {
            lines.append(margin + "or: \(harmless(title))  (written at the same time)")
        }
        guard isWhole else { return lines }
        let notes = item.notes.split(omittingEmptySubsequences: false) {
            $0 == "\n" || $0 == "\r\n"
        }
        if !item.notes.isEmpty { lines += notes.map { margin + harmless(String($0)) } }
        if let source = item.source { lines.append(margin + "from the message \(source)") }
        lines.append(margin + "begun by \(harmless(item.author)) in “\(harmless(item.place))”")
        return lines
    }

    private static func facts(_ item: ItemView) -> [String] {
        var facts = VisibleName.listed(item.assignees.map(harmless))
        if let due = item.due { facts.append("due \(due)") }
        if let person = item.doneBy { facts.append("done by \(harmless(person))") }
        return facts
    }
}
