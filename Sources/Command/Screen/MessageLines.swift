import Parley
import ParleyWire

/// Messages as lines: number, time, author, text, marks; a heading where a day begins.
///
/// ```
/// Sat 25 Dec 2004
///   #7  09:14  ada  hello  ✓✓ read
///   #8  09:15  ben  ↳ #7 hi, and welcome  (edited)
///                   👍 ada
/// ```
struct MessageLines {
    /// How lines are laid out.
    struct Form {
        var authorColumnsMax = 16
        /// Whether each message has its number in front, and so names the one it answers by number;
        /// otherwise the start of that one is above it.
        var hasNumbers = true
    }
    /// In place of what somebody said whom the person blocked.
    static let hidden = "(hidden: you blocked them)"
    private let form: Form
    private let clock = Clock()
    private let screen: Screen
    private var authorColumns = 0
    private var numberColumns = 0
    private var lastDay: String?

    /// Lines for these, and for others that follow: columns widen where they have to.
    init(
        for messages: [MessageView], on screen: Screen = World.current.output, form: Form = Form()
    ) {
        (self.screen, self.form) = (screen, form)
        for message in messages { widen(for: message) }
    }

    private mutating func widen(for message: MessageView) {
        authorColumns = max(authorColumns, columnCount(author(of: message)))
        numberColumns = max(numberColumns, "#\(message.number)".count)
    }

    private func author(of message: MessageView) -> String {
        Columns.cutName(harmless(message.author), to: form.authorColumnsMax)
    }

    /// The lines of one message, after the heading of its day where that is a new one.
    mutating func add(_ message: MessageView) -> [String] {
        widen(for: message)
        return heading(at: message.time) + gap(before: message) + lines(message)
    }

    /// That something of the author right before a message is not here.
    func gap(before message: MessageView) -> [String] {
        guard let count = message.missingBefore else { return [] }
        let name = Columns.cutName(harmless(message.author), to: form.authorColumnsMax)
        let text =
            count == 1
            ? "one message of \(name), or a change of one, is not here yet"
            : "up to \(count) messages of \(name) are not here yet"
        return lines(text, at: message.time).map { screen.styled($0, .faint) }
    }

    /// The heading of a day.
    func day(of time: UInt64) -> String { screen.styled(clock.day(time), .strong) }

    /// The day, where it is another than that of the line before.
    private mutating func heading(at time: UInt64) -> [String] {
        let day = clock.day(time)
        defer { lastDay = day }
        return day == lastDay ? [] : [screen.styled(day, .strong)]
    }

    /// All of them, and between them who came and went.
    static func text(
        _ messages: [MessageView], events: [MembershipView] = [], calls: [CallRecordView] = [],
        polls: [PollView] = [], decisions: [DecisionView] = []
    ) -> String {
        var lines = MessageLines(for: messages)
        var shown: [String] = []
        let sorted = notes(events: events, calls: calls, polls: polls, decisions: decisions)
        for message in messages {
            for note in sorted where note.below == message.id {
                shown += lines.add(note.text, at: note.time)
            }
            shown += lines.add(message)
        }
        let rest = sorted.filter { $0.below == nil }
        return (shown + rest.flatMap { lines.add($0.text, at: $0.time) }).joined(separator: "\n")
    }

    /// The lines between messages, in order.
    static func notes(
        events: [MembershipView], calls: [CallRecordView], polls: [PollView],
        decisions: [DecisionView]
    ) -> [Note] {
        var notes =
            calls.map { Note($0.time, $0.below, $0.order, CallLines.text($0)) }
            + polls.map {
                Note($0.time, $0.below, $0.order, PollLines.text($0))
            }
            + decisions.map {
                Note($0.time, $0.below, $0.order, DecisionLines.text($0))
            }
        // Those about people stay in their order, whatever their clocks said.
        var last = ""
        for event in events {
            last = max(last, event.order)
            let text = MembershipLines.text(event).map { $0 + mark(event.timeDoubt) }
            notes.append(Note(event.time, event.below, last, text))
        }
        return notes.enumerated().sorted {
            ($0.element.order, $0.offset) < ($1.element.order, $1.offset)
        }.map(\.element)
    }

    /// A line between messages.
    struct Note: Equatable {
        let time: UInt64
        var below: String?
        /// Where it stands between others, as text.
        let order: String
        let text: String?

