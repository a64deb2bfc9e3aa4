import ParleyConversation
import ParleyLedger
import ParleyNotes
import ParleyRoster
import ParleyWire

/// Texts that everybody in a conversation may edit.
/// Source: `Protocol/03-operations.md`, "Notes".
extension NodeCore {
    mutating func begin(
        _ title: NoteTitle, _ text: String, in id: SpaceID, _ turn: inout some Turn
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        guard let space = try conversation(id, turn.store) else {
            return .failure(.unknownConversation)
        }
        if let refusal = Self.refusal(title) { return .failure(refusal) }
        if text.unicodeScalars.count > Limits.noteScalarCountMax {
            return .failure(.together(.noteFull(limit: Limits.noteScalarCountMax)))
        }
        if let refusal = try refusal(sharingIn: space, doing: .write, turn.store) {
            return .failure(refusal)
        }
        let applied = try write([title.draft()], in: space, &turn)
        let begun = applied.filter { $0.isKind(.note) }
        if let note = begun.first, !text.isEmpty {
            let edits = NoteEdits(at: 0, inserting: text)
            _ = try write(
                edits.drafts(of: note.orderKey.reference, after: []), in: space, &turn)
        }
        return .success(.messages(begun.map(\.number)))
    }

    /// Edits a note.
    ///
    /// - Parameter change: what to make of the text of the version.
    mutating func edit(
        _ number: OperationNumber, at version: [OperationReference]?, _ turn: inout some Turn,
        _ change: (ScalarText) -> NoteEdits
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        guard let (space, note) = try note(number, turn.store) else {
            return .failure(.together(.unknownNote))
        }
        if let refusal = try refusal(sharingIn: space, doing: .write, turn.store) {
            return .failure(refusal)
        }
        let history = try NoteHistory(of: note.reference, in: space.number, store: turn.store)
        let version = version ?? history.heads
        guard let text = history.text(at: version) else {
            return .failure(.together(.noSuchPlace))
        }
        let log = LogTag(OperationHash.log(space: space.id, device: identity.device, lane: .notes))
        let edits = change(text)
        guard
            let drafts = Note.drafts(
                of: edits, to: note.reference, in: history, at: version, by: log)
        else { return .failure(.together(.noSuchPlace)) }
        let inserted = edits.edits.reduce(0) { $0 + $1.inserted.count }
        guard history.insertedCount + inserted <= Limits.noteScalarCountMax else {
            return .failure(.together(.noteFull(limit: Limits.noteScalarCountMax)))
        }
        guard history.steps.count + drafts.count <= Limits.noteOperationCountMax else {
            return .failure(.together(.noteFull(limit: Limits.noteOperationCountMax)))
        }
        if !drafts.isEmpty { _ = try write(drafts, in: space, &turn) }
        return .success(.messages([number]))
    }

    static func edits(from old: ScalarText, to new: String) -> NoteEdits {
        NoteEdits(TextDiff.edits(from: old.scalars, to: new.unicodeScalars))
    }

    mutating func retitle(
        _ number: OperationNumber, _ title: NoteTitle, _ turn: inout some Turn
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        guard let (space, note) = try note(number, turn.store) else {
            return .failure(.together(.unknownNote))
        }
        if let refusal = Self.refusal(title) { return .failure(refusal) }
        if let refusal = try refusal(sharingIn: space, doing: .write, turn.store) {
            return .failure(refusal)
        }
        // A title that it already has need not be written again.
        if note.title != title.text {
            _ = try write([title.draft(of: note.reference)], in: space, &turn)
        }
        return .success(.messages([number]))
    }

    mutating func note(
        _ number: OperationNumber, _ store: some Store
    ) throws(StoreError) -> (SpaceRecord, Note)? {
        guard let (space, roster, reference) = try begun(number, as: .note, store) else {
            return nil
        }
        return try Overview.note(reference, in: space.number, roster: roster, store: store).map {
            (space, $0)
        }
    }

    private static func refusal(_ title: NoteTitle) -> CommandRefusal? {
        if VisibleName.isBlank(title.text) { return .empty }
        let count = title.text.utf8.count
        return count <= Limits.noteTitleByteCountMax
            ? nil : .tooLong(byteCount: count, limit: Limits.noteTitleByteCountMax)
    }
}
