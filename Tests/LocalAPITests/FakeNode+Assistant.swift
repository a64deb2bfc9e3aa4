@testable import Parley

extension FakeNode {
    /// The assistant finds what the last message says, whatever that is.
    func answerAssistant() {
        answer(Summarize.self) { state, request in
            try state.requireConversation(request.conversation)
            return SummaryView(
                conversation: Self.id, title: "home", points: state.cited, looked: state.looked)
        }
        answer(CatchUp.self) { state, request in
            if let conversation = request.conversation {
                try state.requireConversation(conversation)
            }
            let part = CatchUpView.Part(
                conversation: Self.id, title: "home", isDirect: false,
                unreadCount: state.messages.count,
                urgent: state.cited.map { CatchUpView.Urgent(line: $0, reason: "mention") },
                decisions: [], points: [], looked: state.looked)
            return CatchUpView(
                parts: state.messages.isEmpty ? [] : [part], leftCount: 0, pollCount: 0,
                itemCount: 0)
        }
        answer(SuggestItems.self) { state, request in
            try state.requireConversation(request.conversation)
            return ItemSuggestionList(
                suggestions: state.cited.map {
                    ItemSuggestion(line: $0, assignee: nil, assigneeName: "ben", due: "2026-12-04")
                }, looked: state.looked)
        }
        answer(SuggestDecisions.self) { state, request in
            try state.requireConversation(request.conversation)
            return DecisionSuggestionList(
                suggestions: state.cited.map { DecisionSuggestionView(line: $0, agreement: 1) },
                looked: state.looked)
        }
        answer(ListOpenQuestions.self) { state, request in
            try state.requireConversation(request.conversation)
            return OpenQuestionList(
                questions: state.cited.map { OpenQuestionView(line: $0, isToMe: true) },
                looked: state.looked)
        }
        answer(DismissSuggestion.self) { state, request in
            _ = try state.change(request.message) { _ in }
            state.dismissed.insert(request.message.text)
            return NoReply()
        }
    }
}

extension FakeNode.State {
    fileprivate var looked: LookedAt { LookedAt(messageCount: messages.count, hasMore: false) }

    /// The last message that was not dismissed, as a sentence.
    fileprivate var cited: [CitedLine] {
        messages.filter { !dismissed.contains("\($0.number)") }.suffix(1).map { message in
            CitedLine(
                number: message.number, id: message.id, conversation: message.conversation,
                author: message.author, person: message.person, time: message.time,
                isOwn: message.isOwn, sentence: 0, text: message.text ?? "", isCut: false)
        }
    }
}
