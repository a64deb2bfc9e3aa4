import Synchronization

@testable import Parley

/// A node without keys, disk or network: what programs see of one, kept in memory.
final class FakeNode: NodeService {
    struct State: Sendable {
        var conversations = ["home"]
        var messages: [MessageView] = []
        var imported: [String: Int] = [:]
        var held: [[String]: Int] = [:]
        var batches: [ImportMessages] = []
        /// After so many the disk is full.
        var batchCountMax: Int?
        var read: [Int64] = []
        /// After so many lines `sendLines` refuses.
        var linesLeft = Int.max
        var linesRefused: NodeError?
        /// What is indexed the next time that somebody asks.
        var indexedCount = 4
        /// Why nothing may be marked as read, where that is so.
        var marksRefused: NodeError?
        var muted: [String: Bool] = [:]
        var mutedHours: [String: Int] = [:]
        var archived: Set<String> = []
        var keptFirst: Set<String> = []
        var markedUnread: Set<String> = []
        var drafts: [String: String] = [:]
        var polls: [PollView] = []
        var items: [ItemView] = []
        var notes: [Note] = []
        var decisions: [DecisionView] = []
        var dismissed: Set<String> = []
        var reminders: [ReminderView] = []
        var scheduled: [ScheduledView] = []
        var calls: [String] = []
        var events: [MembershipView] = []
        var explained = [
            ExplanationView.Fact(
                about: "ben, d2", what: "read", source: "its person said so in a receipt",
                since: 1_700_000_000_000)
        ]
        var records: [CallRecordView] = []
        var watchers: [AsyncStream<ChangeView>.Continuation] = []
        var told: [ChangeView] = []
    }

    let state = Mutex(State())
    /// What answers a request, by its name.
    private let answers = Mutex<[String: any Sendable]>([:])

    /// A node that answers as if everything went well.
    init() {
        answerSelf()
        answerPeople()
        answerConversations()
        answerKeepingFirst()
        answerMessages()
        answerCuration()
        answerPolls()
        answerItems()
        answerNotes()
        answerDecisions()
        answerAssistant()
        answerReminders()
        answerScheduled()
        answerReading()
        answerChanges()
        answerGroups()
        answerInvitations()
        answerDevices()
        answerRelays()
        answerSearch()
        answerCalls()
        answerCallSettings()
        answerPage()
        answerPresence()
    }

    /// Answers all requests of a type from now on so, in place of what did before.
    func answer<R: NodeRequest>(
        _ type: R.Type, _ body: @escaping @Sendable (inout State, R) throws -> R.Reply
    ) {
        answers.withLock { $0[R.name] = body }
    }

    /// Answers as it was told to; throws where it was told nothing.
    func perform<R: NodeRequest>(_ request: R) async throws -> R.Reply {
        let answer = answers.withLock { $0[R.name] }
        guard let answer = answer as? @Sendable (inout State, R) throws -> R.Reply else {
            throw NodeError("not-told", "The fake node was not told how to answer \(R.name).")
        }
        return try state.withLock { try answer(&$0, request) }
    }

    var calls: [String] { state.withLock { $0.calls } }

    func tell(_ change: ChangeView) {
        state.withLock { state in
            var change = change
            change.cursor = "\(state.told.count + 1)"
            state.told.append(change)
            for watcher in state.watchers { watcher.yield(change) }
        }
    }

    func stopTelling() {
        for watcher in state.withLock({ $0.watchers }) { watcher.finish() }
    }

    static func message(
        _ number: Int64, _ text: String?, author: String = "ada", isOwn: Bool = true
    ) -> MessageView {
        MessageView(
            number: number, conversation: String(repeating: "ab", count: 32), author: author,
            person: "aa", isOwn: isOwn, text: text, time: 1_700_000_000_000, replyTo: nil,
            editCount: 0, reactions: [], state: isOwn ? "saved" : nil, isDeleted: false,
            isImported: false, isAction: false, isLate: false, isMissing: false)
    }

    /// Every conversation has this identifier.
    static let id = String(repeating: "ab", count: 32)

    static let status = NodeStatus(
        name: "ada", person: "aa", device: "bb", home: "/home/ada",
        isProtectedByPassphrase: false,
        addresses: ["[::]:7447"],
        links: [.init(name: "ben", device: "cc", address: "192.0.2.1:7447")],
        conversationCount: 1, operationCount: 3, databaseByteCount: 4096,
        sentByteCount: 1_500, receivedByteCount: 20, pendingCount: 0,
        recoveryCheckTime: nil, readOnlyReason: nil, refusals: ["badSignature": 2],
        forkedDevices: [], warnings: [])

    /// The newest cursor is the number of changes that were told.
    private func answerChanges() {
        answer(ReadChanges.self) { state, request in
            let first = try request.after.map { try Self.place($0) } ?? state.told.count
            let page = state.told.dropFirst(first).prefix(max(0, request.limit))
            return ChangePage(
                changes: Array(page), cursor: "\(first + page.count)",
                isEnd: first + page.count == state.told.count)
        }
    }

    func changes(
        after cursor: String?, seat: String?
    ) async throws -> AsyncStream<ChangeView> {
        if let seat { state.withLock { $0.calls.append("seat \(seat)") } }
        let (stream, continuation) = AsyncStream.makeStream(of: ChangeView.self)
        try state.withLock { state in
            let first = try cursor.map { try Self.place($0) } ?? state.told.count
            for change in state.told.dropFirst(first) { continuation.yield(change) }
            state.watchers.append(continuation)
        }
        return stream
    }

    private static func place(_ cursor: String) throws -> Int {
        guard let place = Int(cursor), place >= 0 else {
            throw NodeError("bad-cursor", "no cursor")
        }
        return place
    }
}

extension ChangeView {
    /// This message is there or has changed.
    static func of(_ message: MessageView) -> ChangeView {
        ChangeView(
            kind: "message", conversation: message.conversation, message: message, name: nil)
    }
}
