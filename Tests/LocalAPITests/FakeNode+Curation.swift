@testable import Parley

extension FakeNode {
    /// Messages are passed on and marked.
    func answerCuration() {
        answer(ForwardMessage.self) { state, request in
            try state.requireConversation(request.conversation)
            var copy = try state.change(request.message) { _ in }
            copy.number = Int64(state.messages.count + 1)
            copy.forwardedFrom = request.withoutOrigin == true ? nil : copy.author
            state.messages.append(copy)
            return copy
        }
        answer(PinMessage.self) { state, request in
            try state.change(request.message) { $0.isPinned = request.on }
        }
        answer(ListPins.self) { state, request in
            try state.requireConversation(request.conversation)
            return PinList(messages: state.messages.reversed().filter(\.isPinned))
        }
        answer(ListMentions.self) { state, request in
            let found = state.messages.reversed().filter(\.mentionsMe)
            return MentionPage(
                mentions: found.prefix(max(0, request.limit)).map {
                    .init(title: "home", message: $0, isUnread: !state.read.contains($0.number))
                }, unreadCount: found.count, next: nil)
        }
        answer(ReadThread.self) { state, request in
            let root = try state.change(request.message) { _ in }
            let answers = state.messages.filter { $0.replyTo == root.number }
            return ThreadPage(
                conversation: "home", rootID: root.id, root: root, answers: answers, cursor: nil,
                aboveCount: 0, answerCount: answers.count, unreadCount: 0, last: 0)
        }
        answer(ListThreads.self) { state, _ in
            let roots = state.messages.filter { root in
                state.messages.contains { $0.replyTo == root.number }
            }
            return ThreadList(
                threads: roots.reversed().compactMap { root in
                    let answers = state.messages.filter { $0.replyTo == root.number }
                    return answers.last.map { newest in
                        ThreadList.Entry(
                            title: "home", conversation: "home", rootID: root.id, root: root,
                            newest: newest, answerCount: answers.count,
                            unreadCount: answers.count { !$0.isOwn })
                    }
                })
        }
        answer(StarMessage.self) { state, request in
            try state.change(request.message) { $0.isStarred = request.on }
        }
        answer(ListStars.self) { state, request in
            let starred = state.messages.reversed().filter(\.isStarred)
                .dropFirst(max(0, request.from ?? 0))
            let page = starred.prefix(max(0, request.limit))
            return StarPage(
                stars: page.map { .init(title: "home", message: $0) },
                next: starred.count > request.limit ? (request.from ?? 0) + request.limit : nil)
        }
    }
}