        init(_ time: UInt64, _ below: String?, _ order: String, _ text: String?) {
            (self.time, self.below, self.order, self.text) = (time, below, order, text)
        }
    }

    /// Behind a line whose time cannot be true.
    static func mark(_ doubt: String?) -> String {
        doubt == "ahead" ? "  (clock ahead)" : ""
    }

    /// The line of a membership change; nothing if it changed nothing.
    mutating func add(_ event: MembershipView) -> [String] {
        add(MembershipLines.text(event), at: event.time)
    }

    /// A line between messages; nothing where there is nothing to say.
    mutating func add(_ text: String?, at time: UInt64) -> [String] {
        guard let text else { return [] }
        return heading(at: time) + lines(text, at: time)
    }

    /// The lines of something between messages, without the heading of its day.
    func lines(_ text: String, at time: UInt64) -> [String] {
        let gap = String(repeating: " ", count: max(numberColumns, 2))
        let start =
            form.hasNumbers ? "  \(gap)  \(clock.time(time))  " : "\(clock.time(time))  "
        let (margin, width, isBelow) = room(beside: start.count + 2)
        let lines = Columns.wrap("– " + text, to: width)
        if isBelow {
            let first = screen.styled(String(start.dropLast(2)), .faint)
            return [first] + lines.map { margin + $0 }
        }
        return lines.enumerated().map { place, line in
            place == 0 ? screen.styled(start, .faint) + line : margin + line
        }
    }

    /// Where a text goes that has a start of so many columns before it: beside that, or below it on a
    /// screen that has no room beside it.
    private func room(beside columns: Int) -> (margin: String, width: Int?, isBelow: Bool) {
        let width = screen.columnCount.map { $0 - columns }
        let isBelow = width.map { $0 < Columns.countMin } ?? false
        let margin = isBelow ? 4 : columns
        return (
            String(repeating: " ", count: margin), screen.columnCount.map { $0 - margin }, isBelow
        )
    }

    /// Where a message stands and when it was written.
    private func place(of message: MessageView) -> String {
        guard form.hasNumbers else { return "\(clock.time(message.time))  " }
        let number = "#\(message.number)"
        let gap = String(repeating: " ", count: max(0, numberColumns - number.count))
        return "  \(gap)\(number)  \(clock.time(message.time))  "
    }

    /// The lines of one message, without the heading of its day.
    func lines(_ message: MessageView) -> [String] {
        let place = place(of: message)
        let author = column(
            message.isAction ? "*" : self.author(of: message), authorColumns)
        let (margin, width, isBelow) = room(beside: columnCount(place + author) + 2)
        var lines =
            quote(of: message, to: width) + body(message).flatMap { Columns.wrap($0, to: width) }
        for file in message.files {
            lines += Columns.wrap(FileLines.text(file), to: width)
            if let said = FileLines.transcript(file) { lines += Columns.wrap(said, to: width) }
        }
        if let link = message.link { lines += Columns.wrap(LinkLines.text(link), to: width) }
        // A file may come without a word.
        if message.files.count > 0, message.text == "", lines.count > 1, lines[0].isEmpty {
            // Once, of a few lines.
            lines = Array(lines.dropFirst())
        }
        let marks = marks(message)
        if !marks.isEmpty {
            if let width, columnCount(lines[lines.count - 1] + marks) + 2 > width {
                lines += Columns.wrap(marks, to: width).map { screen.styled($0, .faint) }
            } else {
                lines[lines.count - 1] += "  " + screen.styled(marks, .faint)
            }
        }
        if !message.reactions.isEmpty { lines += Columns.wrap(reactions(message), to: width) }
        if isBelow {
            let start = place + (message.isAction ? "*" : self.author(of: message))
            return Columns.wrap(start, to: screen.columnCount) + lines.map { margin + $0 }
        }
        let start =
            screen.styled(place, .faint)
            + screen.styled(author, message.isOwn ? .own : .name(message.author))
            + (form.hasNumbers ? "" : StyledLine.mark(behind: author)) + "  "
        return lines.enumerated().map { $0 == 0 ? start + $1 : margin + $1 }
    }

    /// How the message begins that this one answers, on a line of its own where numbers do not name it.
    private func quote(of message: MessageView, to width: Int?) -> [String] {
        guard !form.hasNumbers, message.replyToID != nil else { return [] }
        guard let quote = message.quote else { return [screen.styled("↳ (not here)", .faint)] }
        let line = "↳ \(harmless(quote.author)): \(harmless(quote.words))"
        return [screen.styled(width.map { Columns.cut(line, to: $0) } ?? line, .faint)]
    }

