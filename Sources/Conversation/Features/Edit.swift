import ParleyPayloads
public import ParleyLedger
import ParleyRoster
public import ParleyWire

extension OperationKind {
    /// A new text for a message.
    public static let edit = OperationKind(rawValue: 65)
}

extension EntryField {
    /// The edits of a message, all of them; the greatest in order is shown.
    static let edit = EntryField(rawValue: 1)
}

/// The payload of an edit: the full new text.
public struct MessageEdit: Equatable, Sendable {
    /// The new text.
    public var text: String
    /// The persons it mentions.
    public var mentions: Mentions

    /// An edit to this text.
    public init(text: String, mentions: Mentions = Mentions()) {
        self.text = text
        self.mentions = mentions
    }

    /// The edit in a payload, or nil.
    package init?(payload: [UInt8]) {
        guard let message = Payload.decode(PayloadEdit.self, payload),
            message.text.utf8.count <= Limits.messageByteCountMax
        else { return nil }
        text = message.text
        mentions = Mentions(message.mentions, in: text)
    }

    /// The operation that says this of a message.
    public func draft(of message: OperationReference) -> Draft {
        var payload = PayloadEdit()
        payload.text = text
        if !mentions.isEmpty { payload.mentions = mentions.payload }
        return Draft(
            kind: .edit, lane: .content, references: [message], payload: Payload.encode(payload))
    }
}

/// Only the author of a message can edit it. All versions stay as its history.
enum EditRule: MergeRule {
    static let kind = OperationKind.edit
    static let lane = Lane.content
    static let role = Role.member
    static let act: GroupAct? = .write

    static func merge(
        _ applied: AppliedOperation, _ context: MergeContext, into store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        guard let target = applied.operation.operation.header.references.first,
            let author = try Target.author(of: target, context, in: store),
            author == context.author.person
        else { return [] }
        let object = EntryObject.operation(target.tag, target.sequence)
        if try Deletion.covers(object, target.check, in: context.space.number, store: store) {
            try Deletion.erase(applied.number, applied.operation.operation, in: store)
            return []
        }
        if try context.ownDeletions?.cover(target, in: store) == true {
            return try OwnDeletions.take(applied, context, in: store)
        }
        // Of a message that disappears nothing is left; its edits would be.
        if try Target.disappears(target, in: context.space.number, store) {
            try Deletion.erase(applied.number, applied.operation.operation, in: store)
            return []
        }
        var edit: MessageEdit?
        if let payload = applied.operation.operation.payload {
            edit = MessageEdit(payload: payload)
            guard edit != nil else { return [] }
        }
        try store.put(
            Entry(
                space: context.space.number, object: object, field: .edit,
                element: try Target.element(of: target.check, in: store), operation: applied.number,
                order: applied.operation.orderKey))
        var changes = try Target.change(target, context, in: store)
        if let edit {
            changes += try MentionNotes.note(
                edit.mentions, in: applied, isEdit: true, of: target, context, in: store)
        }
        return changes
    }
}

/// The message that an operation is about.
package enum Target {
    /// Separates what is about one message from what is about another at its place, on the other
    /// branch of a forked log.
    static func element(
        of check: Check, in store: some MergeStore
    ) throws(StoreError) -> UInt64 {
        var writer = ByteWriter()
        writer.check(check)
        return try store.locator(writer.bytes)
    }

    /// The elements of edits and deletions of the message with this check. Older versions noted the
    /// place alone.
    static func elements(
        of check: Check, in store: some MergeStore
    ) throws(StoreError) -> [UInt64] {
        [try element(of: check, in: store), 0]
    }

    /// What is about the place of a message, without edits and deletions of another message.
    package static func notes(
        _ notes: [Entry], about check: Check, in store: some MergeStore
    ) throws(StoreError) -> [Entry] {
        func goesByCheck(_ note: Entry) -> Bool { note.field == .edit || note.field == .deletion }
        // Most messages were never changed.
        guard notes.contains(where: goesByCheck) else { return notes }
        let elements = try elements(of: check, in: store)
        return notes.filter { !goesByCheck($0) || elements.contains($0.element) }
    }

    /// Its author, or nil if nobody wrote it who was ever in the space.
    ///
    /// Since history is fetched backwards it may come later, even as the first of its log. Then
    /// the log is opened empty: it remembers how far it was named, so that the message is looked
    /// at when it comes.
    static func author(
        of target: OperationReference, lane: Lane = .content, _ context: MergeContext,
        in store: some MergeStore
    ) throws(StoreError) -> PersonID? {
        let space = context.space
        if let log = try store.log(target.tag, in: space.number) {
            return context.person(writing: log)
        }
        for device in context.roster.everyDevice {
            let id = OperationHash.log(space: space.id, device: device, lane: lane)
            guard LogTag(id) == target.tag else { continue }
            var log = try store.addLog(id, device: device, lane: lane, in: space.number)
            log.coveredEnd = target.sequence + 1
            log.limit = context.roster.limit(of: log)
            try store.update(log)
            return context.person(writing: log)
        }
        return nil
    }

    /// Whether it is a message that disappears, as far as that is known here.
    package static func disappears(
        _ target: OperationReference, in space: SpaceNumber, _ store: some MergeStore
    ) throws(StoreError) -> Bool {
        guard let log = try store.log(target.tag, in: space), log.lane == .content,
            let stored = try store.operation(at: target.sequence, in: log.number)
        else { return false }
        return stored.operation.header.kind == .disappearingText
            && stored.id.check == target.check
    }

    /// What screens must draw again.
    static func change(
        _ target: OperationReference, _ context: MergeContext, in store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        guard let log = try store.log(target.tag, in: context.space.number),
            let stored = try store.operation(at: target.sequence, in: log.number)
        else { return [] }
        return [.message(context.space.number, stored.number)]
    }
}
