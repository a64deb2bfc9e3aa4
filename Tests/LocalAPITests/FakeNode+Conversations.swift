@testable import Parley

extension FakeNode {
    /// Conversations are names; each has all messages.
    func answerConversations() {
        answer(ListConversations.self) { state, _ in
            state.conversations.map { name in
                var view = ConversationView.group(name)
                view.isMarkedUnread = state.markedUnread.contains(name)
                view.isArchived = state.archived.contains(name)
                view.isKeptFirst = state.keptFirst.contains(name)
                return view
            }
        }
        answer(ArchiveConversation.self) { state, request in
            try state.requireConversation(request.conversation)
            if request.on {
                state.archived.insert(request.conversation)
            } else {
                state.archived.remove(request.conversation)
            }
            return NoReply()
        }
        answer(GetConversation.self) { state, request in
            try state.requireConversation(request.conversation)
            var view = ConversationView.group(request.conversation)
            view.draft = state.drafts[request.conversation]
            return view
        }
        answer(KeepDraft.self) { state, request in
            try state.requireConversation(request.conversation)
            state.drafts[request.conversation] = request.text.isEmpty ? nil : request.text
            return NoReply()
        }
        answer(CreateConversation.self) { state, request in
            state.conversations.append(request.name)
            return .group(request.name)
        }
        answer(DescribeGroup.self) { state, request in
            state.calls.append("describe \(request.text)")
            return NoReply()
        }
        answer(ChangeGroupPicture.self) { state, request in
            state.calls.append("picture \(request.picture)")
            return NoReply()
        }
        answer(RenameConversation.self) { state, request in
            try state.requireConversation(request.conversation)
            state.conversations = state.conversations.map {
                $0 == request.conversation ? request.name : $0
            }
            return NoReply()
        }
        answer(MuteConversation.self) { state, request in
            try state.requireConversation(request.conversation)
            state.muted[request.conversation] = request.on
            state.mutedHours[request.conversation] = request.hours
            return NoReply()
        }
        answer(DeleteConversation.self) { state, request in
            state.calls.append("forget")
            return DeletedConversationView(conversation: "", name: request.conversation)
        }
    }

    /// Conversations that stand above others.
    func answerKeepingFirst() {
        answer(KeepConversationFirst.self) { state, request in
            try state.requireConversation(request.conversation)
            if request.on {
                state.keptFirst.insert(request.conversation)
            } else {
                state.keptFirst.remove(request.conversation)
            }
            return NoReply()
        }
        answer(SetMessageLifetime.self) { state, request in
            try state.requireConversation(request.conversation)
            return NoReply()
        }
    }

    /// Pages end with the newest message.
    func answerReading() {
        answer(ReadMessages.self) { state, request in
            try state.page(request.conversation, before: request.before, limit: request.limit)
        }
        answer(ReadUnread.self) { state, request in
            let first = state.messages.firstIndex {
                !$0.isOwn && !state.read.contains($0.number)
            }
            guard let first else {
                return try state.page(request.conversation, before: nil, limit: request.limit)
            }
            let end = min(state.messages.count, first + request.limit)
            return try state.page(request.conversation, before: "\(end)", limit: end - first)
        }
        answer(MarkUnread.self) { state, request in
            try state.requireConversation(request.conversation)
            if request.on {
                state.markedUnread.insert(request.conversation)
            } else {
                state.markedUnread.remove(request.conversation)
            }
            return NoReply()
        }
        answer(NoteOpenConversation.self) { state, request in
            try state.requireConversation(request.conversation)
            return NoReply()
        }
        answer(GetStats.self) { _, _ in
            StatsView(
                conversations: [], devices: [], days: [], isCountPartial: false,
                databaseByteCount: 0, fileByteCount: 0)
        }
        answer(ListOpenConversations.self) { _, _ in [] }
        answer(MarkRead.self) { state, request in
            try state.requireConversation(request.conversation)
            if let error = state.marksRefused { throw error }
            state.markedUnread.remove(request.conversation)
            state.read += request.messages.compactMap { Int64($0.text) }
            return request.messages.count
        }
        answer(GetMessageHistory.self) { _, _ in
            HistoryPage(versions: [.init(text: "once", time: 1)], count: 1, next: nil)
        }
    }
}

extension FakeNode.State {
    func page(_ conversation: String, before: String?, limit: Int) throws -> MessagePage {
        try requireConversation(conversation)
        let end = min(max(0, before.flatMap { Int($0) } ?? messages.count), messages.count)
        let start = max(0, end - max(0, limit))
        return MessagePage(
            messages: Array(messages[start..<end]), cursor: start > 0 ? "\(start)" : nil,
            aboveCount: start, belowCount: messages.count - end, last: 9)
    }
}
