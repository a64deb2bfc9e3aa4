public import ParleyLedger
public import ParleyRoster
public import ParleyWire

extension OperationKind {
    /// Deletes a message for its reader, on all devices of that person and nowhere else.
    public static let ownDeletion = OperationKind(rawValue: 48)
}

extension EntryField {
    /// Which messages the person deleted for themselves, in the own space; one entry for each message.
    static let ownDeletion = EntryField(rawValue: 83)
    /// In which conversations there is such a message; one entry for each.
    static let ownDeletionSpace = EntryField(rawValue: 84)
}

/// The payload that deletes a message for its reader: that of a ``Star``. Nothing undoes it.
public struct OwnDeletion: Equatable, Sendable {
    /// The conversation.
    public var space: SpaceID
    /// The message.
    public var message: OperationReference

    /// A deletion of this message.
    public init(of message: OperationReference, in space: SpaceID) {
        self.space = space
        self.message = message
    }

    /// The deletion in a payload, or nil.
    package init?(payload: [UInt8]) {
        guard let named = Star(payload: payload), named.isOn else { return nil }
        self.init(of: named.message, in: named.space)
    }

    /// The operation that says this, in the own space.
    public func draft() -> Draft {
        var draft = Star(space: space, message: message, isOn: true).draft()
        draft.kind = .ownDeletion
        return draft
    }
}

/// One is enough, and nothing undoes it. It takes effect in another space than its own: at once where
/// the message is held, else when it comes.
enum OwnDeletionRule: MergeRule {
    static let kind = OperationKind.ownDeletion
    static let lane = Lane.shared
    static let role = Role.owner

    static func merge(
        _ applied: AppliedOperation, _ context: MergeContext, into store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        guard context.space.kind == .own,
            let said = applied.operation.operation.payload.flatMap(OwnDeletion.init)
        else { return [] }
        let subject = Star.subject(said.message, in: said.space)
        for (field, element) in [
            (EntryField.ownDeletion, subject), (.ownDeletionSpace, said.space.bytes),
        ] { _ = try LastWriter.put(field, of: element, by: applied, context, in: store) }
        guard let space = try store.space(said.space), space.kind != .own,
            let log = try store.log(said.message.tag, in: space.number), log.lane == .content
        else { return [] }
        // What they wrote others may lack yet.
        let isOwn = context.person(writing: log) == context.ownPerson
        return try OwnDeletions.erase(said.message, of: log, isOwn: isOwn, in: store)
    }
}

/// What a person deleted for themselves in one conversation.
/// Source: `Protocol/03-operations.md`, "Deleting for oneself".
public struct OwnDeletions: Sendable {
    private let ownSpace: SpaceNumber
    private let space: SpaceID

    /// Nil where the person deleted nothing there, as in most conversations: then nothing is looked for.
    public init?(
        in space: SpaceID, ownSpace: SpaceNumber?, store: some MergeStore
    ) throws(StoreError) {
        guard let ownSpace,
            try store.hasEntry(
                about: .space, in: ownSpace, field: .ownDeletionSpace,
                element: store.locator(space.bytes))
        else { return nil }
        self.ownSpace = ownSpace
        self.space = space
    }

    /// Whether they deleted this message.
    public func cover(
        _ message: OperationReference, in store: some MergeStore
    ) throws(StoreError) -> Bool {
        try store.hasEntry(
            about: .space, in: ownSpace, field: .ownDeletion,
            element: store.locator(Star.subject(message, in: space)))
    }

    /// Whether the words of an operation go with a message that they deleted: it is the message, or an edit.
    public func takeAlong(
        _ header: OperationHeader, _ operation: OperationReference, in store: some MergeStore
    ) throws(StoreError) -> Bool {
        if header.kind.isMessage { return try cover(operation, in: store) }
        guard header.kind == .edit, let message = header.references.first else { return false }
        return try cover(message, in: store)
    }

    /// A message or an edit came that has no place on screens any more. Files stay with words that wait for
    /// others.
    static func take(
        _ applied: AppliedOperation, _ context: MergeContext, in store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        let operation = applied.operation.operation
        let isOwn = context.author.person == context.ownPerson
        let changes = try drop(
            applied.number, operation, in: context.space.number, isOwn: isOwn, store)
        guard isOwn, operation.header.kind.isMessage,
            let files = operation.payload.flatMap(TextMessage.init)?.files
        else { return changes }
        return try changes
            + FileNotes.note(files, in: applied, at: applied.orderKey, context, in: store)
    }

