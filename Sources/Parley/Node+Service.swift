import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySealing
import ParleyStorage
import ParleyWire

extension Node: NodeService {
    func read<R: Sendable>(_ body: @Sendable (Views) throws -> R) async throws -> R {
        do {
            return try await running.read { try body($0) }
        } catch let error as StoreError {
            throw NodeError(error)
        }
    }

    // MARK: Oneself

    /// Who this node is and how it is doing.
    public func status() async throws -> NodeStatus {
        let addresses = network.addresses
        let remote = network.remoteAddresses
        let refused = network.refusals
        let traffic = network.traffic
        let failure = await running.lastFailure
        let path = home.path
        var status = try await read { views in
            try views.status(
                home: path, addresses: addresses, remoteAddresses: remote,
                traffic: traffic, transportRefusals: refused, failure: failure)
        }
        status.isOffline = network.isOffline
        status.isRunning = network.isRunning
        return status
    }

    // MARK: Conversations

    /// All conversations, newest first.
    public func conversations() async throws -> [ConversationView] {
        try await read { try $0.conversations() }
    }

    /// The conversation that an argument means.
    public func conversation(_ argument: String) async throws -> ConversationView {
        try await read { try $0.view(of: $0.conversation(argument)) }
    }

    /// A new group of these contacts.
    public func newConversation(name: String, members: [String]) async throws -> ConversationView {
        let persons = try await read { views in try members.map { try views.person($0) } }
        let reply = try await running.perform(.createGroup(name: name, members: persons))
        return try await read { views in
            guard case .space(let number) = reply, let space = try views.store.space(number) else {
                throw NodeError(.unknownConversation)
            }
            return try views.view(of: space)
        }
    }

    /// Names a conversation.
    public func rename(conversation: String, to name: String) async throws {
        _ = try await write(.rename(try await space(conversation), name))
    }

    /// Silences a conversation, or ends that.
    public func mute(conversation: String, on: Bool) async throws {
        _ = try await running.perform(.mute(try await space(conversation), isOn: on))
    }

    func space(_ argument: String) async throws -> SpaceID {
        try await read { try $0.conversation(argument).id }
    }

    // MARK: Messages

    /// Writes messages, in order; all are saved when it returns. Where the conversation waits for what
    /// this device wrote before, they are kept, and written once that is there.
    public func send(
        conversation: String, texts: [String], replyTo: MessageReference?
    ) async throws -> [MessageView] {
        let (space, parent) = try await read { views in
            let parent = try replyTo.map { try views.message($0) }
            return (try views.writable(conversation, answering: parent).id, parent)
        }
        let reply = try await write(
            .send(space, texts.map { TextMessage(text: $0) }, replyingTo: parent))
        guard case .kept(let count) = reply else { return try await messages(reply) }
        return try await read { views in
            guard let record = try views.store.space(space),
                let roster = try views.roster(of: record)
            else { return [] }
            return try views.kept(in: record, roster).suffix(count)
        }
    }

    /// Gives an own message a new text.
    public func edit(message: MessageReference, text: String) async throws -> MessageView {
        try await changed(running.perform(.edit(number(of: message), text: text)))
    }

    /// Takes a message back for everyone.
    public func delete(message: MessageReference) async throws -> MessageView {
        try await changed(running.perform(.delete(number(of: message))))
    }

    /// Adds a reaction to a message, or takes it back.
    public func react(message: MessageReference, emoji: String, on: Bool) async throws
        -> MessageView
    {
        try await changed(
            write(.react(number(of: message), Reaction(emoji: emoji, isOn: on))))
    }

    /// Has something written; who may only read there is told that.
    private func write(_ command: Command) async throws -> CommandReply {
        do {
            return try await running.perform(command)
        } catch let error as NodeError where error.code == "not-allowed" {
            throw try await read { try $0.isReader(where: command) } ? NodeError.reader : error
        }
    }

    private func number(of message: MessageReference) async throws -> OperationNumber {
        try await read { try $0.message(message) }
    }

