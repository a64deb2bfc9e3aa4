import ParleyPayloads
public import ParleyLedger
import ParleyRoster
public import ParleyWire

extension OperationKind {
    /// Begins something to be done.
    public static let item = OperationKind(rawValue: 100)
    /// Changes something about it.
    public static let itemChange = OperationKind(rawValue: 101)
}

extension EntryField {
    /// Things to be done, one entry for each.
    static let item = EntryField(rawValue: 64)
    /// Every change of one, so that all are erased with it. Nothing else reads them.
    static let itemChange = EntryField(rawValue: 65)
    /// Titles that one was given, the last ones.
    static let itemTitle = EntryField(rawValue: 66)
    /// The last word on its notes, on when it is due, and on whether it is done.
    static let itemValue = EntryField(rawValue: 67)
    /// The last statement on each person who is to do it.
    static let itemAssignee = EntryField(rawValue: 68)
}

/// The payload that begins something to be done.
public struct ItemBeginning: Equatable, Sendable {
    /// The title.
    public var title: String
    /// The assigned persons, ascending.
    public var assignees: [PersonID]
    /// Until which day, in days since 1970; nil for none.
    public var due: UInt32?
    /// The notes.
    public var notes: String

    /// A beginning with these fields.
    public init(
        title: String, assignees: [PersonID] = [], due: UInt32? = nil, notes: String = ""
    ) {
        self.title = title
        self.assignees = Set(assignees).sorted()
        self.due = due
        self.notes = notes
    }

    package init?(payload: [UInt8]) {
        guard let item = Payload.decode(PayloadItem.self, payload), Self.isTitle(item.title),
            item.notes.utf8.count <= Limits.itemNotesByteCountMax,
            item.due < Limits.itemDayMax,
            item.assignees.count <= Limits.itemAssigneeCountMax
        else { return nil }
        var persons: [PersonID] = []
        for bytes in item.assignees {
            guard let person = PersonID(fieldBytes(bytes)),
                persons.last.map({ $0 < person }) ?? true
            else { return nil }
            persons.append(person)
        }
        self.init(
            title: item.title, assignees: persons, due: item.due == 0 ? nil : item.due,
            notes: item.notes)
    }

    static func isTitle(_ title: String) -> Bool {
        (1...Limits.itemTitleByteCountMax).contains(title.utf8.count)
    }

    /// The operation that begins it.
    ///
    /// - Parameter source: the message that it was made from.
    public func draft(from source: OperationReference? = nil) -> Draft {
        var item = PayloadItem()
        item.title = title
        item.assignees = assignees.map { field($0.bytes) }
        item.due = due ?? 0
        item.notes = notes
        return Draft(
            kind: .item, lane: .shared, references: source.map { [$0] } ?? [],
            payload: Payload.encode(item))
    }
}

/// The payload that changes one thing about something to be done.
public enum ItemChange: Equatable, Sendable {
    /// The title.
    case title(String)
    /// What else there is to say.
    case notes(String)
    /// Until which day, in days since 1970; nil for none.
    case due(UInt32?)
    /// Whether it is done.
    case done(Bool)
    /// Whether a person is to do it.
    case assignee(PersonID, Bool)

    package init?(payload: [UInt8]) {
        guard let change = Payload.decode(PayloadItemChange.self, payload) else { return nil }
        let isFlag = change.number <= 1
        switch change.field {
        case 1 where ItemBeginning.isTitle(change.text): self = .title(change.text)
        case 2 where change.text.utf8.count <= Limits.itemNotesByteCountMax:
            self = .notes(change.text)
        case 3 where change.number < Limits.itemDayMax:
            self = .due(change.number == 0 ? nil : change.number)
        case 4 where isFlag: self = .done(change.number == 1)
        case 5 where isFlag:
            guard let person = PersonID(fieldBytes(change.person)) else { return nil }
            self = .assignee(person, change.number == 1)
        default: return nil
        }
    }

    /// The number of the field on the wire.
    var fieldNumber: UInt32 {
        switch self {
        case .title: 1
        case .notes: 2
        case .due: 3
        case .done: 4
        case .assignee: 5
        }
    }

