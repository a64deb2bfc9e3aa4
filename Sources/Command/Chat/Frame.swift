/// All that a terminal shows: its lines, and where the cursor stands.
struct Frame: Equatable {
    /// A place on the screen, counted from 0.
    struct Place: Equatable {
        var row: Int
        var column: Int
    }

    /// How wide the terminal is.
    var columnCount: Int
    /// As many as it has rows.
    var lines: [String]
    /// Nil where it is not seen.
    var cursor: Place?

    /// The output that turns a former frame on a terminal into this one: the changed lines, and
    /// nothing else; all of them if the former one is nil or had another size.
    ///
    /// Source: ECMA-48, 8.3.21 (CUP), 8.3.39 (ED), 8.3.41 (EL); xterm for the cursor's private mode 25.
    func changes(from former: Frame?) -> String {
        if former == self { return "" }
        let isSame =
            former?.lines.count == lines.count && former?.columnCount == columnCount
        var text = ""
        for (row, line) in lines.enumerated() {
            if isSame, let former, former.lines[row] == line { continue }
            // The rest of a row goes first: behind a line that fills it, that would take its last column.
            text += "\u{1B}[\(row + 1);1H\u{1B}[K" + line
        }
        if !isSame { text = "\u{1B}[2J" + text }
        if !text.isEmpty { text = "\u{1B}[?25l" + text }
        if let cursor {
            text += "\u{1B}[\(cursor.row + 1);\(cursor.column + 1)H\u{1B}[?25h"
        } else {
            text += "\u{1B}[?25l"
        }
        return text
    }
}
