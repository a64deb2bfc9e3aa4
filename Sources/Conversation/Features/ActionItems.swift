public import ParleyLedger
public import ParleyRoster
public import ParleyWire

/// Something to be done, as a screen shows it.
public struct ActionItem: Equatable, Sendable {
    /// Its row here: how commands of this node name it.
    public var number: OperationNumber
    /// How operations of the space name it.
    public var reference: OperationReference
    /// Where it stands.
    public var order: OrderKey
    /// The author.
    public var author: PersonID
    /// When it was begun by its author's clock, in Unix milliseconds.
    public var time: UInt64
    /// The message that it was made from.
    public var source: OperationReference?
    /// The titles that no other replaces, the last first. Several were written concurrently.
    public var titles: [String]
    /// How operations name these.
    public var titleReferences: [OperationReference]
    /// The assigned persons, ascending.
    public var assignees: [PersonID]
    /// Until which day, in days since 1970; nil for none.
    public var due: UInt32?
    /// Who said that it is done; nil while it is not.
    public var doneBy: PersonID?
    /// The notes.
    public var notes: String
}

extension Overview {
    /// The items of a conversation, open and done, the oldest first; if there are more than
    /// ``Limits/itemCountMax``, the last.
    public static func items(
        in space: SpaceNumber, roster: Roster, store: some MergeStore
    ) throws(StoreError) -> [ActionItem] {
        let entries = try store.entries(about: .space, in: space, field: .item)
            .sorted { $0.order < $1.order }
        var items: [ActionItem] = []
        for entry in entries.suffix(Limits.itemCountMax) {
            if let item = try item(entry, in: space, roster, store) { items.append(item) }
        }
        return items
    }

    /// The item that an operation began; nil if it began none, does not count or was withdrawn.
    public static func item(
        _ item: OperationReference, in space: SpaceNumber, roster: Roster, store: some MergeStore
    ) throws(StoreError) -> ActionItem? {
        let entries = try store.entries(
            about: .space, in: space, field: .item, element: store.locator(item.subject))
        guard let entry = entries.first else { return nil }
        return try self.item(entry, in: space, roster, store)
    }

    private static func item(
        _ entry: Entry, in space: SpaceNumber, _ roster: Roster, _ store: some MergeStore
    ) throws(StoreError) -> ActionItem? {
        guard let stored = try store.operation(entry.operation),
            let begun = stored.operation.payload.flatMap(ItemBeginning.init(payload:)),
            let author = try person(writing: entry.order.tag, in: space, roster, store)
        else { return nil }
        let reference = entry.order.reference
        let facts = ItemFacts(of: reference, in: space)
        let titles = try facts.titles(begunAs: begun.title, entry, store)
        let (done, sayer) = try facts.last(.done(true), store)
        var item = ActionItem(
            number: entry.operation, reference: reference, order: entry.order, author: author,
            time: stored.operation.header.wallClock,
            source: stored.operation.header.references.first,
            titles: titles.map(\.title), titleReferences: titles.map(\.reference),
            assignees: try facts.assignees(begunWith: begun.assignees, store),
            due: begun.due, notes: begun.notes)
        if case .due(let day)? = try facts.last(.due(nil), store).change { item.due = day }
        if case .notes(let notes)? = try facts.last(.notes(""), store).change {
            item.notes = notes
        }
        if case .done(true)? = done, let sayer {
            item.doneBy = try person(writing: sayer, in: space, roster, store)
        }
        return item
    }
}

/// The changes of one item.
private struct ItemFacts {
    let item: OperationReference
    let space: SpaceNumber
    private let object: EntryObject

    init(of item: OperationReference, in space: SpaceNumber) {
        (self.item, self.space) = (item, space)
        object = .operation(item.tag, item.sequence)
    }

    /// The last word on the field that this one is about, and the log in which it stands.
    func last(
        _ example: ItemChange, _ store: some MergeStore
    ) throws(StoreError) -> (change: ItemChange?, by: LogTag?) {
        let element = try ItemChangeRule.element(of: example.fieldNumber, item.check, in: store)
        let entries = try store.entries(
            about: object, in: space, field: .itemValue, element: element)
        guard let entry = entries.first else { return (nil, nil) }
        let payload = try store.operation(entry.operation)?.operation.payload
        return (payload.flatMap(ItemChange.init(payload:)), entry.order.tag)
    }

    /// The titles that no other replaces, the last first. One replaces only what stands below it.
    func titles(
        begunAs title: String, _ beginning: Entry, _ store: some MergeStore
    ) throws(StoreError) -> [(title: String, reference: OperationReference)] {
        let entries = try store.entries(
            about: object, in: space, field: .itemTitle,
            element: Target.element(of: item.check, in: store)
        ).sorted { $0.order > $1.order }
        var replaced: Set<OperationReference> = []
        var titles: [(title: String, reference: OperationReference)] = []
        for entry in entries {
            guard let operation = try store.operation(entry.operation)?.operation,
                case .title(let title)? = operation.payload.flatMap(ItemChange.init(payload:))
            else { continue }
            let reference = entry.order.reference
            if !replaced.contains(reference) { titles.append((title, reference)) }
            replaced.formUnion(operation.header.references.dropFirst())
        }
        if !replaced.contains(item), entries.count < Limits.itemTitleCountMax {
            titles.append((title, item))
        }
        return titles
    }

    /// The assigned persons, ascending: those assigned first, with the later changes for each.
    func assignees(
        begunWith persons: [PersonID], _ store: some MergeStore
    ) throws(StoreError) -> [PersonID] {
        var assignees = Set(persons)
        let entries = try store.entries(
            about: object, in: space, field: .itemAssignee,
            element: Target.element(of: item.check, in: store))
        for entry in entries {
            guard let person = try ItemChangeRule.person(in: entry, store) else { continue }
            if entry.isOn { assignees.insert(person) } else { assignees.remove(person) }
        }
        return assignees.sorted()
    }
}
