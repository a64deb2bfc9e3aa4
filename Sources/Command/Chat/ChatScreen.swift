import Parley

/// The state of a chat on a terminal: what is shown, what is selected, and what is being written.
/// Keys, results and changes come in; requests and frames come out.
struct ChatScreen {
    /// Where keys go.
    enum Focus: Equatable { case list, timeline, composer }

    /// A question to the person in place of the composer, or a panel in place of the timeline.
    enum Mode: Equatable {
        case plain
        /// A conversation is looked for by its name.
        case finding(Chooser)
        /// Messages are looked for.
        case searching(Chooser)
        /// An emoji, for a message.
        case reacting(String, LineEditor)
        /// Where the files of a message go.
        case saving(String, LineEditor)
        /// Whether a message is to be deleted.
        case deleting(String)
        /// Whether the chat is to end, and edits with it that are not saved.
        case quitting
        /// What the keys do, from a line on.
        case help(from: Int)
    }

    /// Something that is chosen from a list while one types.
    struct Chooser: Equatable {
        var editor = LineEditor()
        var chosen = 0
    }

    /// The size of the terminal, and what it can show.
    struct Terminal: Equatable {
        var columnCount = 80
        var rowCount = 24
        var hasColour = false
        /// Whether it is before the person's eyes.
        var isFocused = true
        /// Whether the keys in a text are those of vi.
        var isVi = false
        /// The default folder for saved files.
        var folder = "./"
    }

    var terminal: Terminal
    var list = ChatList()
    /// The conversation that is open.
    var timeline: ChatTimeline?
    /// A thread of it, shown in its place.
    var thread: ChatTimeline?
    var composer = ChatComposer()
    var focus = Focus.list
    var mode = Mode.plain
    var found = ChatHits()
    /// The last notice for the person, until the next key.
    var notice = ""
    /// Whether Ctrl-C was the last key: the next one ends it.
    var isQuitting = false

    init(_ terminal: Terminal) { self.terminal = terminal }

    /// What messages go into, and are read from.
    var active: ChatTimeline? {
        get { thread ?? timeline }
        set {
            if thread != nil {
                thread = newValue
            } else {
                timeline = newValue
            }
        }
    }

    /// Begins: with the list, or with a conversation that was named.
    mutating func begin(with conversation: ConversationView?) -> [ChatRequest] {
        guard let conversation else { return [.list] }
        list.take([conversation])
        return [.list] + open(conversation.id)
    }

    /// Opens a conversation; the draft of the former one is stored.
    mutating func open(
        _ conversation: String, at place: ChatRequest.Place = .unread
    ) -> [ChatRequest] {
        mode = .plain
        focus = .composer
        thread = nil
        list.choose(conversation)
        if let former = timeline, former.conversation == conversation {
            guard place != .unread else { return [] }
            return [.page(conversation, place)]
        }
        let kept = leave()
        timeline = ChatTimeline(conversation: conversation)
        composer.enter(conversation, draft: list[conversation]?.draft ?? "")
        return kept + [.page(conversation, place), .notes(conversation)]
    }

    /// Ends the chat; where an edit would be lost with it, the person is asked first.
    mutating func quit() -> [ChatRequest] {
        guard mode != .quitting, !composer.unsavedEdits.isEmpty else { return leave() + [.quit] }
        mode = .quitting
        return []
    }

    /// Stores the draft before something else is shown.
    mutating func leave() -> [ChatRequest] {
        guard let former = timeline?.conversation else { return [] }
        return composer.leave(former).map { [.keepDraft(former, text: $0)] } ?? []
    }

    /// What is said where the node has ended: what was being written may be stored, or not.
    var nodeEnded: NodeError {
        let text = composer.editor.text
        // By its identifier: a name may be another conversation's as well, or nothing that a shell takes.
        let open = timeline.map { " \($0.conversation.prefix(8))" }
        return NodeError(
            "node-stopped",
            whole: "The node has stopped."
                + (text.isEmpty ? "" : " You were writing: “\(harmless(text))”"),
            hint: "Run `parley run`, and then `" + "parley chat" + (open ?? "") + "`.")
    }

    /// Shows no conversation any more, where the open one was deleted elsewhere.
    private mutating func close(_ conversation: ConversationView) {
        (timeline, thread) = (nil, nil)
        composer.abandon()
        (mode, focus) = (.plain, .list)
        notice = "“\(harmless(conversation.name))” is not on this device any more"
    }

    // MARK: Answers

    /// Handles the result of a request.
    mutating func take(_ answer: ChatAnswer) -> [ChatRequest] {
        switch answer {
        case .list(let conversations):
            let was = timeline.flatMap { list[$0.conversation] }
            list.take(conversations)
            if let was, list[was.id] == nil { close(was) }
            if let id = timeline?.conversation { composer.take(draft: list[id]?.draft ?? "") }
        case .page(let conversation, let place, let page, let unreadID):
            guard timeline?.conversation == conversation else { break }
            let isLeft = isLeft(by: page, at: place)
            let moves = isLeft ? false : take(page, at: place, unreadID: unreadID)
            let notes = moves ? [ChatRequest.notes(conversation)] : []
            if !isLeft, timeline?.isStale != true { return notes }
            timeline?.isStale = false
            return notes + refresh()
        case .notes(let conversation, let notes):
            if timeline?.conversation == conversation { timeline?.notes = notes }
        case .thread(let message, let page):
            guard thread?.thread == message else { break }
            thread?.page = ChatPage(page)
            thread?.isLoading = false
        case .sent(let message, let sent):
            if message.path != nil { notice = "sent" }
            guard sent.contains(where: { $0.conversation == timeline?.conversation }) else { break }
            // One's own words are looked at.
            thread?.anchor = nil
            let isInThread = thread != nil
            let jump = isInThread ? [] : showNewest()
            return (jump.isEmpty ? refresh() : jump) + [.list]
        case .changed(let message):
            timeline?.replace(message)
            thread?.replace(message)
        case .found(let text, let reply): found.take(reply, for: text)
        case .marked(let count): return count > 0 ? [.list] : []
        case .said(let text): notice = text
        case .failed(let request, let error): fail(request, error)
        }
        return []
    }

