import Parley

extension ChatScreen {
    /// Performs the action of a key.
    mutating func handle(_ key: Key) -> [ChatRequest] {
        switch key {
        case .focusIn, .focusOut:
            terminal.isFocused = key == .focusIn
            return []
        case .control("c"):
            if isQuitting { return quit() }
            (isQuitting, mode) = (true, .plain)
            _ = composer.cancel()
            notice = "Ctrl-C again ends the chat"
            return []
        default: break
        }
        (isQuitting, notice) = (false, "")
        switch key {
        case .control("q"): return quit()
        case .control("l"): return [.redraw]
        case .control("z"): return [.suspend]
        case .help:
            if case .help = mode { mode = .plain } else { mode = .help(from: 0) }
            return []
        default: break
        }
        switch mode {
        case .plain: return handlePlain(key)
        case .help(let first):
            handleHelp(key, from: first)
            return []
        default: return handlePrompt(key)
        }
    }

    // MARK: Everywhere

    /// Scrolls through what the keys do, where it is longer than the pane. Any other key ends it.
    private mutating func handleHelp(_ key: Key, from first: Int) {
        let last = helpStartMax(geometry)
        let page = max(1, geometry.bodyRows - 1)
        let step: Int? =
            switch key {
            case .up, .wheelUp, .text("k"), .control("p"): -1
            case .down, .wheelDown, .text("j"), .control("n"): 1
            case .pageUp: -page
            case .pageDown, .text(" "): page
            case .home: -last
            case .end: last
            default: nil
            }
        guard last > 0, let step else {
            mode = .plain
            return
        }
        mode = .help(from: min(max(0, first + step), last))
    }

    private mutating func handlePlain(_ key: Key) -> [ChatRequest] {
        switch key {
        case .control("k"): mode = .finding(Chooser())
        case .control("f"): mode = .searching(Chooser())
        case .tab: turnFocus(1)
        case .backTab: turnFocus(-1)
        case .previous, .next:
            let step = key == .previous ? -1 : 1
            guard let other = list.neighbour(of: timeline?.conversation, by: step) else { break }
            return open(other)
        case .click(let place): return handleClick(at: place)
        case .wheelUp where focus != .list, .wheelDown where focus != .list:
            return scroll(by: key == .wheelUp ? -Self.wheelRows : Self.wheelRows)
        case .pageUp where focus != .list, .pageDown where focus != .list:
            let page = max(1, geometry.bodyRows - 2)
            return scroll(by: key == .pageUp ? -page : page)
        default:
            switch focus {
            case .list: return handleInList(key)
            case .timeline: return handleInTimeline(key)
            case .composer: return handleInComposer(key)
            }
        }
        return []
    }

    /// Rows by which the wheel moves messages.
    private static let wheelRows = 3

    /// Opens what was clicked at in the list, chooses a message, or goes to what is written.
    private mutating func handleClick(at place: Frame.Place) -> [ChatRequest] {
        let geometry = geometry
        let row = place.row - 1
        if geometry.isWide ? place.column < geometry.listWidth : focus == .list {
            let shown = list.shown(rows: geometry.listRows)
            guard row >= 0, row < shown.count else { return [] }
            return open(shown[shown.startIndex + row].id)
        }
        guard row >= 0, let timeline = active, var layout = layout(of: timeline) else { return [] }
        guard row < geometry.bodyRows else {
            enter(.composer)
            return []
        }
        let rows = layout.rows()
        let index = row - (geometry.bodyRows - rows.count)
        guard rows.indices.contains(index), let message = rows[index].index else { return [] }
        enter(.timeline)
        active?.selectedID = timeline.messages[message].id
        return []
    }

    private mutating func turnFocus(_ step: Int) {
        guard timeline != nil else { return }
        let all: [Focus] = [.list, .timeline, .composer]
        let place = all.firstIndex(of: focus) ?? 0
        enter(all[(place + step + all.count) % all.count])
    }

