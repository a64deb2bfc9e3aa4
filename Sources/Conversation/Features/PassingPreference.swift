import ParleyLedger
import ParleyRoster
public import ParleyWire

extension OperationKind {
    /// As ``preference`` for what holds words of the person's own: they are erased once others take their place.
    public static let passingPreference = OperationKind(rawValue: 47)
}

extension EntryField {
    /// That a preference of words was ended by name, about the operation that said it.
    static let ending = EntryField(rawValue: 86)
}

/// As for every preference the last in order holds; what loses is erased. Nobody wants its words any more, and no
/// digest covers them.
///
/// An ending takes no place in that order. It names the words that its author saw: if these are the last they hold
/// no longer, and what another device said meanwhile stays.
/// Source: `Protocol/05-identity.md`, "Preferences".
enum PassingPreferenceRule: MergeRule {
    static let kind = OperationKind.passingPreference
    static let lane = Lane.shared
    static let role = Role.owner

    static func merge(
        _ applied: AppliedOperation, _ context: MergeContext, into store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        guard context.space.kind == .own else { return [] }
        let header = applied.operation.operation.header
        let endings = try endings(of: applied.orderKey, context, in: store)
        guard let said = applied.operation.operation.payload.flatMap(Preference.init) else {
            // Who ended it has erased it. What stands above it holds no more than before.
            guard let ending = endings.first else { return [] }
            return try place(
                applied.number, applied.orderKey, as: ending, isEnded: true, context, in: store)
        }
        if !said.isOn, let ended = header.references.first {
            return try end(ended, by: applied, as: said, context, in: store)
        }
        let isEnded = endings.contains { $0.subject == said.subject }
        return try place(
            applied.number, applied.orderKey, as: said, isEnded: isEnded, context, in: store)
    }

    /// Takes in an ending, which may come before what it ends.
    private static func end(
        _ ended: OperationReference, by applied: AppliedOperation, as said: Preference,
        _ context: MergeContext, in store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        try store.put(
            Entry(
                space: context.space.number, object: .operation(ended.tag, ended.sequence),
                field: .ending, element: try Target.element(of: ended.check, in: store),
                operation: applied.number, order: applied.orderKey))
        guard let log = try store.log(ended.tag, in: context.space.number),
            let stored = try store.operation(at: ended.sequence, in: log.number),
            stored.id.check == ended.check, stored.operation.header.kind == kind,
            stored.operation.isErased
                || stored.operation.payload.flatMap(Preference.init)?.subject == said.subject
        else { return [] }
        let order = VerifiedOperation(stored: stored, tag: ended.tag).orderKey
        return try place(stored.number, order, as: said, isEnded: true, context, in: store)
    }

    /// What was said in the endings of an operation.
    private static func endings(
        of order: OrderKey, _ context: MergeContext, in store: some MergeStore
    ) throws(StoreError) -> [Preference] {
        var said: [Preference] = []
        for entry in try endingEntries(of: order, context, in: store) {
            let payload = try store.operation(entry.operation)?.operation.payload
            if let ending = payload.flatMap(Preference.init) { said.append(ending) }
        }
        return said
    }

    private static func endingEntries(
        of order: OrderKey, _ context: MergeContext, in store: some MergeStore
    ) throws(StoreError) -> [Entry] {
        try store.entries(
            about: .operation(order.tag, order.sequence), in: context.space.number, field: .ending,
            element: try Target.element(of: order.id.check, in: store))
    }

    /// Has an operation hold if it is the last in order, and erases what does not hold.
    private static func place(
        _ number: OperationNumber, _ order: OrderKey, as said: Preference, isEnded: Bool,
        _ context: MergeContext, in store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        let entry = Entry(
            space: context.space.number, object: .space, field: Preference.entryField,
            element: try store.locator(said.subject), operation: number, order: order,
            isOn: said.isOn && !isEnded)
        let rivals = try LastWriter.rivals(of: entry, in: store)
        guard rivals.allSatisfy({ $0.order <= order }) else {
            try forget(entry, context, in: store)
            return []
        }
        for rival in rivals {
            try store.remove(rival)
            if rival.operation != number { try forget(rival, context, in: store) }
        }
        try store.put(entry)
        if isEnded { try erase(entry, in: store) }
        return try said.changes(context, in: store)
    }

    /// What does not hold is erased, and whether it was ended means nothing any more.
    private static func forget(
        _ entry: Entry, _ context: MergeContext, in store: some MergeStore
    ) throws(StoreError) {
        try erase(entry, in: store)
        for ending in try endingEntries(of: entry.order, context, in: store) {
            try store.remove(ending)
        }
    }

    private static func erase(_ entry: Entry, in store: some MergeStore) throws(StoreError) {
        guard let stored = try store.operation(entry.operation),
            stored.operation.header.kind == kind
        else { return }
        try Deletion.erase(stored.number, stored.operation, in: store)
    }
}
