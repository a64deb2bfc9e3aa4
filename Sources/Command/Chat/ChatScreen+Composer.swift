import Parley

extension ChatScreen {
    /// The text being written, as lines, with the cursor.
    func composed(in geometry: ChatGeometry) -> (lines: [String], cursor: Frame.Place?) {
        switch mode {
        case .plain: break
        case .help: return ([""], nil)
        case .deleting: return (["Delete it for everyone? y/n"], nil)
        case .quitting:
            let edits = composer.unsavedEdits
            let what =
                edits.count == 1
                ? "your edit of #\(edits[0].number)" : "\(edits.count) unsaved edits"
            return (["Quit and drop \(what)? y/n"], nil)
        case .finding(let chooser): return prompt("go to: ", chooser.editor, geometry)
        case .searching(let chooser): return prompt("search: ", chooser.editor, geometry)
        case .saving(_, let editor): return prompt("save to: ", editor, geometry)
        case .reacting(_, let editor):
            let quick = Self.quickEmojis.enumerated().map { "\($0 + 1) \($1)" }
            let found = prompt("emoji: ", editor, geometry)
            var cursor = found.cursor
            cursor?.row += 1
            return ([quick.joined(separator: "  ")] + found.lines, cursor)
        }
        guard timeline != nil else { return ([""], nil) }
        var above: [String] = []
        switch composer.purpose {
        case .message: break
        case .reply(let message):
            let text = (message.text ?? "").replacing("\n", with: " ")
            above = ["↳ \(harmless(message.author)): \(harmless(text))"]
        case .edit(let message): above = ["editing #\(message.number)"]
        }
        above = above.map { Columns.cut($0, to: max(1, geometry.paneWidth - 1)) }
        let sign = terminal.isVi && !composer.isInserting ? ": " : "> "
        let (lines, cursor) = prompt(
            sign, composer.editor, geometry, rowsMax: max(1, geometry.partRowsMax - above.count))
        var place = focus == .composer ? cursor : nil
        place?.row += above.count
        return (above + lines, place)
    }

    /// A text that is written behind a sign: as many rows of it as there is room for, the cursor among them.
    private func prompt(
        _ sign: String, _ editor: LineEditor, _ geometry: ChatGeometry, rowsMax: Int = 1
    ) -> (lines: [String], cursor: Frame.Place?) {
        let margin = columnCount(sign)
        let (rows, cursor) = Self.rows(of: editor, width: max(1, geometry.paneWidth - margin))
        let first = max(0, min(cursor.row - rowsMax + 1, rows.count - rowsMax))
        let blank = String(repeating: " ", count: margin)
        let lines = rows.dropFirst(first).prefix(rowsMax).enumerated().map { place, row in
            (place == 0 && first == 0 ? sign : blank) + row
        }
        return (lines, Frame.Place(row: cursor.row - first, column: cursor.column + margin))
    }

    /// A text in rows of so many columns, and the cursor in them.
    static func rows(
        of editor: LineEditor, width: Int
    ) -> (rows: [String], cursor: Frame.Place) {
        var (rows, column) = ([""], 0)
        func add(_ text: String) {
            for character in text {
                if character == "\n" {
                    rows.append("")
                    column = 0
                    continue
                }
                let shown = harmless(String(character))
                let count = columnCount(shown)
                if column + count > width, column > 0 {
                    rows.append("")
                    column = 0
                }
                rows[rows.count - 1] += shown
                column += count
            }
        }
        add(editor.before)
        if column >= width {
            rows.append("")
            column = 0
        }
        let cursor = Frame.Place(row: rows.count - 1, column: column)
        add(editor.after)
        return (rows, cursor)
    }

    /// What the keys do.
    static func helpLines(isVi: Bool) -> [String] {
        let lines = [
            "everywhere",
            "  Tab           list, messages, what you write",
            "  Ctrl-K        go to a conversation",
            "  Ctrl-F        search messages",
            "  Alt-↑ Alt-↓   the conversation above, below",
            "  Page ↑ ↓      scroll; End goes to the newest",
            "  Ctrl-Q        quit; so does Ctrl-C twice",
            "messages",
            "  ↑ ↓ or k j    choose one; g the first, G the newest",
            "  r + t         reply, react, show the thread",
            "  e d           edit, delete for everyone",
            "  s o           save its files, say where they are",
            "  / n N         search, the next hit, the one before",
            "  i ←           write, the list",
            "what you write",
            "  Enter         send; Alt-Enter begins a new line",
            "  /file PATH    send a file; /me TEXT says what you do",
            "  Ctrl-A E U W Y, Alt-B F D K   as in Emacs",
        ]
        let vi = [
            "  Esc           normal mode: h l w b 0 $ x dd p, i a A writes",
            "  j k gg G / n  from there: the messages",
        ]
        return lines + (isVi ? vi : [])
    }
}
