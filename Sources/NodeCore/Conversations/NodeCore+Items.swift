import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleyWire

/// Items.
/// Source: `Protocol/03-operations.md`, "Items".
extension NodeCore {
    mutating func begin(
        _ item: ItemBeginning, from source: OperationNumber?, in id: SpaceID,
        _ turn: inout some Turn
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        guard let space = try conversation(id, turn.store) else {
            return .failure(.unknownConversation)
        }
        let changes =
            [.title(item.title), .notes(item.notes), .due(item.due)]
            + item.assignees.map { ItemChange.assignee($0, true) }
        for change in changes {
            if let refusal = try refusal(change, in: space, turn.store) { return .failure(refusal) }
        }
        guard item.assignees.count <= Limits.itemAssigneeCountMax else {
            return .failure(.together(.tooManyAssignees(limit: Limits.itemAssigneeCountMax)))
        }
        var message: OperationReference?
        if let source {
            guard let stored = try turn.store.operation(source),
                stored.operation.header.kind.isMessage,
                let log = try turn.store.log(stored.log), log.space == space.number
            else { return .failure(.unknownMessage) }
            if let refusal = Self.refusal(keeping: stored) { return .failure(refusal) }
            message = OperationReference(
                tag: log.tag, sequence: stored.sequence, check: stored.id.check)
        }
        if let refusal = try refusal(sharingIn: space, doing: .write, turn.store) {
            return .failure(refusal)
        }
        let applied = try write([item.draft(from: message)], in: space, &turn)
        return .success(.messages(applied.filter { $0.isKind(.item) }.map(\.number)))
    }

    mutating func change(
        _ changes: [ItemChange], of number: OperationNumber, _ turn: inout some Turn
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        guard let (space, item) = try item(number, turn.store) else {
            return .failure(.together(.unknownItem))
        }
        for change in changes {
            if let refusal = try refusal(change, in: space, turn.store) { return .failure(refusal) }
        }
        if let refusal = try refusal(sharingIn: space, doing: .write, turn.store) {
            return .failure(refusal)
        }
        let drafts = changes.filter { !Self.holds($0, of: item) }.map {
            $0.draft(of: item.reference, replacing: item.titleReferences)
        }
        if !drafts.isEmpty { _ = try write(drafts, in: space, &turn) }
        return .success(.messages([number]))
    }

    /// Whether it is so already, and needs not be said again.
    private static func holds(_ change: ItemChange, of item: ActionItem) -> Bool {
        switch change {
        case .title(let title): item.titles == [title]
        case .notes(let notes): item.notes == notes
        case .due(let day): item.due == day
        case .done(let isDone): (item.doneBy != nil) == isDone
        case .assignee(let person, let isOn): item.assignees.contains(person) == isOn
        }
    }

    mutating func item(
        _ number: OperationNumber, _ store: some Store
    ) throws(StoreError) -> (SpaceRecord, ActionItem)? {
        guard let (space, roster, reference) = try begun(number, as: .item, store) else {
            return nil
        }
        return try Overview.item(reference, in: space.number, roster: roster, store: store).map {
            (space, $0)
        }
    }

    /// Why an item in a conversation cannot be changed, or nil.
    private func refusal(
        _ change: ItemChange, in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> CommandRefusal? {
        switch change {
        case .title(let title):
            if VisibleName.isBlank(title) { return .empty }
            let count = title.utf8.count
            return count <= Limits.itemTitleByteCountMax
                ? nil : .tooLong(byteCount: count, limit: Limits.itemTitleByteCountMax)
        case .notes(let notes):
            let count = notes.utf8.count
            return count <= Limits.itemNotesByteCountMax
                ? nil : .tooLong(byteCount: count, limit: Limits.itemNotesByteCountMax)
        case .due(let day):
            return (1..<Limits.itemDayMax).contains(day ?? 1) ? nil : .together(.badDay)
        case .assignee(let person, true):
            return try knownRoster(of: space, store)?.member(person) == nil ? .noSuchMember : nil
        case .assignee, .done: return nil
        }
    }
}
