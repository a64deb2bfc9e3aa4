import ParleyLedger
import ParleyRoster
import ParleyWire

/// A private note for the person's own devices about one subject: the payload of a kind that is in
/// the own space and has no effect anywhere else.
protocol OwnNote: Sendable {
    static var kind: OperationKind { get }
    /// The field that holds it; one entry for each subject.
    static var entryField: EntryField { get }
    /// The field that holds this very note, where the kind has more than one.
    var entryField: EntryField { get }
    init?(payload: [UInt8])
    /// The subject.
    var subject: [UInt8] { get }
    /// Whether the subject counts as on for who only reads entries.
    var isOn: Bool { get }
    /// Its effect on screens.
    func changes(
        _ context: MergeContext, in store: some MergeStore
    ) throws(StoreError) -> [ViewChange]
}

extension OwnNote {
    var entryField: EntryField { Self.entryField }
    var isOn: Bool { true }
}

/// For each subject the last word in order holds.
enum OwnNoteRule<Note: OwnNote>: MergeRule {
    static var kind: OperationKind { Note.kind }
    static var lane: Lane { .shared }
    static var role: Role { .owner }

    static func merge(
        _ applied: AppliedOperation, _ context: MergeContext, into store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        guard context.space.kind == .own,
            let note = applied.operation.operation.payload.flatMap(Note.init),
            try LastWriter.put(
                note.entryField, of: note.subject, isOn: note.isOn, by: applied, context, in: store)
        else { return [] }
        return try note.changes(context, in: store)
    }
}

extension Overview {
    /// All notes of a kind that hold in a field, in the order in which they were made.
    static func notes<Note: OwnNote>(
        _ kind: Note.Type, field: EntryField = Note.entryField, ownSpace: SpaceNumber,
        in store: some MergeStore
    ) throws(StoreError) -> [Note] {
        var notes: [Note] = []
        let entries = try store.entries(about: .space, in: ownSpace, field: field)
        for entry in entries.sorted(by: { $0.order < $1.order }) {
            let payload = try store.operation(entry.operation)?.operation.payload
            if let note = payload.flatMap(Note.init) { notes.append(note) }
        }
        return notes
    }
}
