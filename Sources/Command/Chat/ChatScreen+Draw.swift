import Parley
import ParleyWire

/// Where things stand on a screen of some size.
struct ChatGeometry {
    /// So many columns have room for two panes beside each other.
    static let wideColumnCount = 100
    /// Below it nothing can be drawn that could be read.
    static let columnCountMin = 20, rowCountMin = 8

    let columns: Int
    let rows: Int
    /// The rows of the composer, with those above it.
    var composerRows = 1
    /// The rows between the messages and the composer.
    var talkRows = 1

    var isWide: Bool { columns >= Self.wideColumnCount }
    /// The columns of the list.
    var listWidth: Int { isWide ? min(36, max(24, columns / 5)) : columns }
    /// Where the other pane begins.
    var paneStart: Int { isWide ? listWidth + 2 : 0 }
    var paneWidth: Int { columns - paneStart }
    /// The rows between the heading and what is said below: the talk, the composer, the keys.
    var bodyRows: Int { max(1, rows - 2 - talkRows - composerRows) }
    /// What is written, and what is said above it, may each take so many rows.
    var partRowsMax: Int { max(1, rows / 3) }
    /// The rows of the list below its heading and above the keys.
    var listRows: Int { rows - 2 }
    var isTooSmall: Bool { columns < Self.columnCountMin || rows < Self.rowCountMin }
}

extension ChatScreen {
    var geometry: ChatGeometry {
        var geometry = ChatGeometry(columns: terminal.columnCount, rows: terminal.rowCount)
        geometry.composerRows = composed(in: geometry).lines.count
        geometry.talkRows = talk(geometry).lines.count
        return geometry
    }

    /// Whether messages are before the eyes.
    var isTimelineShown: Bool { geometry.isWide || focus != .list }

    /// A pane of this many columns that shows what this terminal can.
    private func screen(_ columnCount: Int) -> Screen {
        Screen(put: { _ in }, columnCount: columnCount, hasColour: terminal.hasColour)
    }

    /// The lines of a timeline in its pane; nil where it is not here yet.
    func layout(of timeline: ChatTimeline?) -> TimelineLayout? {
        guard let timeline, !timeline.isLoading else { return nil }
        let geometry = geometry
        return TimelineLayout(
            timeline, on: screen(geometry.paneWidth), height: geometry.bodyRows)
    }

    /// All that the terminal is to show.
    func frame() -> Frame {
        let geometry = geometry
        guard !geometry.isTooSmall else {
            var lines = Array(repeating: "", count: max(1, geometry.rows))
            lines[0] = Columns.cut("the window is too small", to: max(1, geometry.columns))
            return Frame(columnCount: geometry.columns, lines: lines)
        }
        let isPaneShown = geometry.isWide || focus != .list || mode != .plain
        let (pane, cursor) = paneLines(geometry)
        var lines: [String]
        if geometry.isWide {
            // By its column and not behind what is left of it: a terminal may give a sign another width.
            lines = zip(listLines(geometry), pane).map { left, right in
                StyledLine.fit(left, to: geometry.listWidth) + "\u{1B}[\(geometry.listWidth + 1)G│ "
                    + StyledLine.cut(right, to: geometry.paneWidth)
            }
        } else {
            let shown = isPaneShown ? pane : listLines(geometry)
            lines = shown.map { StyledLine.cut($0, to: geometry.columns) }
        }
        lines.append(StyledLine.cut(keyLine(geometry), to: geometry.columns))
        return Frame(
            columnCount: geometry.columns, lines: lines, cursor: isPaneShown ? cursor : nil)
    }

    /// The line from which on the rest of the help fills the pane; 0 if it all fits.
    func helpStartMax(_ geometry: ChatGeometry) -> Int {
        max(0, Self.helpLines(isVi: terminal.isVi).count - geometry.bodyRows)
    }

    // MARK: The list

    private func listLines(_ geometry: ChatGeometry) -> [String] {
        let screen = screen(geometry.listWidth)
        let unread = list.conversations.reduce(0) { $0 + min($1.unread, 100_000) }
        let title = unread > 0 ? " Parley · \(unread) new" : " Parley"
        var lines = [screen.styled(column(title, geometry.listWidth), .bar)]
        for conversation in list.shown(rows: geometry.listRows) {
            lines.append(listLine(conversation, screen, geometry.listWidth))
        }
        if list.conversations.isEmpty { lines.append("  no conversations yet") }
        return Self.filled(lines, to: geometry.rows - 1)
    }

