import Foundation
import Parley

/// Sends a chat's requests to a node, and returns the results.
///
/// Reads run concurrently, one at a time for each kind: of those requested meanwhile, the last
/// counts. Writes run one after the other.
actor ChatDesk {
    /// Kinds of reads.
    private enum Slot: Hashable { case list, page, notes, thread, search }

    /// A draft is stored once nothing was typed for this long: each stored one stays in a history.
    private static let draftPause: Duration = .milliseconds(1_500)
    /// Whoever types without such a pause loses no more than this where the node ends.
    private static let draftDelayMax: Duration = .seconds(10)
    /// How often others are told that somebody types.
    private static let typingPause: Duration = .seconds(4)
    private static let searchCountMax = 50
    /// What is shown first, soon: its surroundings are read once that is on screen.
    private static let firstCount = 64

    private let node: any NodeService
    private let tell: @Sendable (ChatAnswer) -> Void
    private var busy: [Slot: ChatRequest?] = [:]
    private var writing: Task<Void, Never>?
    private var keeping: Task<Void, Never>?
    private var typingTold: ContinuousClock.Instant?
    /// Since when something was typed that is not stored.
    private var typedSince: ContinuousClock.Instant?
    /// What the node keeps of drafts, as far as this desk told it.
    private var drafts: [String: String] = [:]
    private let noter: OpenNoter
    /// What was entered and neither done nor refused, oldest first.
    private(set) var unanswered: [ChatRequest] = []

    init(_ node: any NodeService, tell: @escaping @Sendable (ChatAnswer) -> Void) {
        (self.node, self.tell) = (node, tell)
        noter = OpenNoter(node)
    }

    /// Starts what is requested.
    func take(_ request: ChatRequest) {
        switch request {
        case .list: read(request, in: .list)
        case .page: read(request, in: .page)
        case .notes: read(request, in: .notes)
        case .thread: read(request, in: .thread)
        case .search: read(request, in: .search)
        case .typed(let conversation, let text): noteTyped(text, in: conversation)
        case .keepDraft, .send:
            keeping?.cancel()
            typedSince = nil
            write(request)
        case .edit, .delete, .react, .markRead, .save, .locate: write(request)
        // These are done where the terminal is.
        case .redraw, .suspend, .quit: break
        }
    }

    /// Says which conversation is before the person's eyes; nil for none.
    func noteOpen(_ conversation: String?) async { await noter.note(conversation) }

    /// Waits until all is written.
    func finish() async {
        await noter.note(nil)
        await writing?.value
    }

    // MARK: Reading

    private func read(_ request: ChatRequest, in slot: Slot) {
        if let waiting = busy[slot] {
            if case .page(let there, let place)? = waiting,
                case .page(let here, let next) = request,
                there == here, place.isJump, !next.isJump
            {
                return
            }
            busy[slot] = .some(request)
            return
        }
        busy[slot] = .some(nil)
        Task {
            await answer(request)
            let next = busy.removeValue(forKey: slot) ?? nil
            if let next { read(next, in: slot) }
        }
    }

    private func answer(_ request: ChatRequest) async {
        do {
            let answer = try await self.reply(to: request)
            settle(request)
            if let answer { tell(answer) }
        } catch {
            let reason = error as? NodeError ?? NodeError("failed", "\(error)")
            // A node that ended may have done it or not.
            if !reason.isLoss { settle(request) }
            tell(.failed(request, reason))
        }
    }

    private func settle(_ request: ChatRequest) {
        if let place = unanswered.firstIndex(of: request) { unanswered.remove(at: place) }
    }

    private func reply(to request: ChatRequest) async throws -> ChatAnswer? {
        switch request {
        case .list: return .list(try await node.perform(ListConversations()))
        case .page(let conversation, let place):
            return try await page(of: conversation, at: place)
        case .notes(let conversation):
            return .notes(conversation, try await notes(in: conversation))
        case .thread(let message):
            let page = try await node.perform(
                ReadThread(message: message, limit: ChatPage.countMax))
            return .thread(message, page)
        case .search(let text): return try await find(text)
        default: return try await written(request)
        }
    }

    /// - Returns: the messages there, and which of them is the first unread one.
    private func page(
        of conversation: String, at place: ChatRequest.Place
    ) async throws -> ChatAnswer {
        func read(from: Int?, limit: Int = ChatPage.countMax) async throws -> ChatPage {
            ChatPage(
                try await node.perform(
                    ReadMessages(conversation: conversation, from: from, limit: limit)))
        }
        let page: ChatPage
        var unreadID: String?
        switch place {
        case .newest, .refresh: page = try await read(from: nil)
        case .from(let count): page = try await read(from: count)
        case .first: page = try await read(from: 0)
        case .around(let number):
            page = ChatPage(
                try await node.perform(
                    GetContext(message: MessageReference(number), limit: ChatPage.countMax)
                ).page)
        case .unread:
            let view = try await node.perform(GetConversation(conversation: conversation))
            guard view.unread > 0 else {
                page = try await read(from: nil, limit: Self.firstCount)
                break
            }
            let first = ChatPage(
                try await node.perform(ReadUnread(conversation: conversation, limit: 1)))
            unreadID = first.messages.first?.id
            let start = max(0, first.aboveCount - Self.firstCount / 4)
            page = try await read(from: start, limit: Self.firstCount)
        }
        return .page(conversation, place, page, unreadID: unreadID)
    }

    private func notes(in conversation: String) async throws -> [MessageLines.Note] {
        MessageLines.notes(
            events: try await node.perform(ListMembershipEvents(conversation: conversation)),
            calls: try await node.perform(ListCallRecords(conversation: conversation)),
            polls: try await node.perform(ListPolls(conversation: conversation)),
            decisions: try await node.perform(
                ListDecisions(conversation: conversation, limit: ListDecisions.limitMax)
            ).decisions)
    }

    /// A half-typed query finds nothing, and is no error.
    private func find(_ text: String) async throws -> ChatAnswer? {
        do {
            let found = try await node.perform(
                SearchMessages(text, limit: Self.searchCountMax, isTyping: true))
            return .found(text, found)
        } catch let error as NodeError where TypedSearch.typing.contains(error.code) {
            return nil
        }
    }

    // MARK: Writing

    private func write(_ request: ChatRequest) {
        var request = request
        if case .send(var message) = request {
            message.once = message.once ?? UUID().uuidString
            request = .send(message)
        }
        if request.isEntered { unanswered.append(request) }
        let former = writing
        writing = Task {
            await former?.value
            await answer(request)
        }
    }

    /// Asks for what another node of this home did not answer: what that has done is not done again.
    func askAgain(_ requests: [ChatRequest]) async {
        for request in requests {
            if case .edit(let message, let text) = request,
                // Where the message cannot be read, the edit is refused, and says why.
                let page = try? await node.perform(GetContext(message: message, limit: 1)).page,
                page.messages.contains(where: {
                    MessageReference($0.number) == message && $0.text == text
                })
            {
                continue
            }
            write(request)
        }
        await writing?.value
    }

    private func written(_ request: ChatRequest) async throws -> ChatAnswer? {
        switch request {
        case .send(let message): return .sent(message, try await send(message))
        case .edit(let message, let text):
            return .changed(try await node.perform(EditMessage(message: message, text: text)))
        case .delete(let message):
            return .changed(try await node.perform(DeleteMessage(message: message)))
        case .react(let message, let emoji, let isOn):
            return .changed(
                try await node.perform(
                    ReactToMessage(message: message, emoji: emoji, on: isOn)))
        case .markRead(let conversation, let messages, let last):
            return try await mark(messages, in: conversation, last: last)
        case .save(let message, let numbers, let path):
            return try await save(message, numbers, path)
        case .locate(let message, let numbers): return try await locate(message, numbers)
        case .keepDraft(let conversation, let text): try await keep(text, in: conversation)
        default: break
        }
        return nil
    }

    private func send(_ message: ChatMessage) async throws -> [MessageView] {
        var tickets: [String]?
        if let path = message.path {
            tell(.said("sealing \(harmless(path)) …"))
            tickets = [try await stage(path)]
        }
        let sent = try await node.perform(
            SendMessages(
                conversation: message.conversation, texts: [message.text],
                replyTo: message.replyTo, thread: message.thread, files: tickets,
                once: message.once))
        typingTold = nil
        // A draft stored while typing is not what was sent.
        if drafts[message.conversation, default: ""] != "" {
            try await keep("", in: message.conversation)
        }
        return sent
    }

    private func stage(_ path: String) async throws -> String {
        var file = try await node.perform(StageFile(path: path))
        while !file.isReady {
            if let failure = file.failure { throw failure }
            try await Task.sleep(for: .milliseconds(50))
            file = try await node.perform(GetStagedFile(ticket: file.ticket))
        }
        if let failure = file.failure { throw failure }
        if let note = file.note { tell(.said(harmless(note))) }
        return file.ticket
    }

    private func mark(
        _ messages: [MessageReference], in conversation: String, last: Int64?
    ) async throws -> ChatAnswer? {
        do {
            return .marked(
                try await node.perform(
                    MarkRead(conversation: conversation, messages: messages, last: last)))
        } catch let error as NodeError where ReadMarks.silent.contains(error.code) {
            // A person who may not write, not even marks, still reads what is here.
            return nil
        }
    }

    private func save(
        _ message: MessageReference, _ numbers: [Int], _ path: String
    ) async throws -> ChatAnswer {
        let files = try await node.perform(ListMessageFiles(message: message))
        guard files.allSatisfy({ $0.state == "here" }) else {
            try await node.perform(FetchFiles(message: message))
            return .said("It is not here yet and is being fetched: save it once it has arrived.")
        }
        var paths: [String] = []
        for number in numbers {
            paths.append(
                try await node.perform(SaveFile(message: message, number: number, path: path)).path)
        }
        return .said("saved: " + paths.map(harmless).joined(separator: ", "))
    }

    private func locate(
        _ message: MessageReference, _ numbers: [Int]
    ) async throws -> ChatAnswer {
        var lines: [String] = []
        for number in numbers {
            lines += try await node.perform(ExplainFile(message: message, number: number))
        }
        return .said(lines.map(harmless).joined(separator: " "))
    }

    // MARK: What is being typed

    private func noteTyped(_ text: String, in conversation: String) {
        let now = ContinuousClock.now
        let since = typedSince ?? now
        typedSince = since
        keeping?.cancel()
        keeping = Task {
            let end = min(now + Self.draftPause, since + Self.draftDelayMax)
            // Cut short by the next key.
            guard (try? await Task.sleep(until: end)) != nil, !Task.isCancelled else { return }
            write(.keepDraft(conversation, text: text))
        }
        guard !text.isEmpty, typingTold.map({ $0 + Self.typingPause <= now }) ?? true else {
            return
        }
        typingTold = now
        // Others may be told a little later that somebody types, or not at all.
        Task { _ = try? await node.perform(SetTyping(conversation: conversation, on: true)) }
    }

    private func keep(_ text: String, in conversation: String) async throws {
        typedSince = nil
        guard drafts[conversation] != text else { return }
        try await node.perform(KeepDraft(conversation: conversation, text: text))
        drafts[conversation] = text
    }
}

/// Tells a node, again and again, which conversation is open: the person gets no notifications for
/// it.
private actor OpenNoter {
    private static let secondCount = 60, pause: Duration = .seconds(25)
    private let node: any NodeService
    private var open: String?
    private var noting: Task<Void, Never>?

    init(_ node: any NodeService) { self.node = node }

    func note(_ conversation: String?) async {
        guard conversation != open else { return }
        let former = open
        open = conversation
        noting?.cancel()
        if let former {
            // A node that cannot be told tells its person once less than it might.
            _ = try? await node.perform(NoteOpenConversation(conversation: former, seconds: 0))
        }
        guard let conversation else { return }
        noting = Task { [node] in
            while !Task.isCancelled {
                // A node that cannot be told tells its person once more than it need.
                _ = try? await node.perform(
                    NoteOpenConversation(conversation: conversation, seconds: Self.secondCount))
                // Cut short at the end.
                try? await Task.sleep(for: Self.pause)
            }
        }
    }
}
