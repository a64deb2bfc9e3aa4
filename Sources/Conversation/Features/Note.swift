public import ParleyLedger
public import ParleyNotes
import ParleyRoster
public import ParleyWire

extension OperationKind {
    /// Begins a text that everybody in the conversation may edit.
    public static let note = OperationKind(rawValue: 120)
    /// Edits it.
    public static let noteEdit = OperationKind(rawValue: 121)
    /// Calls it otherwise.
    public static let noteTitle = OperationKind(rawValue: 122)
}

extension EntryField {
    /// Notes, one entry for each.
    static let note = EntryField(rawValue: 50)
    /// The edits of a note, one entry for each.
    static let noteEdit = EntryField(rawValue: 51)
    /// The title of a note, as set last.
    static let noteTitle = EntryField(rawValue: 52)
    /// All titles of a note, so that all are erased with it.
    static let noteTitleSaid = EntryField(rawValue: 53)
}

/// The title of a note: in the payload that begins one, and in one that renames it.
public struct NoteTitle: Equatable, Sendable {
    private static let version: UInt8 = 1

    /// The title, of 1 to ``Limits/noteTitleByteCountMax`` bytes.
    public var text: String

    /// A title.
    public init(_ text: String) { self.text = text }

    /// The content of a payload; nil if it cannot be read.
    package init?(payload: [UInt8]) {
        guard payload.first == Self.version,
            (1...Limits.noteTitleByteCountMax).contains(payload.count - 1),
            let text = String(validating: payload.dropFirst(), as: UTF8.self)
        else { return nil }
        self.text = text
    }

    private var payload: [UInt8] { [Self.version] + Array(text.utf8) }

    /// The operation that begins a note.
    public func draft() -> Draft { Draft(kind: .note, lane: .notes, payload: payload) }

    /// The operation that calls a note so.
    public func draft(of note: OperationReference) -> Draft {
        Draft(kind: .noteTitle, lane: .notes, references: [note], payload: payload)
    }
}

/// The payload of an edit: changes of the text that its author had, each of the text of the one before.
public struct NoteEdits: Equatable, Sendable {
    private static let version: UInt8 = 1

    /// The changes; none if an author only merges what others wrote concurrently.
    public var edits: [TextEdit]

    /// These changes.
    public init(_ edits: [TextEdit]) { self.edits = edits }

    /// One change.
    public init(at position: Int, deleting deletedCount: Int = 0, inserting text: String = "") {
        edits = [
            TextEdit(
                at: position, deleting: deletedCount, inserting: Array(text.unicodeScalars))
        ]
    }

    /// The content of a payload; nil if it cannot be read.
    package init?(payload: [UInt8]) {
        guard payload.first == Self.version else { return nil }
        var reader = ByteReader(payload.dropFirst())
        var (edits, byteCount): ([TextEdit], Int) = ([], 0)
        while reader.remaining > 0 {
            guard edits.count < Limits.noteEditCountMax,
                let edit = Self.edit(from: &reader, byteCount: &byteCount),
                byteCount <= Limits.noteTextByteCountMax
            else { return nil }
            edits.append(edit)
        }
        self.edits = edits
    }

    private static func edit(from reader: inout ByteReader, byteCount: inout Int) -> TextEdit? {
        do throws(DecodingFailure) {
            let position = try reader.count("position", atMost: Limits.notePositionMax)
            let deleted = try reader.count("deleted", atMost: Limits.notePositionMax)
            let count = try reader.count("text", atMost: Limits.noteTextByteCountMax)
            guard let text = String(validating: try reader.slice(count), as: UTF8.self),
                deleted > 0 || count > 0
            else { return nil }
            byteCount += count
            return TextEdit(
                at: position, deleting: deleted, inserting: Array(text.unicodeScalars))
        } catch { return nil }
    }

    /// The operation that edits a note.
    ///
    /// - Parameter heads: of the version that the first change is made in, those that are not of the same log.
    public func draft(of note: OperationReference, after heads: [OperationReference]) -> Draft {
        var writer = ByteWriter(capacity: 64)
        writer.byte(Self.version)
        for edit in edits {
            writer.number(UInt64(edit.position))
            writer.number(UInt64(edit.deletedCount))
            writer.counted(Array(edit.text.utf8))
        }
        return Draft(
            kind: .noteEdit, lane: .notes, references: [note] + heads, payload: writer.bytes)
    }

