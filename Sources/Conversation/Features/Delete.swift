import ParleyPayloads
public import ParleyLedger
import ParleyRoster
public import ParleyWire

extension OperationKind {
    /// Takes a message back for everyone.
    public static let delete = OperationKind(rawValue: 66)
}

extension EntryField {
    /// The deletions of a message: one is enough, and nothing undoes it.
    static let deletion = EntryField(rawValue: 2)
}

/// The deletion of a message for everyone.
public enum MessageDeletion {
    /// The operation that deletes this message.
    public static func draft(of message: OperationReference) -> Draft {
        var payload = PayloadDelete()
        payload.version = 1
        return Draft(
            kind: .delete, lane: .content, references: [message],
            payload: Payload.encode(payload), isErasable: false)
    }
}

/// A deletion wins over everything concurrent and erases the text and its edits on every node.
/// Who wrote a message may delete it, and in a group an admin.
enum DeleteRule: MergeRule {
    static let kind = OperationKind.delete
    static let lane = Lane.content
    static let role = Role.member

    static func merge(
        _ applied: AppliedOperation, _ context: MergeContext, into store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        guard let target = applied.operation.operation.header.references.first,
            let author = try Target.author(of: target, context, in: store),
            author == context.author.person
                || (context.roster.kind == .group && context.author.role >= .admin)
        else { return [] }
        let object = EntryObject.operation(target.tag, target.sequence)
        try store.put(
            Entry(
                space: context.space.number, object: object, field: .deletion,
                element: try Target.element(of: target.check, in: store), operation: applied.number,
                order: applied.operation.orderKey))
        try eraseEdits(of: object, target.check, context, in: store)
        guard let log = try store.log(target.tag, in: context.space.number),
            let stored = try store.operation(at: target.sequence, in: log.number),
            stored.operation.header.kind.isMessage,
            stored.id.check == target.check
        else { return [] }
        if stored.operation.header.kind == .disappearingText {
            return try Disappearance.erase(stored.number, in: store)
        }
        try move(stored, of: log, context, in: store)
        try Deletion.erase(stored.number, stored.operation, in: store)
        let files = try FileNotes.forget(
            stored.number, object, in: context.space.number, store: store)
        return files + [
            .message(context.space.number, stored.number),
            .conversation(context.space.number),
        ]
    }

    /// Erases all edits of a message, which neither counts nor will.
    static func eraseEdits(
        of object: EntryObject, _ check: Check, _ context: MergeContext, in store: some MergeStore
    ) throws(StoreError) {
        var edits: [Entry] = []
        for element in try Target.elements(of: check, in: store) {
            edits += try store.entries(
                about: object, in: context.space.number, field: .edit, element: element)
        }
        for entry in edits {
            if let edit = try store.operation(entry.operation) {
                try Deletion.erase(edit.number, edit.operation, in: store)
            }
            try store.remove(entry)
        }
        try MentionNotes.forget(object, check, in: context.space.number, store: store)
    }

    private static func move(
        _ stored: StoredOperation, of log: LogRecord, _ context: MergeContext,
        in store: some MergeStore
    ) throws(StoreError) {
        let space = context.space.number
        guard var row = try store.message(stored.messageOrder(in: log), in: space) else { return }
        try store.remove(row)
        try MessageThread.forget(stored, at: row.order, in: space, store)
        row.order = VerifiedOperation(stored: stored, tag: log.tag).orderKey
        row.flags = .deleted
        try store.insert(row)
    }
}

/// What is removed, and how.
enum Deletion {
    static func covers(
        _ operation: VerifiedOperation, in space: SpaceRecord, store: some MergeStore
    ) throws(StoreError) -> Bool {
        try covers(
            .operation(operation.tag, operation.sequence), operation.id.check, in: space.number,
            store: store)
    }

    static func covers(
        _ object: EntryObject, _ check: Check, in space: SpaceNumber, store: some MergeStore
    ) throws(StoreError) -> Bool {
        // Most messages were never deleted, on any branch.
        guard try store.hasEntry(about: object, in: space, field: .deletion) else { return false }
        for element in try Target.elements(of: check, in: store)
        where try store.hasEntry(about: object, in: space, field: .deletion, element: element) {
            return true
        }
        return false
    }

    static func erase(
        _ number: OperationNumber, _ operation: Operation, in store: some MergeStore
    ) throws(StoreError) {
        guard !operation.isErased, let commitment = OperationHash.commitment(of: operation) else {
            return
        }
        try store.erase(number, commitment: commitment)
    }
}
