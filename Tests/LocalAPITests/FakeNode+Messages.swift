@testable import Parley

extension FakeNode {
    /// Messages are kept in memory, under numbers from 1 on.
    func answerMessages() {
        answer(SendMessages.self) { state, request in
            try state.requireConversation(request.conversation)
            let reply = request.replyTo ?? request.thread
            state.calls.append(
                "send \(request.conversation) \(request.texts) \(reply.map { "\($0)" } ?? "-")")
            let first = Int64(state.messages.count + 1)
            let added = request.texts.enumerated().map { index, text in
                var message = Self.message(first + Int64(index), text)
                message.replyTo = reply.flatMap { Int64($0.text) }
                return message
            }
            state.messages += added
            return added
        }
        answer(ForgetOnce.self) { state, request in
            try state.requireConversation(request.conversation)
            return NoReply()
        }
        answer(LocateMessages.self) { _, request in request.messages.map { _ in Self.id } }
        answer(EditMessage.self) { state, request in
            try state.change(request.message) {
                $0.editCount += 1
                $0.text = request.text
            }
        }
        answer(DeleteMessage.self) { state, request in
            try state.change(request.message) {
                $0.isDeleted = true
                $0.text = nil
            }
        }
        answer(ReactToMessage.self) { state, request in
            try state.change(request.message) {
                $0.reactions =
                    request.on ? [.init(emoji: request.emoji, names: ["ada"], count: 1)] : []
            }
        }
        answer(SendLines.self) { state, request in
            state.linesLeft -= request.texts.count
            if state.linesLeft < 0, let error = state.linesRefused { throw error }
            let rows = request.texts.enumerated().map {
                ImportMessages.Row(
                    line: request.firstLine + $0, author: "", time: 0, text: $1, isAction: false)
            }
            return try state.take(
                ImportMessages(
                    conversation: request.conversation, fileHash: request.key,
                    throughLine: request.firstLine + rows.count - 1, rows: rows))
        }
        answer(ImportMessages.self) { state, request in try state.take(request) }
        answer(FindImported.self) { _, _ in ImportedByOthers(count: 0, names: []) }
        answer(CountImportedLines.self) { state, request in
            state.imported[request.fileHash, default: 0]
        }
    }
}

extension FakeNode.State {
    func requireConversation(_ name: String) throws {
        let isKnown =
            conversations.contains(name) || (name == FakeNode.id && !conversations.isEmpty)
        guard isKnown else {
            throw NodeError(
                "unknown-conversation", "there is no conversation \"\(name)\"",
                hint: "parley conversations lists them")
        }
    }

    mutating func change(
        _ message: MessageReference, _ body: (inout MessageView) -> Void
    ) throws -> MessageView {
        guard let index = messages.firstIndex(where: { "\($0.number)" == message.text }) else {
            throw NodeError("unknown-message", "there is no message #\(message)")
        }
        body(&messages[index])
        return messages[index]
    }

    /// Brings in what is not in yet.
    mutating func take(_ batch: ImportMessages) throws -> ImportResult {
        try requireConversation(batch.conversation)
        if let batchCountMax, batches.count >= batchCountMax {
            throw NodeError("disk-full", "The disk is full: this was not saved.")
        }
        let done = imported[batch.fileHash, default: 0]
        var fresh = 0
        let before = held
        for row in batch.rows where row.line > done {
            let words = ["\(row.time)", row.author, "\(row.isAction)", row.text]
            if let above = row.alikeAbove, before[words, default: 0] > above { continue }
            held[words, default: 0] += 1
            fresh += 1
        }
        for name in [batch.fileHash] + batch.beginnings {
            imported[name] = max(imported[name, default: 0], batch.throughLine)
        }
        batches.append(batch)
        return ImportResult(stored: fresh, known: batch.rows.count - fresh)
    }
}

extension ConversationView {
    /// A group that has everything but messages of its own.
    static func group(_ name: String) -> ConversationView {
        ConversationView(
            id: FakeNode.id, kind: "group", name: name, members: ["ada", "ben"], unread: 2,
            isMuted: false, newest: 1_700_000_000_000)
    }
}