    /// Whether a page is of a part that the person has left since.
    private func isLeft(by page: ChatPage, at place: ChatRequest.Place) -> Bool {
        guard !place.isJump, let shown = timeline, !shown.isLoading else { return false }
        guard let anchor = shown.anchor else {
            return shown.page.belowCount == 0 && page.belowCount > 0
        }
        return shown.index(of: anchor.id) != nil
            && !page.messages.contains { $0.id == anchor.id }
    }

    /// - Returns: whether it is to be asked again where the lines between messages stand.
    private mutating func take(
        _ page: ChatPage, at place: ChatRequest.Place, unreadID: String?
    ) -> Bool {
        let moves = timeline?.replace(with: page) ?? false
        if timeline?.isLoading == true { timeline?.unreadID = unreadID }
        timeline?.isLoading = false
        var layout = layout(of: timeline)
        switch place {
        case .from, .refresh: break
        case .newest:
            timeline?.anchor = nil
            if focus == .timeline { timeline?.selectedID = page.messages.last?.id }
        case .first: timeline?.anchor = layout?.anchor(beginningAt: 0)
        case .unread:
            let start = timeline?.index(of: unreadID)
            timeline?.anchor = start.flatMap { layout?.anchor(beginningAt: $0) }
        case .around(let number):
            guard let index = page.messages.firstIndex(where: { $0.number == number }) else {
                break
            }
            timeline?.selectedID = page.messages[index].id
            timeline?.anchor = layout?.anchor(showing: index)
            focus = .timeline
        }
        return moves
    }

    private mutating func fail(_ request: ChatRequest, _ error: NodeError) {
        notice = error.message + (error.hint.map { " " + Advice.complete($0) } ?? "")
        switch request {
        // One that may be saved is asked for again, and not written again.
        case .send(let message) where !error.isLoss:
            composer.giveBack(message.text, in: message.conversation, isOpen: isOpen(message))
        case .edit(let message, let text) where !error.isLoss:
            let known = timeline?.messages.first { MessageReference($0.number) == message }
            composer.giveBack(edit: text, of: known)
        case .thread: thread = nil
        default: break
        }
    }

    private func isOpen(_ message: ChatMessage) -> Bool {
        timeline?.conversation == message.conversation
    }

    // MARK: Changes

    /// Takes something that changed.
    mutating func take(_ change: ChangeView) -> [ChatRequest] {
        if let names = change.typing, let conversation = change.conversation {
            list.typing[conversation] = names.isEmpty ? nil : names
        }
        if change.missed != nil { return [.list] + refreshSoon() }
        let isOpen = change.conversation != nil && change.conversation == timeline?.conversation
        switch change.kind {
        case "message":
            // Read again, and not put in its place: until when it was read decides what is marked as read.
            return (isOpen ? refreshSoon() : []) + (change.isNew == true ? [.list] : [])
        case "receipts", "refolded": return isOpen ? refreshSoon() : []
        case "members", "poll", "decision", "calls":
            return (isOpen ? timeline.map { [.notes($0.conversation)] } ?? [] : []) + [.list]
        case "conversation", "contact", "invitation", "preferences": return [.list]
        default: return []
        }
    }

    /// Reads again what is shown; where it is being read for the first time, once that is here.
    private mutating func refreshSoon() -> [ChatRequest] {
        if timeline?.isLoading == true { timeline?.isStale = true }
        return refresh()
    }

    /// Reads again what is shown.
    func refresh() -> [ChatRequest] {
        guard let timeline, !timeline.isLoading else { return [] }
        let isWhole = timeline.isAtEnd
        let place: ChatRequest.Place = isWhole ? .refresh : .from(timeline.page.aboveCount)
        let part = thread?.thread.map { [ChatRequest.thread($0)] } ?? []
        return [.page(timeline.conversation, place)] + part
    }

    // MARK: What was seen

    /// What the screen shows now and was not marked as read, and what is to be read beside it.
    mutating func noteShown() -> [ChatRequest] {
        guard terminal.isFocused, mode == .plain, isTimelineShown, let shown = active,
            var layout = layout(of: shown)
        else { return [] }
        let places = layout.shown()
        var requests: [ChatRequest] = []
        if thread == nil, let place = shown.missingPlace(shown: places) {
            requests.append(.page(shown.conversation, .from(place)))
        }
        let (begun, ended) = layout.edges()
        let fresh = list.mark(begun: shown.messages[begun], ended: shown.messages[ended])
        if !fresh.isEmpty {
            requests.append(.markRead(shown.conversation, fresh, last: shown.page.last))
        }
        return requests
    }
}
