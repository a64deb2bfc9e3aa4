import ParleyNodeCore

@testable import Parley

extension FakeNode {
    /// Decisions are proposed, approved and settled.
    func answerDecisions() {
        answer(ProposeDecision.self) { state, request in
            try state.requireConversation(request.conversation)
            let number = Int64(state.decisions.count + 1)
            let decision = DecisionView(
                number: number, id: "51d2e0270c829e06-\(number)", conversation: Self.id,
                place: "home", author: "ada", isOwn: true, time: 1_700_000_000_000,
                title: request.title ?? "a result", text: request.text ?? "",
                tags: request.tags ?? [], state: "proposed", settledBy: nil, successor: nil,
                successorTitle: nil, approvers: [], isApproved: false,
                source: request.source?.text, poll: request.poll?.text, maySettle: true)
            state.decisions.append(decision)
            return decision
        }
        answer(ApproveDecision.self) { state, request in
            try state.changeDecision(request.decision) { decision in
                decision.isApproved = request.on
                decision.approvers = request.on ? ["ada"] : []
            }
        }
        answer(SettleDecision.self) { state, request in
            let other = try request.successor.map { try state.changeDecision($0) { _ in } }
            return try state.changeDecision(request.decision) { decision in
                (decision.state, decision.settledBy) = (request.state, "ada")
                (decision.successor, decision.successorTitle) = (other?.id, other?.title)
            }
        }
        answer(GetDecision.self) { state, request in
            try state.changeDecision(request.decision) { _ in }
        }
        answer(DeleteDecision.self) { state, request in
            _ = try state.changeDecision(request.decision) { _ in }
            state.decisions.removeAll { $0.number == request.decision.number }
            return NoReply()
        }
        answer(ListDecisions.self) { state, request in
            if let conversation = request.conversation {
                try state.requireConversation(conversation)
            }
            let found = state.decisions.reversed().filter {
                (request.state ?? $0.state) == $0.state && $0.time >= request.since ?? 0
                    && $0.time < request.before ?? .max
            }
            return DecisionList(decisions: Array(found.prefix(max(0, request.limit))))
        }
    }
}

extension FakeNode.State {
    fileprivate mutating func changeDecision(
        _ reference: MessageReference, _ change: (inout DecisionView) -> Void
    ) throws -> DecisionView {
        guard let place = decisions.firstIndex(where: { $0.number == reference.number }) else {
            throw NodeError(together: .unknownDecision)
        }
        change(&decisions[place])
        return decisions[place]
    }
}