    private func listLine(
        _ conversation: ConversationView, _ screen: Screen, _ width: Int
    ) -> String {
        let isChosen = conversation.id == list.chosenID && focus == .list
        let mark = isChosen ? "▌" : conversation.id == timeline?.conversation ? "›" : " "
        var signs: [String] = []
        if list.typing[conversation.id] != nil { signs.append("…") }
        if conversation.draft != nil { signs.append("✎") }
        if conversation.unreadMentions > 0 { signs.append("@") }
        if conversation.unread > 0 {
            signs.append("\(conversation.unread)")
        } else if conversation.isMarkedUnread {
            signs.append("•")
        }
        let end = signs.isEmpty ? "" : " " + signs.joined(separator: " ")
        let room = max(1, width - 3 - columnCount(end))
        let name = column(Columns.cutName(conversation.distinctName, to: room), room)
        let isNews = conversation.unread > 0 || conversation.isMarkedUnread
        let isQuiet = conversation.isMuted || conversation.isArchived
        let style: Style? = isNews && !isQuiet ? .strong : isQuiet ? .faint : nil
        let text = name + StyledLine.mark(behind: name) + end
        return mark + " " + (style.map { screen.styled(text, $0) } ?? text)
    }

    // MARK: The pane beside it

    private func paneLines(
        _ geometry: ChatGeometry
    ) -> (lines: [String], cursor: Frame.Place?) {
        let screen = screen(geometry.paneWidth)
        let heading = screen.styled(column(" " + heading, geometry.paneWidth), .bar)
        let body = Self.filled(body(geometry, screen), to: geometry.bodyRows)
        let composed = composed(in: geometry)
        var cursor = composed.cursor
        cursor?.row += 1 + geometry.bodyRows + geometry.talkRows
        cursor?.column += geometry.paneStart
        let talk = talk(geometry)
        var talkLines = talk.lines.map { screen.styled($0, notice.isEmpty ? .faint : .strong) }
        talkLines[talkLines.count - 1] += "  " + talk.end
        return ([heading] + body + talkLines + composed.lines, cursor)
    }

    private var heading: String {
        switch mode {
        case .finding: return "Go to a conversation"
        case .searching: return "Search"
        case .help: return "Keys"
        default: break
        }
        guard let timeline, let conversation = list[timeline.conversation] else { return "" }
        var parts = [conversation.distinctName]
        if !conversation.resembles.isEmpty {
            let others = conversation.resembles.joined(separator: ", ")
            parts.append("not \(others), whose name looks the same")
        }
        if thread != nil { parts.append("thread") }
        if conversation.kind == "group" {
            parts.append(VisibleName.list(conversation.members))
        }
        if conversation.isMuted { parts.append("muted") }
        if conversation.isOut { parts.append("you are not in it any more") }
        if let waiting = conversation.waitingFor { parts.append(waiting) }
        return parts.joined(separator: " · ")
    }

    private func body(_ geometry: ChatGeometry, _ screen: Screen) -> [String] {
        switch mode {
        case .finding(let chooser):
            let matches = list.matches(chooser.editor.text)
            return Self.around(
                chooser.chosen,
                of: matches.enumerated().map { place, conversation in
                    [(place == chooser.chosen ? "▌ " : "  ") + harmless(conversation.distinctName)]
                }, height: geometry.bodyRows)
        case .searching(let chooser):
            return hitLines(chooser, screen, geometry.bodyRows)
        case .help(let first):
            let lines = Self.helpLines(isVi: terminal.isVi)
            return Array(lines.dropFirst(min(first, helpStartMax(geometry))))
        default: break
        }
        guard let timeline = active else {
            return ["", "  Choose a conversation: ↑ ↓ and Enter, or Ctrl-K."]
        }
        guard var layout = layout(of: timeline) else { return ["", "  …"] }
        let rows = layout.rows().map(\.text)
        if rows.isEmpty { return ["", "  no messages yet"] }
        return Array(repeating: "", count: max(0, geometry.bodyRows - rows.count)) + rows
    }

