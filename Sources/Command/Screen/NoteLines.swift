import Parley
import ParleyWire

/// Notes as lines.
///
/// ```
/// #12  what to bring  (“trip”, 3 edits, the last by ben, 26 Nov 2026 12:30)
/// ```
enum NoteLines {
    /// All of them, each in a line.
    static func text(_ notes: [NoteView]) -> String {
        let columns = notes.map { "#\($0.number)".count }.max() ?? 0
        let clock = Clock()
        return notes.map { note in
            var facts = ["“\(harmless(note.place))”"]
            if let editor = note.editor, let time = note.editTime {
                facts.append(counted(note.editCount, "edit"))
                facts.append("the last by \(harmless(editor))")
                facts.append(clock.moment(time))
            } else {
                facts.append("begun by \(harmless(note.author))")
            }
            return number(note.number, columns)
                + "\(words(note))  (\(facts.joined(separator: ", ")))"
                + MessageLines.mark(note.timeDoubt) + WaitingMarks.text(note.waiting)
        }.joined(separator: "\n")
    }

    /// A line between messages: that there is a text that all may edit, and who edited it last.
    static func text(_ note: NoteView) -> String {
        let state =
            note.editor.map { "edited by \(harmless($0))" }
            ?? "begun"
        return "\(harmless(note.author)): \(words(note))  (note #\(note.number), \(state))"
            + WaitingMarks.text(note.waiting) + MessageLines.mark(note.timeDoubt)
    }

    private static func words(_ note: NoteView) -> String {
        note.isHidden ? MessageLines.hidden : harmless(note.title)
    }

    /// What one says, line by line.
    static func text(_ shown: NoteTextView) -> String {
        var lines = shown.text.split(omittingEmptySubsequences: false) {
            $0 == "\n" || $0 == "\r\n"
        }
        if lines.last?.isEmpty == true { lines.removeLast() }
        return lines.map { harmless(String($0)) }.joined(separator: "\n")
    }

    /// Edits, each in a line.
    static func text(_ steps: [NoteStepView]) -> String {
        let columns = steps.map { "#\($0.number)".count }.max() ?? 0
        let clock = Clock()
        return steps.map { step in
            let count = "+\(step.inserted) −\(step.deleted)"
            let line = step.beginning.split { $0.isNewline }.first
            let words = line.map { "  \(harmless(String($0)))" }
            let rest =
                step.lineCount > 1 ? "  (and \(counted(step.lineCount - 1, "more line")))" : ""
            return number(step.number, columns)
                + "\(clock.moment(step.time))  \(harmless(step.author))  \(count)" + (words ?? "")
                + rest + (WaitingMarks.notTaken(step.untaken).map { "  (\($0))" } ?? "")
        }.joined(separator: "\n")
    }

    private static func number(_ number: Int64, _ columns: Int) -> String {
        let text = "#\(number)"
        return String(repeating: " ", count: max(0, columns - text.count)) + text + "  "
    }
}