    /// The operation that says this of something to be done.
    ///
    /// - Parameter titles: those that a new one replaces.
    public func draft(
        of item: OperationReference, replacing titles: [OperationReference] = []
    ) -> Draft {
        var change = PayloadItemChange()
        change.field = fieldNumber
        var references = [item]
        switch self {
        case .title(let title):
            change.text = title
            references += titles.prefix(Limits.referenceCountMax - 1)
        case .notes(let notes): change.text = notes
        case .due(let day): change.number = day ?? 0
        case .done(let isDone): change.number = isDone ? 1 : 0
        case .assignee(let person, let isOn):
            change.person = field(person.bytes)
            change.number = isOn ? 1 : 0
        }
        return Draft(
            kind: .itemChange, lane: .shared, references: references,
            payload: Payload.encode(change))
    }
}

/// Something to be done is an entry of its conversation until it is taken back.
enum ItemRule: MergeRule {
    static let kind = OperationKind.item
    static let lane = Lane.shared
    static let role = Role.member
    static let act: GroupAct? = .write

    static func merge(
        _ applied: AppliedOperation, _ context: MergeContext, into store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        try Withdrawal.keep(
            applied, as: .item, isReadable: { ItemBeginning(payload: $0) != nil }, context,
            in: store)
    }
}

/// For each field the last change in order holds. Titles are kept as long as no other replaces
/// them, so that of two concurrent ones neither is lost; the last ``Limits/itemTitleCountMax`` are
/// considered. For assignments the last statements on ``Limits/itemPersonCountMax`` persons are
/// kept. What drops out of either stands below everything that stays for good, so no order of
/// arrival matters.
enum ItemChangeRule: MergeRule {
    static let kind = OperationKind.itemChange
    static let lane = Lane.shared
    static let role = Role.member
    static let act: GroupAct? = .write

    static func merge(
        _ applied: AppliedOperation, _ context: MergeContext, into store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        let operation = applied.operation
        guard let item = operation.operation.header.references.first,
            try Target.starter(of: item, context, in: store) != nil
        else { return [] }
        if try Withdrawal.erases(applied, about: item, context, in: store) { return [] }
        guard let change = operation.operation.payload.flatMap(ItemChange.init(payload:)) else {
            return []
        }
        var entry = Entry(
            space: context.space.number, object: .operation(item.tag, item.sequence),
            field: .itemChange, operation: applied.number, order: operation.orderKey)
        try store.put(entry)
        let branch = try Target.element(of: item.check, in: store)
        switch change {
        case .title:
            (entry.field, entry.element) = (.itemTitle, branch)
            try keepLast(entry, Limits.itemTitleCountMax, in: store)
        case .notes, .due, .done:
            entry.field = .itemValue
            entry.element = try element(of: change.fieldNumber, item.check, in: store)
            let rivals = try LastWriter.rivals(of: entry, in: store)
            guard rivals.allSatisfy({ $0.order <= entry.order }) else { return [] }
            for rival in rivals { try store.remove(rival) }
            try store.put(entry)
        case .assignee(let person, let isOn):
            (entry.field, entry.element, entry.isOn) = (.itemAssignee, branch, isOn)
            let kept = try LastWriter.rivals(of: entry, in: store)
            for rival in kept where try Self.person(in: rival, store) == person {
                guard rival.order <= entry.order else { return [] }
                try store.remove(rival)
            }
            try keepLast(entry, Limits.itemPersonCountMax, in: store)
        }
        return try Target.together(item, context, in: store)
    }

    /// Keeps an entry if it is among the last of its element.
    private static func keepLast(
        _ entry: Entry, _ count: Int, in store: some MergeStore
    ) throws(StoreError) {
        try store.put(entry)
        let kept = try LastWriter.rivals(of: entry, in: store)
        for least in kept.sorted(by: { $0.order < $1.order }).dropLast(count) {
            try store.remove(least)
        }
    }

    static func person(
        in entry: Entry, _ store: some MergeStore
    ) throws(StoreError) -> PersonID? {
        let payload = try store.operation(entry.operation)?.operation.payload
        guard case .assignee(let person, _)? = payload.flatMap(ItemChange.init(payload:)) else {
            return nil
        }
        return person
    }

    /// Tells the values of one field of the item with this check from all others.
    static func element(
        of field: UInt32, _ check: Check, in store: some MergeStore
    ) throws(StoreError) -> UInt64 {
        var writer = ByteWriter(capacity: 24)
        writer.check(check)
        writer.uint32(field)
        return try store.locator(writer.bytes)
    }
}
