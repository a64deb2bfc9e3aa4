import Parley

/// Messages that follow each other, and how many stand above and below them.
struct ChatPage: Equatable {
    /// So many are held and asked for at once.
    static let countMax = MessagePage.remoteMessageCountMax

    /// Oldest first.
    var messages: [MessageView] = []
    var aboveCount = 0
    var belowCount = 0
    /// The last operation that was stored when they were read.
    var last: Int64 = 0

    init() {}

    init(_ page: MessagePage) {
        (messages, last) = (page.messages, page.last)
        (aboveCount, belowCount) = (page.aboveCount, page.belowCount)
    }

    /// The message that a thread begins with, and its newest answers.
    init(_ thread: ThreadPage) {
        messages = (thread.root.map { [$0] } ?? []) + thread.answers
        (aboveCount, last) = (thread.aboveCount, thread.last)
    }
}

/// A conversation, or a thread of one, and its visible part.
struct ChatTimeline: Equatable {
    /// The content of the lowest row.
    struct Anchor: Equatable {
        var id: String
        /// How many of its lines are below the screen.
        var hiddenCount = 0
    }

    /// The conversation, in hex.
    let conversation: String
    /// Any message of the thread; nil where it is the conversation itself.
    var thread: MessageReference?
    /// The loaded part.
    var page = ChatPage()
    /// The lines between the messages.
    var notes: [MessageLines.Note] = []
    /// The first message that was not read when it was opened.
    var unreadID: String?
    /// Nil where the newest is shown, also when more comes.
    var anchor: Anchor?
    /// The message that the next command is about.
    var selectedID: String?
    /// Whether nothing was loaded yet.
    var isLoading = true
    /// Whether something changed while it was being read.
    var isStale = false

    init(conversation: String, thread: MessageReference? = nil) {
        (self.conversation, self.thread) = (conversation, thread)
    }

    var messages: [MessageView] { page.messages }

    func index(of id: String?) -> Int? {
        guard let id, !id.isEmpty else { return nil }
        return messages.lastIndex { $0.id == id }
    }

    var selected: MessageView? { index(of: selectedID).map { messages[$0] } }

    /// Whether all that follows is shown as it comes.
    var isAtEnd: Bool { anchor == nil && page.belowCount == 0 }

    /// A message as it is now, where it is among these.
    mutating func replace(_ message: MessageView) {
        guard let index = index(of: message.id) else { return }
        page.messages[index] = message
    }

    /// Puts a later part in place of the one that is shown. Lines that stood at the end stand above what has come
    /// below them, until it is known anew where they belong.
    ///
    /// - Returns: whether there were such lines.
    mutating func replace(with later: ChatPage) -> Bool {
        let last = page.belowCount == 0 ? messages.last?.id : nil
        let index = last.flatMap { id in later.messages.firstIndex { $0.id == id } }
        // Where the last one was not loaded, or nothing was said before, the count tells what is new.
        let count = page.aboveCount + messages.count + page.belowCount
        let next = index.map { $0 + 1 } ?? max(0, count - later.aboveCount)
        page = later
        guard !isLoading, next < messages.count else { return false }
        let atEnd = notes.indices.filter { notes[$0].below == nil }
        for index in atEnd { notes[index].below = messages[next].id }
        return !atEnd.isEmpty
    }

    /// The part of the whole in whose middle a message stands, by how many stand above it.
    func place(around index: Int) -> Int {
        max(0, page.aboveCount + index - ChatPage.countMax / 2)
    }

    /// The part to load if these messages are near an end of the loaded part.
    ///
    /// - Parameter shown: the places of those that are before the eyes.
    func missingPlace(shown: Range<Int>) -> Int? {
        guard thread == nil, !shown.isEmpty, shown.count < ChatPage.countMax * 3 / 4 else {
            return nil
        }
        let margin = ChatPage.countMax / 8
        let isShort =
            shown.lowerBound < margin && page.aboveCount > 0
            || shown.upperBound > messages.count - margin && page.belowCount > 0
        guard isShort else { return nil }
        let place = place(around: (shown.lowerBound + shown.upperBound) / 2)
        return place == page.aboveCount ? nil : place
    }
}

/// The lines of a timeline in a pane of some size. Only what is looked at is laid out.
struct TimelineLayout {
    /// A line, and the place of the message of which it is; nil for a heading, or for what stands between.
    struct Row: Equatable {
        var text: String
        var index: Int?
    }

    /// The lowest row: a message's place, and how many of its lines are below.
    private struct Position {
        var index: Int
        var hidden: Int
    }

    /// The columns of the mark in front of the message that is chosen.
    static let gutter = 2

    private let timeline: ChatTimeline
    private let screen: Screen
    private let height: Int
    private let lines: MessageLines
    private var blocks: [Int: [Row]] = [:]

    /// - Parameter screen: whether there are colours, and how wide the pane is.
    init(_ timeline: ChatTimeline, on screen: Screen, height: Int) {
        self.timeline = timeline
        self.height = max(1, height)
        var inner = screen
        let width = max(1, (screen.columnCount ?? 80) - Self.gutter)
        inner.columnCount = width
        self.screen = inner
        lines = MessageLines(
            for: timeline.messages, on: inner,
            form: .init(authorColumnsMax: width < 50 ? 8 : 16, hasNumbers: false))
    }

    private var last: Int { timeline.messages.count - 1 }

    // MARK: Lines