    /// Goes to a pane. In the timeline a message is chosen, and elsewhere none is.
    mutating func enter(_ pane: Focus) {
        focus = pane
        guard pane == .timeline else {
            active?.selectedID = nil
            return
        }
        guard let timeline = active, timeline.selected == nil, var layout = layout(of: timeline)
        else { return }
        active?.selectedID = layout.shown().last.map { timeline.messages[$0].id }
    }

    // MARK: The list

    private mutating func handleInList(_ key: Key) -> [ChatRequest] {
        switch key {
        case .up, .wheelUp, .text("k"), .control("p"): list.move(by: -1)
        case .down, .wheelDown, .text("j"), .control("n"): list.move(by: 1)
        case .pageUp: list.move(by: -max(1, geometry.rows - 3))
        case .pageDown: list.move(by: max(1, geometry.rows - 3))
        case .home, .text("g"): list.move(by: -list.conversations.count)
        case .end, .text("G"): list.move(by: list.conversations.count)
        case .enter, .right, .text("l"), .text("i"):
            if let id = list.chosenID { return open(id) }
        case .escape: if timeline != nil { enter(.composer) }
        case .text("/"): mode = .searching(Chooser())
        case .text("?"): mode = .help(from: 0)
        case .text(let letters) where letters.count > 1: return handleEach(of: letters)
        default: break
        }
        return []
    }

    /// Letters that were typed faster than they were read: each may be a command, after which the next is one of
    /// another place.
    private mutating func handleEach(of letters: String) -> [ChatRequest] {
        letters.reduce(into: []) { $0 += handle(.text(String($1))) }
    }

    // MARK: The composer

    private mutating func handleInComposer(_ key: Key) -> [ChatRequest] {
        guard let timeline else {
            focus = .list
            return []
        }
        switch key {
        case .enter: return submit()
        case .escape:
            if terminal.isVi, composer.isInserting {
                composer.isInserting = false
            } else if !composer.cancel() {
                enter(.timeline)
            }
            return []
        case .end where composer.editor.after.isEmpty: return showNewest()
        default: break
        }
        let former = composer.editor.text
        if terminal.isVi, !composer.isInserting, case .text(let letters) = key {
            return handleNormal(letters)
        }
        if !composer.editor.handle(key), key == .up || key == .control("p") { enter(.timeline) }
        return typed(in: timeline.conversation, since: former)
    }

    /// Letters in vi's normal mode: of those that mean nothing in a text the timeline knows more.
    private mutating func handleNormal(_ letters: String) -> [ChatRequest] {
        guard let conversation = timeline?.conversation else { return [] }
        let former = composer.editor.text
        var requests: [ChatRequest] = []
        for letter in letters {
            guard focus == .composer, !composer.isInserting else {
                // What follows was typed into what was begun.
                requests += handle(.text(String(letter)))
                continue
            }
            switch composer.editor.handleNormal(letter, pending: &composer.pending) {
            case .done: break
            case .insert: composer.isInserting = true
            case .passed:
                enter(.timeline)
                requests += handleInTimeline(.text(String(letter)))
            }
        }
        return requests + typed(in: conversation, since: former)
    }

    private func typed(in conversation: String, since former: String) -> [ChatRequest] {
        if case .edit = composer.purpose { return [] }
        let text = composer.editor.text
        return text == former ? [] : [.typed(conversation, text: text)]
    }

    // MARK: The timeline

    /// What of the timeline a key is about.
    mutating func handleInTimeline(_ key: Key) -> [ChatRequest] {
        switch key {
        case .up, .text("k"), .control("p"): return select(-1)
        case .down, .control("n"):
            let isLast = active?.selectedID == active?.messages.last?.id
            if isLast, active?.page.belowCount == 0 { enter(.composer) }
            return select(1)
        case .text("j"): return select(1)
        case .left, .text("h"): enter(.list)
        case .right, .text("l"), .enter: enter(.composer)
        case .text("i"), .text("a"), .text("A"):
            enter(.composer)
            composer.isInserting = true
        case .home, .text("g"): return showFirst()
        case .end, .text("G"): return showNewest()
        case .escape:
            if thread != nil { thread = nil } else { enter(.composer) }
        case .text("/"): mode = .searching(Chooser())
        case .text("?"): mode = .help(from: 0)
        case .text("n"): return showHit(1)
        case .text("N"): return showHit(-1)
        case .text("gg"): return showFirst()
        case .text(let letters) where letters.count == 1: return command(letters)
        case .text(let letters):
            return handleEach(of: letters)
        default: break
        }
        return []
    }

