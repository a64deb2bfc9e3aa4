public import ParleyLedger
import ParleyNotes
public import ParleyRoster
public import ParleyWire

/// A note, as a list shows it.
public struct Note: Equatable, Sendable {
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
    /// The title.
    public var title: String
    /// How many edits there are.
    public var editCount: Int
    /// Who edited it last, and when by their clock; nil where nobody did.
    public var lastEdit: (person: PersonID, time: UInt64)? {
        editor.map { ($0, editTime) }
    }

    /// Where its last edit stands; the beginning if there is none.
    public private(set) var lastOrder: OrderKey

    fileprivate var editor: PersonID?
    fileprivate var editTime: UInt64 = 0
}

extension Overview {
    /// The notes of a conversation, the oldest first; of more than ``Limits/noteCountMax`` the last.
    public static func notes(
        in space: SpaceNumber, roster: Roster, store: some MergeStore
    ) throws(StoreError) -> [Note] {
        let entries = try store.entries(about: .space, in: space, field: .note)
            .sorted { $0.order < $1.order }
        var notes: [Note] = []
        for entry in entries.suffix(Limits.noteCountMax) {
            if let note = try note(entry, in: space, roster, store) { notes.append(note) }
        }
        return notes
    }

    /// The note that an operation began; nil if it began none, does not count or was withdrawn.
    public static func note(
        _ note: OperationReference, in space: SpaceNumber, roster: Roster, store: some MergeStore
    ) throws(StoreError) -> Note? {
        let entries = try store.entries(
            about: .space, in: space, field: .note, element: store.locator(note.subject))
        guard let entry = entries.first else { return nil }
        return try self.note(entry, in: space, roster, store)
    }

    private static func note(
        _ entry: Entry, in space: SpaceNumber, _ roster: Roster, _ store: some MergeStore
    ) throws(StoreError) -> Note? {
        let reference = entry.order.reference
        guard let stored = try store.operation(entry.operation),
            let begun = stored.operation.payload.flatMap(NoteTitle.init(payload:)),
            let author = try person(writing: entry.order.tag, in: space, roster, store)
        else { return nil }
        let edits = try NoteHistory.entries(of: reference, in: space, store: store)
        var note = Note(
            number: entry.operation, reference: reference, order: entry.order, author: author,
            time: stored.operation.header.wallClock, title: begun.text, editCount: edits.count,
            lastOrder: edits.last?.order ?? entry.order)
        let titles = try store.entries(
            about: .operation(reference.tag, reference.sequence), in: space, field: .noteTitle,
            element: Target.element(of: reference.check, in: store))
        if let last = titles.last,
            let payload = try store.operation(last.operation)?.operation.payload,
            let title = NoteTitle(payload: payload)
        {
            note.title = title.text
        }
        if let last = edits.last, let edit = try store.operation(last.operation) {
            note.editor = try person(writing: last.order.tag, in: space, roster, store)
            note.editTime = edit.operation.header.wallClock
        }
        return note
    }
}

extension SharedWord {
    /// The note that it began; nil if it began none.
    ///
    /// - Parameter words: what the person did since, in order; of another thing it may be as well.
    public func note(begunBy person: PersonID, with words: [SharedWord]) -> Note? {
        guard subject == .note,
            let begun = operation.operation.payload.flatMap(NoteTitle.init(payload:))
        else { return nil }
        let own = words.filter { $0.target == reference }
        let edits = own.filter { $0.subject == .noteEdit }
        var note = Note(
            number: operation.number, reference: reference, order: order, author: person,
            time: operation.operation.header.wallClock, title: begun.text,
            editCount: edits.count, lastOrder: edits.last?.order ?? order)
        let title = own.last { $0.subject == .title }?.operation.operation.payload
        if let title = title.flatMap(NoteTitle.init(payload:)) { note.title = title.text }
        if let last = edits.last {
            note.editor = person
            note.editTime = last.operation.operation.header.wallClock
        }
        return note
    }
}

extension Note {
    /// The operations that change it, as the author of a log makes them.
    ///
    /// - Parameters:
    ///   - edits: changes of the text of a version.
    ///   - version: that version.
    ///   - tag: the author's own log of notes.
    /// - Returns: nil where there is no such version, or a position lies beyond its text.
    public static func drafts(
        of edits: NoteEdits, to note: OperationReference, in history: NoteHistory,
        at version: [OperationReference], by tag: LogTag
    ) -> [Draft]? {
        guard let places = history.places(of: version),
            let text = history.text(at: version), edits.fit(text.count)
        else { return nil }
        if edits.edits.isEmpty { return [] }
        var (edits, heads) = (edits, version)
        // An operation follows the earlier ones of its log. If the author has written something
        // meanwhile on the same device, the edits are applied to the present text.
        if !history.holds(everythingBy: tag, places) {
            let author = EditLog.Author(tag: tag.value, sequence: .max << 32)
            let merged = history.text(with: edits.edits, in: places, by: author)
            edits = NoteEdits(TextDiff.edits(from: history.scalars.scalars, to: merged.scalars))
            heads = history.heads
        }
        if edits.edits.isEmpty { return [] }
        return edits.drafts(of: note, after: heads.filter { $0.tag != tag })
    }
}

extension NoteEdits {
    /// Whether each lies within the text, which has so many scalars before the first.
    fileprivate func fit(_ count: Int) -> Bool {
        var count = count
        return edits.allSatisfy { edit in
            guard (0...count).contains(edit.position),
                (0...count - edit.position).contains(edit.deletedCount),
                edit.deletedCount > 0 || !edit.inserted.isEmpty
            else { return false }
            count += edit.inserted.count - edit.deletedCount
            return true
        }
    }
}
