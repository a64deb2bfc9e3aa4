internal import Parley
internal import ParleySimulate

extension RealRun {
    /// What a deed of a person came to.
    private enum Outcome {
        case done
        case nothingThere
    }

    /// Does what somebody does. A node that refuses or is down is counted, not an error.
    func perform(_ act: Act) async {
        guard let device = devices.first(where: { $0.user == act.node }) else { return }
        let node: any NodeService
        do {
            node = try await device.node()
        } catch {
            result.missedCount += 1
            return
        }
        do {
            switch try await attempt(act.do, as: act.node, on: node) {
            case .done: result.doneCount += 1
            case .nothingThere: result.refusedCount += 1
            }
        } catch {
            result.refusedCount += 1
        }
    }

    private func attempt(
        _ deed: Deed, as user: String, on node: any NodeService
    ) async throws -> Outcome {
        switch deed {
        case .write(let space, let text):
            return try await write(text, replyingTo: nil, space, on: node)
        case .reply(let space, let message, let text):
            return try await write(text, replyingTo: message, space, on: node)
        case .edit(let space, let place, let text):
            guard let message = try await message(place, space, on: node) else { break }
            try await node.perform(EditMessage(message: MessageReference(message.id), text: text))
            return .done
        case .delete(let space, let place):
            guard let message = try await message(place, space, on: node) else { break }
            return try await delete(message, on: node)
        case .react(let space, let place, let emoji, let on):
            guard let message = try await message(place, space, on: node) else { break }
            try await node.perform(
                ReactToMessage(message: MessageReference(message.id), emoji: emoji, on: on))
            return .done
        case .read, .rename, .mute, .bringIn:
            return try await tend(deed, as: user, on: node)
        case .found, .invite, .verify, .ask, .answer, .uninvite:
            return try await meet(deed, on: node)
        default: break
        }
        return .nothingThere
    }

    // MARK: Messages

    private func write(
        _ text: String, replyingTo place: Int?, _ space: Int, on node: any NodeService
    ) async throws -> Outcome {
        guard let conversation = try await conversation(space, on: node) else {
            return .nothingThere
        }
        var target: MessageReference?
        if let place {
            target = try await message(place, space, on: node).map { MessageReference($0.id) }
            if target == nil { return .nothingThere }
        }
        let sent = try await node.perform(
            SendMessages(conversation: conversation.id, texts: [text], replyTo: target))
        // Only what the node answers counts: a killed one says nothing, and nothing is claimed.
        for message in sent { saved.add(message.text ?? text, in: conversation.id) }
        result.savedCount += sent.count
        return .done
    }

    private func delete(_ message: MessageView, on node: any NodeService) async throws -> Outcome {
        let text = try await originals(of: [message], on: node)[message.number] ?? message.text
        // Before it is asked for: a node that dies before it answers may have done it.
        if let text { saved.forgive(text, in: message.conversation) }
        do {
            try await node.perform(DeleteMessage(message: MessageReference(message.id)))
        } catch let error as NodeError where error.code == "not-allowed" {
            if let text { saved.add(text, in: message.conversation) }
            throw error
        }
        return .done
    }

    // MARK: Conversations and people

    private func tend(
        _ deed: Deed, as user: String, on node: any NodeService
    ) async throws -> Outcome {
        switch deed {
        case .read(let space, _):
            guard let conversation = try await conversation(space, on: node) else { break }
            let page = try await node.perform(ReadUnread(conversation: conversation.id, limit: 200))
            try await node.perform(
                MarkRead(
                    conversation: conversation.id,
                    messages: page.messages.map { MessageReference($0.number) },
                    last: page.last))
            return .done
        case .rename(let space, let name):
            guard let conversation = try await conversation(space, on: node) else { break }
            try await node.perform(RenameConversation(conversation: conversation.id, name: name))
            return .done
        case .mute(let space, let on, _):
            guard let conversation = try await conversation(space, on: node) else { break }
            try await node.perform(MuteConversation(conversation: conversation.id, on: on))
            return .done
        case .bringIn(let space, let firstLine, let texts):
            guard let conversation = try await conversation(space, on: node) else { break }
            let rows = texts.enumerated().map { offset, text in
                ImportMessages.Row(
                    line: firstLine + offset, author: "old friend",
                    time: 1_000_000_000_000 + UInt64(firstLine + offset), text: text,
                    isAction: false)
            }
            let batch = ImportMessages(
                conversation: conversation.id, fileHash: Self.fileHash(of: user),
                throughLine: firstLine + texts.count - 1, rows: rows)
            _ = try await node.perform(batch)
            return .done
        default: break
        }
        return .nothingThere
    }

    private func meet(_ deed: Deed, on node: any NodeService) async throws -> Outcome {
        switch deed {
        case .found(let name, let members):
            try await node.perform(CreateConversation(name: name, members: members))
            return .done
        case .invite(let user, _):
            guard let other = devices.first(where: { $0.user == user }) else { break }
            let link = try await node.perform(CreateInvite(hours: 2)).link
            try await other.node().perform(AcceptInvite(link: link))
            return .done
        case .verify(let user):
            try await node.perform(MarkVerified(person: user))
            return .done
        case .ask(let user):
            guard let other = devices.first(where: { $0.user == user }) else { break }
            try await node.perform(RequestContact(card: other.node().perform(GetCard()).text))
            return .done
        case .answer(let user, let how):
            guard let decision = ContactDecision(rawValue: how) else { break }
            try await node.perform(AnswerContact(person: user, decision: decision))
            if decision == .block {
                _ = try await node.perform(AnswerContact(person: user, decision: .unblock))
            }
            return .done
        case .uninvite:
            guard let oldest = try await node.perform(ListInvites()).last else { break }
            try await node.perform(RevokeInvite(id: oldest.id))
            return .done
        default: break
        }
        return .nothingThere
    }

    /// Somebody's one old log.
    private static func fileHash(of user: String) -> String {
        let bytes = Array(user.utf8.prefix(32)) + Array(repeating: 0, count: 32)
        let digits = Array("0123456789abcdef")
        return String(bytes.prefix(32).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }

    /// Groups first, as deeds count them; it begins anew behind the last.
    private func conversation(
        _ place: Int, on node: any NodeService
    ) async throws -> ConversationView? {
        let all = try await node.perform(ListConversations())
        let groups = all.filter { $0.kind == "group" }.sorted { $0.id < $1.id }
        let rest = all.filter { $0.kind != "group" }.sorted { $0.id < $1.id }
        let ordered = groups + rest
        return ordered.isEmpty ? nil : ordered[place % ordered.count]
    }

    private func message(
        _ place: Int, _ space: Int, on node: any NodeService
    ) async throws -> MessageView? {
        guard let conversation = try await conversation(space, on: node) else { return nil }
        let page = try await node.perform(
            ReadMessages(conversation: conversation.id, limit: min(place + 1, 200)))
        return page.messages.first
    }
}
