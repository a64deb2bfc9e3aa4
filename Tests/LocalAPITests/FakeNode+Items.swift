import ParleyNodeCore

@testable import Parley

extension FakeNode {
    /// Things to be done are begun, changed and done.
    func answerItems() {
        answer(CreateItem.self) { state, request in
            try state.requireConversation(request.conversation)
            let number = Int64(state.items.count + 1)
            let item = ItemView(
                number: number, id: "51d2e0270c829e06-\(number)", conversation: Self.id,
                place: "home", author: "ada", time: 1_700_000_000_000, title: request.title,
                otherTitles: [], assignees: request.assignees,
                isOwn: request.assignees.contains("me"), due: request.due, doneBy: nil,
                notes: request.notes ?? "", source: request.source?.text)
            state.items.append(item)
            return item
        }
        answer(ChangeItem.self) { state, request in
            try state.changeItem(request.item) { item in
                if let title = request.title { (item.title, item.otherTitles) = (title, []) }
                if let due = request.due { item.due = due.isEmpty ? nil : due }
                if let notes = request.notes { item.notes = notes }
                if let done = request.done { item.doneBy = done ? "ada" : nil }
                item.assignees.removeAll { request.removing?.contains($0) ?? false }
                item.assignees += request.adding ?? []
            }
        }
        answer(GetItem.self) { state, request in try state.changeItem(request.item) { _ in } }
        answer(DeleteItem.self) { state, request in
            _ = try state.changeItem(request.item) { _ in }
            state.items.removeAll { $0.number == request.item.number }
            return NoReply()
        }
        answer(ListItems.self) { state, request in
            if let conversation = request.conversation {
                try state.requireConversation(conversation)
            }
            return state.items.filter { request.mine != true || $0.isOwn }
        }
    }
}

extension FakeNode.State {
    fileprivate mutating func changeItem(
        _ reference: MessageReference, _ change: (inout ItemView) -> Void
    ) throws -> ItemView {
        guard let place = items.firstIndex(where: { $0.number == reference.number }) else {
            throw NodeError(together: .unknownItem)
        }
        change(&items[place])
        return items[place]
    }
}
