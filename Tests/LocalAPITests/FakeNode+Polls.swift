import ParleyNodeCore

@testable import Parley

extension FakeNode {
    /// Polls are asked, answered and closed.
    func answerPolls() {
        answer(AskPoll.self) { state, request in
            try state.requireConversation(request.conversation)
            let poll = Self.poll(Int64(state.polls.count + 1), request)
            state.polls.append(poll)
            return poll
        }
        answer(AnswerPoll.self) { state, request in
            try state.changePoll(request.poll) { poll in
                poll.isAnswered = !request.choices.isEmpty
                poll.voterCount = request.choices.isEmpty ? 0 : 1
                for place in poll.options.indices {
                    let isOwn = request.choices.contains(place + 1)
                    poll.options[place].isOwn = isOwn
                    poll.options[place].count = isOwn ? 1 : 0
                    poll.options[place].names = isOwn ? ["ada"] : []
                }
                poll.leading = PollView.leading(poll.options)
            }
        }
        answer(ClosePoll.self) { state, request in
            try state.changePoll(request.poll) { poll in
                poll.state = "closed"
                poll.closedBy = "ada"
            }
        }
        answer(GetPoll.self) { state, request in try state.changePoll(request.poll) { _ in } }
        answer(DeletePoll.self) { state, request in
            _ = try state.changePoll(request.poll) { _ in }
            state.polls.removeAll { $0.number == request.poll.number }
            return NoReply()
        }
        answer(ListPolls.self) { state, request in
            if let conversation = request.conversation {
                try state.requireConversation(conversation)
            }
            return state.polls.reversed().filter { poll in
                request.toAnswer != true || poll.state == "open" && !poll.isAnswered
            }
        }
    }

    private static func poll(_ number: Int64, _ request: AskPoll) -> PollView {
        PollView(
            number: number, id: "51d2e0270c829e06-\(number)", conversation: id, title: "home",
            author: "ada", person: "aa", isOwn: true, time: 1_700_000_000_000,
            question: request.question,
            options: request.options.map { .init(text: $0, count: 0, names: [], isOwn: false) },
            isMultiple: request.multiple ?? false, until: nil, state: "open", closedBy: nil,
            voterCount: 0, uncounted: [], isAnswered: false, mayClose: true)
    }
}

extension FakeNode.State {
    fileprivate mutating func changePoll(
        _ reference: MessageReference, _ change: (inout PollView) -> Void
    ) throws -> PollView {
        guard let place = polls.firstIndex(where: { $0.number == reference.number }) else {
            throw NodeError(together: .unknownPoll)
        }
        change(&polls[place])
        return polls[place]
    }
}