    private func hitLines(_ chooser: Chooser, _ screen: Screen, _ height: Int) -> [String] {
        let clock = Clock()
        let width = max(1, (screen.columnCount ?? 80) - 4)
        let blocks = found.hits.enumerated().map { place, hit in
            let text = hit.pieces.map { $0.isMatch ? "«\($0.text)»" : $0.text }.joined()
            let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
            return [
                (place == chooser.chosen ? "▌ " : "  ")
                    + screen.styled(
                        "\(clock.moment(hit.message.time))  \(harmless(hit.message.author)) in "
                            + harmless(hit.conversation), .faint),
                "    " + Columns.cut(harmless(line), to: width),
            ]
        }
        let isAsked = !chooser.editor.isEmpty && found.text == chooser.editor.text
        let none = isAsked && blocks.isEmpty ? ["  nothing was found"] : []
        let notes = found.notes.flatMap { Columns.wrap(harmless($0), to: width) }.map { "  " + $0 }
        return Self.around(chooser.chosen, of: blocks, height: height - notes.count) + none + notes
    }

    /// The lines above the composer: what the person is told, or who types; and what stands behind
    /// the last of them: which message is chosen, and what is below.
    private func talk(_ geometry: ChatGeometry) -> (lines: [String], end: String) {
        let names = timeline.flatMap { list.typing[$0.conversation] } ?? []
        let typing = names.isEmpty ? "" : VisibleName.list(names) + " …"
        var below = ""
        if mode == .plain, let timeline = active, !timeline.isAtEnd, !timeline.isLoading {
            let unread = list[timeline.conversation]?.unread ?? 0
            below = unread > 0 ? "↓ \(unread) new: End" : "↓ End"
        }
        let number = focus == .timeline ? active?.selected.map { "#\($0.number)" } ?? "" : ""
        let end = [number, below].filter { !$0.isEmpty }.joined(separator: "  ")
        let room = max(1, geometry.paneWidth - columnCount(end) - 2)
        guard !notice.isEmpty else { return ([column(typing, room)], end) }
        var lines = Columns.wrap(harmless(notice), to: room)
        if lines.count > geometry.partRowsMax {
            let rest = lines[(geometry.partRowsMax - 1)...].joined(separator: " ")
            lines = lines.prefix(geometry.partRowsMax - 1) + [rest]
        }
        return (lines.map { column($0, room) }, end)
    }

    /// The keys that matter here, as many as there is room for.
    private func keyLine(_ geometry: ChatGeometry) -> String {
        let keys =
            switch (mode, focus) {
            case (.finding, _), (.searching, _): ["Enter go there", "↑↓ choose", "Esc back"]
            case (.reacting, _): ["1-8 or an emoji", "Enter react", "Esc back"]
            case (.saving, _): ["Enter save", "Esc back"]
            case (.deleting, _): ["y delete it for everyone", "any other key: keep it"]
            case (.quitting, _): ["y quit", "any other key: go on"]
            case (.help, _):
                helpStartMax(geometry) > 0
                    ? ["↑↓ scroll", "any other key goes back"] : ["any key goes back"]
            case (.plain, .list):
                ["Enter open", "↑↓ choose", "Ctrl-K go to", "/ search", "? help", "Ctrl-Q quit"]
            case (.plain, .timeline): timelineKeys
            case (.plain, .composer):
                [
                    "Enter send", "↑ messages", "Tab list", "F1 help", "Ctrl-Q quit",
                    "Alt-Enter new line", "Ctrl-K go to", "Ctrl-F search", "/file PATH",
                ]
            }
        var line = ""
        for key in keys {
            let longer = line.isEmpty ? " " + key : line + "  " + key
            guard columnCount(longer) <= geometry.columns else { break }
            line = longer
        }
        return screen(geometry.columns).styled(line, .faint)
    }

    private var timelineKeys: [String] {
        let chosen = active?.selected
        let isOwn = chosen?.isOwn == true && chosen?.isDeleted == false
        return ["r reply", "+ react"] + (isOwn ? ["e edit", "d delete"] : [])
            + ["t thread", "? help", "i write"]
            + (chosen?.files.isEmpty == false ? ["s save", "o where"] : [])
            + ["/ search", "n next", "← list", "Ctrl-Q quit"]
    }

    // MARK: Pieces

    private static func filled(_ lines: [String], to count: Int) -> [String] {
        Array(lines.prefix(count)) + Array(repeating: "", count: max(0, count - lines.count))
    }

    /// As many blocks as there is room for, one of them among these.
    private static func around(
        _ chosen: Int, of blocks: [[String]], height: Int
    ) -> [String] {
        let size = max(1, blocks.first?.count ?? 1)
        let count = max(1, height / size)
        let start = max(0, min(chosen - count / 2, blocks.count - count))
        return blocks.dropFirst(start).prefix(count).flatMap { $0 }
    }
}
