import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyStorage
import ParleyWire

/// A text that everybody in a conversation may edit, as a list shows it.
public struct NoteView: Codable, Equatable, Sendable {
    /// Its number here, which holds on this node alone.
    public var number: Int64
    /// Its name everywhere.
    public var id: String
    /// Its conversation, in hex.
    public var conversation: String
    /// The name of that.
    public var place: String
    /// The name of the person who began it.
    public var author: String
    /// When it was begun, by its author's clock, in Unix milliseconds.
    public var time: UInt64
    /// The title.
    public var title: String
    /// How many edits there are.
    public var editCount: Int
    /// The name of the last editor; nil if there is none.
    public var editor: String?
    /// When that was, by their clock, in Unix milliseconds.
    public var editTime: UInt64?
    /// `ahead` if the time of the last edit, or of its beginning if there is none, has not come yet
    /// by this device's clock; else nil.
    public var timeDoubt: String? = nil
    /// What this person did about it that is not delivered.
    public var waiting: [MessageView.Waiting] = []
    /// Whether this person blocked its author, so that nothing is shown of what they chose.
    public var isHidden = false
}

/// A note with its text.
public struct NoteTextView: Codable, Equatable, Sendable {
    /// The note.
    public var note: NoteView
    /// The text.
    public var text: String
    /// The edits it consists of: the names of those that no other follows. A program that changes
    /// the text passes it back, so that positions refer to this text whatever others write
    /// meanwhile.
    public var version: [String]
}

/// One step in the history of a note.
public struct NoteStepView: Codable, Equatable, Sendable {
    /// Its number here, which holds on this node alone.
    public var number: Int64
    /// Its name everywhere.
    public var id: String
    /// The name of its author.
    public var author: String
    /// When, by their clock, in Unix milliseconds.
    public var time: UInt64
    /// How many Unicode scalars were inserted.
    public var inserted: Int
    /// How many were deleted.
    public var deleted: Int
    /// The start of the inserted text; what stands at different places is in different lines.
    public var beginning: String
    /// How many lines the whole has.
    public var lineCount: Int
    /// Why nobody takes it, of an own one that was written before its author heard that they were out, or a
    /// reader, or that this device was revoked: `removed`, `cut-off` or `revoked`. It is not in the text of the
    /// note, and the text after it is the one that its author had. Nil for all others.
    public var untaken: String? = nil
}

/// Where positions stand in the text of a note as it is now.
public struct NotePositionsView: Codable, Equatable, Sendable {
    /// In the order in which they were asked.
    public var positions: [Int]
    /// The version of that text.
    public var version: [String]
}

/// A change of a text at one place: first something goes, then something comes.
public struct NoteEdit: Codable, Equatable, Sendable {
    /// Where, in Unicode scalars.
    public var position: Int
    /// How many scalars go; nil for none.
    public var deleted: Int?
    /// The inserted text; nil for nothing.
    public var text: String?

    /// A change with these fields.
    public init(position: Int, deleted: Int? = nil, text: String? = nil) {
        self.position = position
        self.deleted = deleted
        self.text = text
    }
}

/// A note, and where it was found.
private struct FoundNote {
    let note: Note
    /// Whether others have it, or may.
    let counts: Bool
    /// Edits of it by this person that nobody takes.
    let untaken: [UndeliveredWord]
    let space: SpaceRecord
    let roster: Roster
}

extension Views {
    /// The note that an operation began; nil if it no longer exists.
    func note(_ number: OperationNumber) throws -> NoteView? {
        try found(number).map { try view($0.note, in: $0.space, $0.roster) }
    }

    /// The notes of a conversation, or of all, the one that was edited last first.
    func notes(in argument: String?) throws -> [NoteView] {
        let unaccepted = try unaccepted()
        let spaces = try argument.map { [try conversation($0)] } ?? store.spaces()
        var found: [(view: NoteView, order: OrderKey)] = []
        for space in spaces where space.kind != .own && !unaccepted.contains(space.id) {
            guard let roster = try roster(of: space) else { continue }
            let own = try untakenNotes(in: space, roster)
            for note in try Overview.notes(in: space.number, roster: roster, store: store) + own {
                found.append((try view(note, in: space, roster), note.lastOrder))
            }
        }
        return found.sorted { $0.order > $1.order }.map(\.view)
    }

    /// A note with its text as it is, or as it was after an edit.
    func noteText(
        _ number: OperationNumber, after edit: MessageReference? = nil
    ) throws -> NoteTextView? {
        guard let found = try foundShown(number) else { return nil }
        let history = try history(of: found)
        var count = history.steps.count
        if let edit {
            guard let place = try place(of: edit, in: history) else {
                return try noteText(of: found, afterUntaken: edit)
            }
            count = place + 1
        }
        return NoteTextView(
            note: try view(found.note, in: found.space, found.roster),
            text: history.text(ofFirst: count),
            version: try history.heads(ofFirst: count).map {
                try identifier($0, in: found.space.number)
            })
    }

    /// The text that this person had after an edit that nobody takes.
    private func noteText(
        of found: FoundNote, afterUntaken edit: MessageReference
    ) throws -> NoteTextView {
        let history = try wholeHistory(of: found)
        guard let reference = try operation(edit), let text = history.text(after: reference) else {
            throw NodeError(together: .noSuchPlace)
        }
        return NoteTextView(
            note: try view(found.note, in: found.space, found.roster), text: text,
            version: [try identifier(reference, in: found.space.number)])
    }