    private static let isDeleted = "That message was deleted."

    /// A command about the message that is chosen.
    private mutating func command(_ letter: String) -> [ChatRequest] {
        guard let timeline = active, let message = timeline.selected else { return [] }
        let reference = MessageReference(message.number)
        switch letter {
        case "r":
            composer.begin(.reply(message))
            enter(.composer)
        case "+": mode = .reacting(message.id, LineEditor())
        case "e":
            guard message.isOwn else {
                notice = "You can edit only your own messages."
                break
            }
            guard !message.isDeleted, message.text != nil else {
                notice = message.isDeleted ? Self.isDeleted : "That message has no text."
                break
            }
            guard !message.isImported else {
                notice = "An imported message stays as it was said."
                break
            }
            composer.begin(.edit(message))
            enter(.composer)
        case "d":
            guard message.isOwn else {
                notice = "You can delete only your own messages."
                break
            }
            guard !message.isDeleted else {
                notice = Self.isDeleted
                break
            }
            mode = .deleting(message.id)
        case "t":
            if thread != nil {
                thread = nil
            } else {
                thread = ChatTimeline(conversation: timeline.conversation, thread: reference)
                return [.thread(reference)]
            }
        case "s":
            guard !message.files.isEmpty else {
                notice = "That message has no file."
                break
            }
            mode = .saving(message.id, LineEditor(terminal.folder))
        case "o":
            guard !message.files.isEmpty else {
                notice = "That message has no file."
                break
            }
            return [.locate(reference, message.files.map(\.number))]
        default: break
        }
        return []
    }

    /// Chooses another message, so many further down.
    private mutating func select(_ step: Int) -> [ChatRequest] {
        guard let timeline = active, !timeline.messages.isEmpty, focus == .timeline else {
            return []
        }
        let former = timeline.index(of: timeline.selectedID) ?? timeline.messages.count
        let place = min(max(0, former + step), timeline.messages.count - 1)
        active?.selectedID = timeline.messages[place].id
        if var layout = layout(of: timeline) { active?.anchor = layout.anchor(showing: place) }
        return []
    }

    private mutating func scroll(by count: Int) -> [ChatRequest] {
        guard let timeline = active, var layout = layout(of: timeline) else { return [] }
        active?.anchor = layout.anchor(movedBy: count)
        if focus == .timeline, let moved = active, var layout = self.layout(of: moved) {
            let shown = layout.shown()
            let place = count < 0 ? shown.first : shown.last
            active?.selectedID = place.map { moved.messages[$0].id }
        }
        return []
    }

    mutating func showNewest() -> [ChatRequest] {
        guard let timeline = active else { return [] }
        if timeline.page.belowCount > 0 {
            // The end of what is loaded is not the end: it is not shown meanwhile, and so not marked as read.
            return [.page(timeline.conversation, .newest)]
        }
        active?.anchor = nil
        if focus == .timeline { active?.selectedID = timeline.messages.last?.id }
        return []
    }

    private mutating func showFirst() -> [ChatRequest] {
        guard let timeline = active, !timeline.messages.isEmpty else { return [] }
        if timeline.thread == nil, timeline.page.aboveCount > 0 {
            return [.page(timeline.conversation, .first)]
        }
        if var layout = layout(of: timeline) { active?.anchor = layout.anchor(beginningAt: 0) }
        if focus == .timeline { active?.selectedID = timeline.messages.first?.id }
        return []
    }

    /// Goes to another hit of the last search.
    mutating func showHit(_ step: Int) -> [ChatRequest] {
        guard let hit = found.next(step) else {
            notice = found.hits.isEmpty ? "Nothing to go to: search first with /" : "no more hits"
            return []
        }
        notice = "hit \((found.place ?? 0) + 1) of \(found.hits.count)"
        return open(hit.message.conversation, at: .around(hit.message.number))
    }
}