    /// Takes a message off all screens, and erases its words and those of its edits. Of what the person
    /// wrote that waits until others have it: nobody else could give it to them.
    fileprivate static func erase(
        _ message: OperationReference, of log: LogRecord, isOwn: Bool, in store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        let object = EntryObject.operation(message.tag, message.sequence)
        var changes: [ViewChange] = []
        for element in try Target.elements(of: message.check, in: store) {
            for entry in try store.entries(
                about: object, in: log.space, field: .edit, element: element)
            {
                if let edit = try store.operation(entry.operation) {
                    changes += try drop(
                        edit.number, edit.operation, in: log.space, isOwn: isOwn, store)
                }
                try store.remove(entry)
            }
        }
        try MentionNotes.forget(object, message.check, in: log.space, store: store)
        guard let stored = try store.operation(at: message.sequence, in: log.number),
            stored.operation.header.kind.isMessage, stored.id.check == message.check
        else { return changes }
        if let row = try store.message(stored.messageOrder(in: log), in: log.space) {
            try store.remove(row)
            try MessageThread.forget(stored, at: row.order, in: log.space, store)
        }
        changes += try drop(stored.number, stored.operation, in: log.space, isOwn: isOwn, store)
        if try store.operation(stored.number)?.operation.isErased == true {
            changes += try FileNotes.forget(stored.number, object, in: log.space, store: store)
        }
        return changes + [.message(log.space, stored.number), .conversation(log.space)]
    }

    private static func drop(
        _ number: OperationNumber, _ operation: Operation, in space: SpaceNumber, isOwn: Bool,
        _ store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        if isOwn, !operation.isErased { return [.disappearing(space, number)] }
        try Deletion.erase(number, operation, in: store)
        return []
    }

    /// Erases what the person wrote and deleted for themselves, now that all others have it.
    ///
    /// - Returns: what changed; nothing for a message that disappears, see ``Disappearance``.
    public static func erase(
        awaited number: OperationNumber, in store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        guard let stored = try store.operation(number),
            [.text, .edit].contains(stored.operation.header.kind),
            let log = try store.log(stored.log)
        else { return [] }
        try Deletion.erase(number, stored.operation, in: store)
        return try FileNotes.forget(
            number, .operation(log.tag, stored.sequence), in: log.space, store: store)
    }
}

extension Overview {
    /// The places of a log that everybody has who is to have them, but for its author: then nobody waits for
    /// what they say.
    public static func reachedEverybody(
        in tag: LogTag, of space: SpaceRecord, roster: Roster, ownPerson: PersonID,
        store: some MergeStore
    ) throws(StoreError) -> PlaceSet {
        guard roster.awaited(by: ownPerson).isEmpty,
            let log = try store.log(tag, in: space.number)
        else { return PlaceSet() }
        var lacked = PlaceSet()
        for person in roster.participants where person.person != ownPerson {
            var had = PlaceSet()
            let firsts = person.devices.map { device in
                device.horizon.place(of: log.device, log.lane).map { $0.sequence + 1 } ?? 0
            }
            had.insert(0..<(firsts.min() ?? 0))
            for device in person.devices {
                let actor = Digest(reinterpreting: device.device)
                for kind in [MarkKind.acknowledged, .delivered, .read] {
                    guard let mark = try store.mark(kind, of: actor, on: tag, in: space.number)
                    else { continue }
                    had.formUnion(try store.shared(mark, in: log))
                }
            }
            for gap in had.gaps(in: 0..<log.end) { lacked.insert(gap) }
        }
        var reached = PlaceSet()
        for range in lacked.gaps(in: 0..<log.end) { reached.insert(range) }
        return reached
    }

    /// Whether the words of an operation are those of a message that the person deleted for themselves.
    public static func isDeletedForOneself(
        _ stored: StoredOperation, ownSpace: SpaceNumber?, in store: some MergeStore
    ) throws(StoreError) -> Bool {
        guard let log = try store.log(stored.log), let space = try store.space(log.space),
            let deletions = try OwnDeletions(in: space.id, ownSpace: ownSpace, store: store)
        else { return false }
        let reference = OperationReference(
            tag: log.tag, sequence: stored.sequence, check: stored.id.check)
        return try deletions.takeAlong(stored.operation.header, reference, in: store)
    }
}