    private func changed(_ reply: CommandReply) async throws -> MessageView {
        guard let message = try await messages(reply).first else {
            throw NodeError(.unknownMessage)
        }
        return message
    }

    private func messages(_ reply: CommandReply) async throws -> [MessageView] {
        guard case .messages(let numbers) = reply else { return [] }
        return try await read { views in try numbers.compactMap { try views.message($0) } }
    }

    /// A page of messages, oldest first within the page.
    public func messages(
        conversation: String, before: String?, limit: Int
    ) async throws -> MessagePage {
        try Self.check(limit: limit)
        return try await read { views in
            try views.page(of: views.conversation(conversation), before: before, limit: limit)
        }
    }

    // MARK: Import

    /// Brings in messages from elsewhere, in one transaction with the note of how far it got.
    public func importMessages(_ batch: ImportBatch) async throws -> ImportResult {
        let space = try await space(batch.conversation)
        let hash = try Self.hash(batch.fileHash)
        guard batch.beginnings.count <= 64 else {
            throw NodeError("bad-hash", "A file has at most 64 beginnings.")
        }
        let beginnings = try batch.beginnings.map(Self.hash)
        var rows: [ImportedRow] = []
        rows.reserveCapacity(batch.rows.count)
        for row in batch.rows {
            guard row.time < Limits.wallClockMax, row.line > 0, row.alikeAbove ?? 0 >= 0,
                row.likeLengthAbove ?? 0 >= 0, row.author.utf8.count <= Limits.nameByteCountMax
            else { throw NodeError("bad-row", "Line \(row.line) cannot be imported.") }
            let origin = ImportedOrigin(author: row.author, time: row.time, isAction: row.isAction)
            rows.append(
                ImportedRow(
                    line: row.line, message: TextMessage(text: row.text, origin: origin),
                    alikeAbove: row.alikeAbove, likeLengthAbove: row.likeLengthAbove,
                    mayGrow: row.mayGrow ?? false))
        }
        let reply = try await running.perform(
            .importMessages(
                space, fileHash: hash, rows: rows, throughLine: batch.throughLine,
                beginnings: beginnings))
        guard case .imported(let stored, let known, let deleted) = reply else {
            return ImportResult(stored: 0, known: 0)
        }
        return ImportResult(stored: stored, known: known, deleted: deleted > 0 ? deleted : nil)
    }

    /// Writes a part of something longer, in one transaction with the note of how far it got.
    public func sendLines(
        conversation: String, texts: [String], key: String, firstLine: Int
    ) async throws -> ImportResult {
        let hash = try Self.hash(key)
        let space = try await read { try $0.writable(conversation).id }
        guard firstLine > 0, firstLine < 1 << 32, !texts.isEmpty else {
            throw NodeError("bad-line", "Lines are counted from 1, and there must be one.")
        }
        let rows = texts.enumerated().map {
            ImportedRow(line: firstLine + $0, message: TextMessage(text: $1))
        }
        let reply = try await write(
            .importMessages(
                space, fileHash: hash, rows: rows, throughLine: firstLine + texts.count - 1))
        guard case .imported(let stored, let known, _) = reply else {
            return ImportResult(stored: 0, known: 0)
        }
        return ImportResult(stored: stored, known: known)
    }

    /// How many lines of this file, or of what was sent under this key, are in, or 0.
    public func importedLineCount(conversation: String, fileHash: String) async throws -> Int {
        let hash = try Self.hash(fileHash)
        return try await read { views in
            try ImportProgress.line(
                of: hash, in: views.writable(conversation).id, views.store)
        }
    }

    private static func hash(_ text: String) throws -> Digest {
        guard let hash = bytes(hex: text).flatMap({ Digest($0) }) else {
            throw NodeError("bad-hash", "A file's hash has 64 hex digits.")
        }
        return hash
    }

    // MARK: Checks

    /// What each conversation looks like here, in one hash each.
    public func digests() async throws -> [DigestView] { try await read { try $0.digests() } }
}
