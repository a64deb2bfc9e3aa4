import ParleyPayloads
public import ParleyLedger
import ParleyRoster
public import ParleyWire

extension OperationKind {
    /// Takes back for everyone what people do together.
    public static let withdrawal = OperationKind(rawValue: 99)

    /// Whether an operation of this kind can be taken back by a withdrawal.
    package var canBeWithdrawn: Bool {
        self == .poll || self == .item || self == .note || self == .decision
    }

    /// Whether an operation of this kind is removed together with its subject, its first reference.
    package var goesWithItsTarget: Bool {
        self == .vote || self == .pollClose || self == .itemChange || self == .noteEdit
            || self == .noteTitle || hasNoWords
    }

    /// Whether an operation of this kind goes so with a payload that is never erased.
    var hasNoWords: Bool { self == .approval || self == .settling }
}

extension EntryField {
    /// The withdrawals of one thing: one is enough, and nothing undoes it.
    static let withdrawal = EntryField(rawValue: 63)
}

/// The withdrawal of a poll, an item, a note or a decision. A deletion of lane 1 would not reach
/// newcomers, for whom that lane begins later.
public enum Withdrawal {
    /// The operation that takes this back.
    public static func draft(of target: OperationReference) -> Draft {
        var payload = PayloadWithdrawal()
        payload.version = 1
        return Draft(
            kind: .withdrawal, lane: .shared, references: [target],
            payload: Payload.encode(payload), isErasable: false)
    }

    /// Whether something was taken back.
    package static func covers(
        _ target: OperationReference, in space: SpaceNumber, store: some MergeStore
    ) throws(StoreError) -> Bool {
        try store.hasEntry(
            about: .operation(target.tag, target.sequence), in: space, field: .withdrawal,
            element: Target.element(of: target.check, in: store))
    }

    /// Whether what an operation begins or is about was withdrawn. Then it loses its payload as
    /// well.
    static func erases(
        _ applied: AppliedOperation, about target: OperationReference, _ context: MergeContext,
        in store: some MergeStore
    ) throws(StoreError) -> Bool {
        guard try covers(target, in: context.space.number, store: store) else { return false }
        try Deletion.erase(applied.number, applied.operation.operation, in: store)
        return true
    }

    /// Stores something that a person began, and may withdraw, as an entry of its conversation.
    static func keep(
        _ applied: AppliedOperation, as field: EntryField, isReadable: ([UInt8]) -> Bool,
        _ context: MergeContext, in store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        let reference = applied.orderKey.reference
        if try erases(applied, about: reference, context, in: store) { return [] }
        guard context.roster.kind != .own,
            applied.operation.operation.payload.map(isReadable) == true
        else { return [] }
        try store.put(
            Entry(
                space: context.space.number, object: .space, field: field,
                element: try store.locator(reference.subject), operation: applied.number,
                order: applied.orderKey))
        return [.together(context.space.number, applied.number)]
    }
}

/// A withdrawal wins over everything concurrent and erases on every node what it withdraws, and
/// what was said about it. The person who began it may do that, and in a group an admin.
enum WithdrawalRule: MergeRule {
    static let kind = OperationKind.withdrawal
    static let lane = Lane.shared
    static let role = Role.member

    static func merge(
        _ applied: AppliedOperation, _ context: MergeContext, into store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        guard let target = applied.operation.operation.header.references.first,
            let author = try starter(of: target, context, in: store),
            context.mayEnd(whatWasBegunBy: author)
        else { return [] }
        let space = context.space.number
        let object = EntryObject.operation(target.tag, target.sequence)
        for note in try store.entries(about: object, in: space, field: nil) {
            guard let stored = try store.operation(note.operation),
                stored.operation.header.kind.goesWithItsTarget,
                stored.operation.header.references.first?.check == target.check
            else { continue }
            if !stored.operation.header.kind.hasNoWords {
                try Deletion.erase(stored.number, stored.operation, in: store)
            }
            try store.remove(note)
        }
        try store.put(
            Entry(
                space: space, object: object, field: .withdrawal,
                element: try Target.element(of: target.check, in: store),
                operation: applied.number, order: applied.operation.orderKey))
        guard let log = try store.log(target.tag, in: space), [.shared, .notes].contains(log.lane),
            let stored = try store.operation(at: target.sequence, in: log.number),
            stored.operation.header.kind.canBeWithdrawn, stored.id.check == target.check
        else { return [] }
        let element = try store.locator(target.subject)
        for field in [EntryField.poll, .item, .note, .decision] {
            for entry in try store.entries(
                about: .space, in: space, field: field, element: element)
            {
                try store.remove(entry)
            }
        }
        try Deletion.erase(stored.number, stored.operation, in: store)
        return [.together(space, stored.number)]
    }

    /// Who began it, in whichever lane.
    private static func starter(
        of target: OperationReference, _ context: MergeContext, in store: some MergeStore
    ) throws(StoreError) -> PersonID? {
        if let person = try Target.starter(of: target, context, in: store) { return person }
        return try Target.starter(of: target, lane: .notes, context, in: store)
    }
}
