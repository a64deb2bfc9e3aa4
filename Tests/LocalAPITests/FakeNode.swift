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
        var read: [Int64] = []
        /// After so many lines `sendLines` refuses.
        var linesLeft = Int.max
        var linesRefused: NodeError?
        /// What is indexed the next time that somebody asks.
        var indexedCount = 4
        /// Why nothing may be marked as read, where that is so.
        var marksRefused: NodeError?
        var muted: [String: Bool] = [:]
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
        answerMessages()
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

    func status() async throws -> NodeStatus {
        NodeStatus(
            name: "ada", person: "aa", device: "bb", home: "/home/ada",
            isProtectedByPassphrase: false,
            addresses: ["[::]:7447"],
            links: [.init(name: "ben", device: "cc", address: "192.0.2.1:7447")],
            conversationCount: 1, operationCount: 3, databaseByteCount: 4096,
            sentByteCount: 1_500, receivedByteCount: 20, pendingCount: 0,
            recoveryCheckTime: nil, readOnlyReason: nil, refusals: ["badSignature": 2],
            forkedDevices: [], warnings: [])
    }

    func invite(uses: Int, hours: Int) async throws -> InviteView {
        InviteView(
            id: "0123456789abcdef", link: "parley:invite:\(hours)", expires: 1_700_000_000_000,
            usesLeft: uses, guests: [], addresses: uses == 3 ? [] : ["192.0.2.2:7447"])
    }

    func invites() async throws -> [InviteView] {
        var invite = try await invite(uses: 2, hours: 2)
        invite.guests = ["ben"]
        return [invite]
    }

    func revokeInvite(_ id: String) async throws {
        state.withLock { $0.calls.append("revokeInvite \(id)") }
    }

    func card() async throws -> CardView { CardView(text: "parley:c1:QUJD") }

    func requestContact(card: String, alias: String?) async throws -> ContactView {
        state.withLock { $0.calls.append("requestContact \(card)") }
        var view = try await accept(link: "", alias: alias)
        view.state = "requested"
        return view
    }

    func decide(about person: String, _ decision: ContactDecision) async throws -> ContactView {
        state.withLock { $0.calls.append("\(decision) \(person)") }
        return try await accept(link: "", alias: person)
    }

    func setAlias(person: String, alias: String?) async throws -> ContactView {
        try await accept(link: "", alias: alias ?? person)
    }

    func accept(link: String, alias: String?) async throws -> ContactView {
        ContactView(
            person: "cc", name: alias ?? "ben", state: "invited", isVerified: false,
            isLinked: false, addresses: [])
    }

    func contacts() async throws -> [ContactView] {
        [try await accept(link: "", alias: "ben"), try await accept(link: "", alias: "cleo")]
    }

    func conversations() async throws -> [ConversationView] {
        state.withLock { $0.conversations }.map(ConversationView.group)
    }

    func conversation(_ argument: String) async throws -> ConversationView {
        try state.withLock { try $0.requireConversation(argument) }
        return .group(argument)
    }

    func newConversation(
        name: String, members: [String]
    ) async throws -> ConversationView {
        state.withLock { $0.conversations.append(name) }
        return .group(name)
    }

    func rename(to name: String) async throws {
        state.withLock { $0.calls.append("rename self \(name)") }
    }

    func rename(conversation: String, to name: String) async throws {
        try state.withLock { try $0.requireConversation(conversation) }
        state.withLock { state in
            state.conversations = state.conversations.map { $0 == conversation ? name : $0 }
        }
    }

    func mute(conversation: String, on: Bool) async throws {
        try state.withLock { try $0.requireConversation(conversation) }
        state.withLock { $0.muted[conversation] = on }
    }

    func markRead(
        conversation: String, messages: [MessageReference], last: Int64?
    ) async throws -> Int {
        try state.withLock { try $0.requireConversation(conversation) }
        return try state.withLock { state in
            if let error = state.marksRefused { throw error }
            state.read += messages.compactMap { Int64($0.text) }
            return messages.count
        }
    }

    func unread(conversation: String, limit: Int) async throws -> MessagePage {
        try state.withLock { try $0.requireConversation(conversation) }
        let all = state.withLock { $0.messages }
        let first = state.withLock { state in
            all.firstIndex { !$0.isOwn && !state.read.contains($0.number) }
        }
        guard let first else {
            return try await messages(conversation: conversation, before: nil, limit: limit)
        }
        let end = min(all.count, first + limit)
        return try await messages(
            conversation: conversation, before: "\(end)", limit: end - first)
    }

    func history(message: MessageReference, from: Int) async throws -> HistoryPage {
        HistoryPage(versions: [.init(text: "once", time: 1)], count: 1, next: nil)
    }

    func messages(
        conversation: String, before: String?, limit: Int
    ) async throws -> MessagePage {
        try state.withLock { try $0.requireConversation(conversation) }
        let all = state.withLock { $0.messages }
        let end = before.flatMap { Int($0) } ?? all.count
        let start = max(0, end - limit)
        return MessagePage(
            messages: Array(all[start..<end]), cursor: start > 0 ? "\(start)" : nil,
            aboveCount: start, belowCount: all.count - end, last: 9)
    }

    func safetyNumber(person: String) async throws -> SafetyNumberView {
        SafetyNumberView(
            name: person, number: (1...12).map { _ in "12345" }.joined(separator: " "),
            code: "parley:v1:QUJD", isVerified: false)
    }

    func verify(person: String, code: String) async throws -> SafetyNumberView {
        state.withLock { $0.calls.append("verify \(person) \(code)") }
        var number = try await safetyNumber(person: person)
        number.isVerified = true
        return number
    }

    func markVerified(person: String) async throws {
        state.withLock { $0.calls.append("markVerified \(person)") }
    }

    func digests() async throws -> [DigestView] {
        [
            DigestView(
                conversation: String(repeating: "ab", count: 32), name: "home",
                digest: String(repeating: "cd", count: 32), operationCount: 3)
        ]
    }

    func doctor() async throws -> DoctorReport {
        DoctorReport(checks: [
            .init(name: "Every log is one chain.", isFine: true, detail: "3 operations"),
            .init(name: "Views follow from the log.", isFine: false, detail: "2 rows differ"),
        ])
    }

    func devices() async throws -> [DeviceView] {
        let phone = DeviceView(
            device: "cc", name: "phone", isThis: false, state: "active", isLinked: false,
            lastSeen: 1_700_000_000_000, addresses: [], needsRecoveryCode: false)
        let laptop = DeviceView(
            device: "bb", name: "laptop", isThis: true, state: "active", isLinked: false,
            lastSeen: nil, addresses: ["[::]:7447"], needsRecoveryCode: false)
        return [laptop, phone]
    }

    func openLink() async throws -> DeviceLinkView {
        DeviceLinkView(text: "parley-device:1:AAAA", expires: 1_700_000_300_000)
    }

    func closeLink() async throws { state.withLock { $0.calls.append("closeLink") } }

    func revoke(device: String, recoveryCode: String?) async throws {
        state.withLock { $0.calls.append("revoke \(device) \(recoveryCode ?? "-")") }
    }

    func rename(device: String, to name: String) async throws {
        state.withLock { $0.calls.append("rename \(device) \(name)") }
    }

    func createBackup(file: String, replacing: Bool) async throws -> BackupReport {
        state.withLock {
            $0.calls.append("createBackup \(file)" + (replacing ? " replacing" : ""))
        }
        return BackupReport(
            file: file, byteCount: 61, name: "ada", person: "aa", device: "bb",
            time: 1_700_000_000_000, contactCount: 1, conversationCount: 1, logCount: 4,
            operationCount: 3)
    }

    func noteRecoveryCode(
        root: String, backupKey: String, signature: String
    ) async throws -> BackupKeyFinding {
        state.withLock { $0.calls.append("noteRecoveryCode \(root.prefix(8))") }
        return .known
    }

    /// The newest cursor is the number of changes that were told.
    func changes(after cursor: String?, limit: Int) async throws -> ChangePage {
        try state.withLock { state in
            let first = try cursor.map { try Self.place($0) } ?? state.told.count
            let page = state.told.dropFirst(first).prefix(limit)
            return ChangePage(
                changes: Array(page), cursor: "\(first + page.count)",
                isEnd: first + page.count == state.told.count)
        }
    }

    func changes(after cursor: String?) async throws -> AsyncStream<ChangeView> {
        let (stream, continuation) = AsyncStream.makeStream(of: ChangeView.self)
        try state.withLock { state in
            let first = try cursor.map { try Self.place($0) } ?? state.told.count
            for change in state.told.dropFirst(first) { continuation.yield(change) }
            state.watchers.append(continuation)
        }
        return stream
    }

    private static func place(_ cursor: String) throws -> Int {
        guard let place = Int(cursor) else { throw NodeError("bad-cursor", "no cursor") }
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