    /// The lines of one message, with what stands above it since the one before.
    private mutating func block(_ index: Int) -> [Row] {
        if let known = blocks[index] { return known }
        let message = timeline.messages[index]
        var moment = index == 0 ? nil : timeline.messages[index - 1].time
        var rows = notes(below: message.id, after: &moment)
        if message.id == timeline.unreadID {
            let width = screen.columnCount ?? 80
            let bar = String(repeating: "─", count: max(0, min(width, 60) / 2 - 3))
            rows.append(Row(text: screen.styled("\(bar) new \(bar)", .alarm)))
        }
        rows += heading(at: message.time, after: &moment)
        rows += lines.gap(before: message).map { Row(text: $0) }
        rows += lines.lines(message).map { Row(text: $0, index: index) }
        if index == last, timeline.page.belowCount == 0 {
            rows += notes(below: nil, after: &moment)
        }
        blocks[index] = rows
        return rows
    }

    /// The day, where it is another than that of what stands above.
    private func heading(at time: UInt64, after moment: inout UInt64?) -> [Row] {
        let day = lines.day(of: time)
        defer { moment = time }
        return moment.map { lines.day(of: $0) } == day ? [] : [Row(text: day)]
    }

    /// What stands between messages, each below the line of its day.
    private func notes(below id: String?, after moment: inout UInt64?) -> [Row] {
        var rows: [Row] = []
        for note in timeline.notes where note.below == id {
            guard let text = note.text else { continue }
            rows += heading(at: note.time, after: &moment)
            rows += lines.lines(text, at: note.time).map { Row(text: $0) }
        }
        return rows
    }

    /// The rows that are shown, from the highest to the lowest; fewer than there is room for where there is
    /// no more.
    mutating func rows() -> [Row] {
        guard !timeline.messages.isEmpty else {
            var moment: UInt64?
            return notes(below: nil, after: &moment).suffix(height)
        }
        let position = position
        var rows = Array(block(position.index).dropLast(position.hidden))
        var index = position.index
        while rows.count < height, index > 0 {
            index -= 1
            rows = block(index) + rows
        }
        return rows.suffix(height).map {
            Row(text: marked($0), index: $0.index)
        }
    }

    private func marked(_ row: Row) -> String {
        let isChosen =
            row.index.map { timeline.messages[$0].id == timeline.selectedID } ?? false
        return (isChosen ? "▌ " : "  ") + row.text
    }

    /// The places of messages of which something is shown.
    mutating func shown() -> Range<Int> {
        let indexes = rows().compactMap(\.index)
        guard let first = indexes.first, let last = indexes.last else { return 0..<0 }
        return first..<last + 1
    }

    /// The places of messages whose first row is shown, and of those whose last row is.
    mutating func edges() -> (begun: Range<Int>, ended: Range<Int>) {
        let rows = rows().compactMap(\.index)
        guard let first = rows.first, let last = rows.last else { return (0..<0, 0..<0) }
        let hidden = position.hidden
        let count = block(first).count { $0.index == first }
        let shown = rows.count { $0 == first } + (first == last ? hidden : 0)
        return (
            (shown >= count ? first : first + 1)..<last + 1,
            first..<(hidden == 0 ? last + 1 : last)
        )
    }

    // MARK: Places

    /// Where the lowest row is, such that the pane is full where that can be.
    private var position: Position {
        mutating get {
            guard let anchor = timeline.anchor, let index = timeline.index(of: anchor.id) else {
                return Position(index: last, hidden: 0)
            }
            let hidden = min(anchor.hiddenCount, block(index).count - 1)
            return settled(Position(index: index, hidden: hidden))
        }
    }

    private mutating func settled(_ position: Position) -> Position {
        var count = block(position.index).count - position.hidden
        var index = position.index
        while count < height, index > 0 {
            index -= 1
            count += block(index).count
        }
        return count < height ? positionBegin(at: 0) : position
    }

    /// Where the lowest row is while a message is the highest, or the end where less follows.
    private mutating func positionBegin(at start: Int) -> Position {
        var (index, count) = (start, block(start).count)
        while count < height, index < last {
            index += 1
            count += block(index).count
        }
        return Position(index: index, hidden: max(0, count - height))
    }

    private func anchor(_ position: Position) -> ChatTimeline.Anchor? {
        if position.index == last, position.hidden == 0, timeline.page.belowCount == 0 {
            return nil
        }
        return .init(id: timeline.messages[position.index].id, hiddenCount: position.hidden)
    }

    /// The anchor after the view was moved by so many lines, upwards where that is negative.
    mutating func anchor(movedBy count: Int) -> ChatTimeline.Anchor? {
        guard last >= 0 else { return nil }
        var moved = position
        moved.hidden -= count
        while moved.hidden < 0, moved.index < last {
            moved.index += 1
            moved.hidden += block(moved.index).count
        }
        moved.hidden = max(0, moved.hidden)
        while moved.hidden >= block(moved.index).count {
            guard moved.index > 0 else { return anchor(positionBegin(at: 0)) }
            moved.hidden -= block(moved.index).count
            moved.index -= 1
        }
        return anchor(settled(moved))
    }

    /// The anchor with which a message stands at the top, or all that follows it is shown.
    mutating func anchor(beginningAt index: Int) -> ChatTimeline.Anchor? {
        last < 0 ? nil : anchor(settled(positionBegin(at: index)))
    }

    /// The anchor that moves as little as may be, and shows a message.
    mutating func anchor(showing index: Int) -> ChatTimeline.Anchor? {
        guard last >= 0 else { return nil }
        let position = position
        if index > position.index || index == position.index && position.hidden > 0 {
            let whole = Position(index: index, hidden: 0)
            return block(index).count > height
                ? anchor(beginningAt: index) : anchor(settled(whole))
        }
        let rows = rows().count { $0.index == index }
        let all = block(index).count { $0.index == index }
        return rows == all ? anchor(position) : anchor(beginningAt: index)
    }
}