    /// The edits of a note, the last first; also those that nobody takes, where they were written.
    ///
    /// - Parameter edit: the last of the page before.
    func noteSteps(
        _ number: OperationNumber, before edit: MessageReference?, limit: Int
    ) throws -> [NoteStepView]? {
        guard let found = try foundShown(number) else { return nil }
        let (space, roster) = (found.space, found.roster)
        let history = try wholeHistory(of: found)
        var end = history.steps.count
        if let edit {
            guard let place = try place(of: edit, in: history) else {
                throw NodeError(together: .noSuchPlace)
            }
            end = place
        }
        return try history.steps[..<end].suffix(limit).reversed().map { step in
            let tag = step.reference.tag
            let person = try store.log(tag, in: space.number).flatMap {
                roster.person(of: $0.device)
            }
            return NoteStepView(
                number: step.number.rawValue, id: try identifier(step.reference, in: space.number),
                author: try person.map { try name(of: $0, in: roster) } ?? "", time: step.time,
                inserted: step.insertedCount, deleted: step.deletedCount,
                beginning: step.beginning, lineCount: step.lineCount,
                untaken: found.untaken.first { $0.word.reference == step.reference }?.state)
        }
    }

    /// Where positions of the text of a version stand now.
    func notePositions(
        _ positions: [Int], of number: OperationNumber, in version: [String]
    ) throws -> NotePositionsView? {
        guard let note = try found(number) else { return nil }
        let history = try history(of: note)
        guard
            let found = history.positions(
                positions, in: try noteVersion(version))
        else { throw NodeError(together: .noSuchPlace) }
        return NotePositionsView(
            positions: found,
            version: try history.heads.map { try identifier($0, in: note.space.number) })
    }

    /// What names of edits mean.
    func noteVersion(_ names: [String]) throws -> [OperationReference] {
        try names.map { name in
            guard let reference = try operation(MessageReference(name)) else {
                throw NodeError(together: .noSuchPlace)
            }
            return reference
        }
    }

    private func place(of edit: MessageReference, in history: NoteHistory) throws -> Int? {
        try operation(edit).flatMap { history.place(of: $0) }
    }

    private func operation(_ name: MessageReference) throws -> OperationReference? {
        var number = name.number.map { OperationNumber($0) }
        if number == nil {
            var resolver = Resolver<OperationNumber>(name.text)
            try consider(name, of: .notes, in: &resolver) { $0 }
            number = try resolver.thing()
        }
        guard let number, let stored = try store.operation(number),
            let log = try store.log(stored.log)
        else { return nil }
        return OperationReference(tag: log.tag, sequence: stored.sequence, check: stored.id.check)
    }

    /// The note, unless its text is hidden.
    private func foundShown(_ number: OperationNumber) throws -> FoundNote? {
        guard let found = try found(number) else { return nil }
        if try hides(found.note.author, in: found.space) { throw NodeError.hidden }
        return found
    }

    private func found(_ number: OperationNumber) throws -> FoundNote? {
        guard let stored = try store.operation(number), stored.operation.header.kind == .note,
            let log = try store.log(stored.log), let space = try store.space(log.space),
            let roster = try roster(of: space)
        else { return nil }
        let reference = OperationReference(
            tag: log.tag, sequence: stored.sequence, check: stored.id.check)
        let edits = try untaken(.noteEdit, in: space, roster).filter {
            $0.word.target == reference
        }
        let counted = try Overview.note(
            reference, in: space.number, roster: roster, store: store)
        let own = try counted == nil ? untakenNotes(in: space, roster) : []
        guard let note = counted ?? own.first(where: { $0.number == number }) else { return nil }
        return FoundNote(
            note: note, counts: counted != nil, untaken: edits, space: space, roster: roster)
    }

    /// What this person began, and nobody accepts.
    private func untakenNotes(in space: SpaceRecord, _ roster: Roster) throws -> [Note] {
        let begun = try untaken(.note, in: space, roster).map(\.word)
        // Almost always there is none.
        if begun.isEmpty { return [] }
        let words = try undelivered(in: space, roster).map(\.word).sorted { $0.order < $1.order }
        return begun.compactMap { $0.note(begunBy: ownPerson, with: words) }
    }

    /// The edits that make the text of a note: of one that nobody takes, its author's.
    private func history(of found: FoundNote) throws -> NoteHistory {
        if !found.counts { return try wholeHistory(of: found) }
        return try NoteHistory(
            of: found.note.reference, in: found.space.number, store: store)
    }

    /// With those that nobody takes.
    private func wholeHistory(of found: FoundNote) throws -> NoteHistory {
        try NoteHistory(
            of: found.note.reference, in: found.space.number, with: found.untaken.map(\.word),
            store: store)
    }

    private func view(_ note: Note, in space: SpaceRecord, _ roster: Roster) throws -> NoteView {
        var waiting = try marks(on: note.reference, in: space, roster)
        // A person who lacks a note lacks its text as well: once is enough.
        if let begun = waiting.first(where: { $0.change == SharedWord.Subject.note.rawValue }) {
            waiting.removeAll { $0.state == begun.state && $0.change != begun.change }
        }
        let view = NoteView(
            number: note.number.rawValue, id: try identifier(note.reference, in: space.number),
            conversation: space.id.description, place: try title(of: space, roster),
            author: try name(of: note.author, in: roster), time: note.time, title: note.title,
            editCount: note.editCount,
            editor: try note.lastEdit.map { try name(of: $0.person, in: roster) },
            editTime: note.lastEdit?.time,
            timeDoubt: Self.doubt(about: note.lastEdit?.time ?? note.time), waiting: waiting)
        return try hides(note.author, in: space) ? view.withoutContent() : view
    }
}