    /// The same changes in as many operations as they need.
    func parts() -> [NoteEdits] {
        var parts = [NoteEdits([])]
        var byteCount = 0
        func add(_ edit: TextEdit, _ count: Int) {
            let last = parts.count - 1
            if parts[last].edits.count == Limits.noteEditCountMax
                || byteCount + count > Limits.noteTextByteCountMax
            {
                parts.append(NoteEdits([edit]))
                byteCount = count
            } else {
                parts[last].edits.append(edit)
                byteCount += count
            }
        }
        for edit in edits {
            var (rest, position, deleted) = (edit.inserted[...], edit.position, edit.deletedCount)
            repeat {
                // A scalar has at most four bytes.
                let piece = Array(rest.prefix(Limits.noteTextByteCountMax / 4))
                let part = TextEdit(at: position, deleting: deleted, inserting: piece)
                add(part, part.text.utf8.count)
                (position, deleted) = (position + piece.count, 0)
                rest = rest.dropFirst(piece.count)
            } while !rest.isEmpty
        }
        return parts
    }

    /// The operations that make these changes of a note in a version.
    ///
    /// - Parameter heads: of that version, those outside the author's own log: earlier edits in
    ///   that log are implied.
    public func drafts(of note: OperationReference, after heads: [OperationReference]) -> [Draft] {
        let count = Limits.referenceCountMax - 1
        let named = stride(from: 0, to: max(heads.count, 1), by: count).map {
            Array(heads[$0..<min($0 + count, heads.count)])
        }
        let parts = parts()
        return named.dropLast().map { NoteEdits([]).draft(of: note, after: $0) }
            + parts.enumerated().map { place, part in
                part.draft(of: note, after: place == 0 ? named.last ?? [] : [])
            }
    }
}

extension TextEdit {
    /// The inserted text.
    public var text: String { String(String.UnicodeScalarView(inserted)) }
}

/// A note is an entry of its conversation until it is taken back.
enum NoteRule: MergeRule {
    static let kind = OperationKind.note
    static let lane = Lane.notes
    static let role = Role.member
    static let act: GroupAct? = .write

    static func merge(
        _ applied: AppliedOperation, _ context: MergeContext, into store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        try Withdrawal.keep(
            applied, as: .note, isReadable: { NoteTitle(payload: $0) != nil }, context, in: store)
    }
}

/// An edit is kept. What all of them come to is found where the note is read.
enum NoteEditRule: MergeRule {
    static let kind = OperationKind.noteEdit
    static let lane = Lane.notes
    static let role = Role.member
    static let act: GroupAct? = .write

    static func merge(
        _ applied: AppliedOperation, _ context: MergeContext, into store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        guard let note = try NoteTarget(of: applied, context, in: store),
            applied.operation.operation.payload.flatMap(NoteEdits.init(payload:)) != nil
        else { return [] }
        try store.put(note.entry(.noteEdit))
        return try Target.together(note.reference, context, in: store)
    }
}

/// The last title in order holds.
enum NoteTitleRule: MergeRule {
    static let kind = OperationKind.noteTitle
    static let lane = Lane.notes
    static let role = Role.member
    static let act: GroupAct? = .write

    static func merge(
        _ applied: AppliedOperation, _ context: MergeContext, into store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        guard let note = try NoteTarget(of: applied, context, in: store),
            applied.operation.operation.payload.flatMap(NoteTitle.init(payload:)) != nil
        else { return [] }
        try store.put(note.entry(.noteTitleSaid))
        let entry = note.entry(.noteTitle)
        let rivals = try LastWriter.rivals(of: entry, in: store)
        guard rivals.allSatisfy({ $0.order <= entry.order }) else { return [] }
        for rival in rivals { try store.remove(rival) }
        try store.put(entry)
        return try Target.together(note.reference, context, in: store)
    }
}

/// The note that an operation is about, where one of its conversation may be and it was not taken back.
private struct NoteTarget {
    let reference: OperationReference
    private let template: Entry

    init?(
        of applied: AppliedOperation, _ context: MergeContext, in store: some MergeStore
    ) throws(StoreError) {
        guard let note = applied.operation.operation.header.references.first,
            try Target.starter(of: note, lane: .notes, context, in: store) != nil,
            try !Withdrawal.erases(applied, about: note, context, in: store)
        else { return nil }
        reference = note
        template = Entry(
            space: context.space.number, object: .operation(note.tag, note.sequence),
            field: .noteEdit, element: try Target.element(of: note.check, in: store),
            operation: applied.number, order: applied.operation.orderKey)
    }

    func entry(_ field: EntryField) -> Entry {
        var entry = template
        entry.field = field
        return entry
    }
}