    private func body(_ message: MessageView) -> [String] {
        let absent = message.replyToID == nil ? "" : "↳ (not here) "
        let state = message.quote.map {
            $0.isDeleted
                ? "(deleted) "
                : $0.hasDisappeared ? "(disappeared) " : $0.isEdited ? "(edited) " : ""
        }
        let numbered = message.replyTo.map { "↳ #\($0) " + (state ?? "") } ?? absent
        let reply = form.hasNumbers ? numbered : ""
        if message.isDeleted { return [reply + "(deleted)"] }
        if message.isGoneHere { return [reply + "(deleted here)"] }
        if message.isHidden { return [reply + Self.hidden] }
        guard let text = message.textWithNames, !message.isMissing else {
            return [reply + "(not here yet)"]
        }
        let action = message.isAction ? harmless(message.author) + " " : ""
        let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        var shown = lines.map { harmless(String($0)) }
        if shown.isEmpty { shown = [""] }
        shown[0] = reply + action + shown[0]
        return shown
    }

    private func marks(_ message: MessageView) -> String {
        var marks: [String] = []
        func waits(_ change: String) -> Bool { message.waiting.contains { $0.change == change } }
        if let name = message.forwardedFrom {
            marks.append(name.isEmpty ? "(forwarded)" : "(forwarded from \(harmless(name)))")
        }
        if !message.isDeleted, message.editCount > 0, !waits("edit") { marks.append("(edited)") }
        for change in message.waiting { marks.append(WaitingMarks.text(change)) }
        if message.isImported {
            marks.append(
                message.importedBy.map { "(imported by \(harmless($0)))" } ?? "(imported)")
        }
        if message.mentionsMe { marks.append("(mentions you)") }
        if message.isPinned { marks.append("(pinned)") }
        if message.isStarred { marks.append("★") }
        if let mark = DisappearTime.mark(of: message) { marks.append(mark) }
        if message.isLate { marks.append("(late)") }
        switch message.timeDoubt {
        case "ahead": marks.append("(clock ahead)")
        case "before": marks.append("(clocks differ)")
        default: break
        }
        switch message.isStranded ? "stranded" : message.state {
        case "stranded": marks.append("✓ never leaves this device")
        case "saved": marks.append("✓")
        case "earlier", "returned":
            // Where it is a change that is as old, that says so.
            let isSaid = message.waiting.contains { $0.state == message.state }
            marks.append(isSaid ? "✓" : "✓ " + WaitingMarks.time(message.state))
        case "relayed": marks.append("✓ on a relay")
        case "unknown": marks.append("✓ not known whether it arrived")
        case "untold":
            marks.append(
                "✓ not known whether it arrived: you were no longer a member by then")
        case "uninvited": marks.append("✓ waits for another invite from them")
        case "unaccepted": marks.append("✓ waits until somebody accepts the invitation")
        case "delivered": marks.append("✓✓")
        case "read": marks.append("✓✓ read")
        case let state?: marks.append(harmless(state))
        case nil: break
        }
        return marks.joined(separator: " ")
    }

    private func reactions(_ message: MessageView) -> String {
        message.reactions.map { reaction in
            let more = reaction.count - reaction.names.count
            // Others can send any text for one: it is shown as a text, which no one takes for a picture.
            let emoji = reaction.isEmoji ? reaction.emoji : "“\(harmless(reaction.emoji))”"
            return emoji + " " + harmless(VisibleName.list(reaction.names))
                + (more > 0 ? " and \(more) more" : "")
        }.joined(separator: "  ")
    }
}

extension MessageView.Quote {
    /// How it begins, in one line, or why that is not there.
    var words: String {
        if isDeleted { return "(deleted)" }
        if hasDisappeared { return "(disappeared)" }
        if text == "", let files { return "(\(Self.words(files)))" }
        return (text ?? (isHidden ? "(hidden)" : "(not here yet)")).replacing("\n", with: " ")
    }

    /// `picture`, `3 pictures`; of several kinds `3 files`.
    private static func words(_ files: [String]) -> String {
        let kinds = Set(files)
        let word = kinds.count > 1 ? "file" : files[0] == "voice" ? "voice note" : files[0]
        return files.count == 1 ? word : "\(files.count) \(word)s"
    }
}
