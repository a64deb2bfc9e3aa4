import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyStorage
import ParleyWire

/// Begins a text that everybody in a conversation may edit.
public struct CreateNote: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "createNote", RequestScope.write,
        "Creates a note: a text that everybody in a conversation may edit."
    )
    /// An example of the request.
    public static let example = CreateNote(
        conversation: "trip", title: "what to bring", text: "a stove\n")

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String
    /// The title, of at most 1,024 bytes.
    public var title: String
    /// The first text; nil for nothing.
    public var text: String?

    /// A request with these parameters.
    public init(conversation: String, title: String, text: String? = nil) {
        self.conversation = conversation
        self.title = title
        self.text = text
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoteView {
        let space = try await node.read { try $0.writable(conversation).id }
        let number = try await node.write(
            noted: .note(space, title: NoteTitle(title), text: text ?? ""))
        return try await node.read { try $0.note(number) }.orUnknown()
    }
}

/// The notes of a conversation, or of all: the last edited first. At most 1,024 per conversation
/// are returned.
public struct ListNotes: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "notes", RequestScope.read,
        "The notes of a conversation, or of all, the last edited first."
    )
    /// An example of the request.
    public static let example = ListNotes(conversation: "trip")

    /// The conversation; nil for all.
    public var conversation: String?

    /// A request with these parameters.
    public init(conversation: String? = nil) { self.conversation = conversation }

    /// Answers the request.
    public func perform(on node: Node) async throws -> [NoteView] {
        try await node.read { try $0.notes(in: conversation) }
    }
}

/// A note with its text as it is, or as it was after one of its edits.
public struct GetNote: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "note", RequestScope.read,
        "A note with its text as it is, or as it was after one of its edits."
    )
    /// An example of the request.
    public static let example = GetNote(note: 12)

    /// The note: its number or its identifier.
    public var note: MessageReference
    /// The edit after which the text is returned, with everything above it in the history; nil for
    /// the last.
    public var after: MessageReference?

    /// A request with these parameters.
    public init(note: MessageReference, after: MessageReference? = nil) {
        self.note = note
        self.after = after
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoteTextView {
        let number = try await node.number(ofNote: note)
        return try await node.read { try $0.noteText(number, after: after) }.orUnknown()
    }
}

/// Edits a note: all edits apply to one version, each to the result of the one before. What others
/// wrote concurrently stays.
public struct ChangeNote: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "changeNote", RequestScope.write,
        "Edits a note: all edits start from one version, each from the text after the one before."
    )
    /// An example of the request.
    public static let example = ChangeNote(
        note: 12, edits: [NoteEdit(position: 2, deleted: 5, text: "tent")])

    /// The note: its number or its identifier.
    public var note: MessageReference
    /// What changes.
    public var edits: [NoteEdit]
    /// The version of the text that the first one is made in, as the node told it; nil for the text as it is.
    public var version: [String]?

    /// A request with these parameters.
    public init(note: MessageReference, edits: [NoteEdit], version: [String]? = nil) {
        self.note = note
        self.edits = edits
        self.version = version
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoteTextView {
        let number = try await node.number(ofNote: note)
        let known = try await node.version(version, ofNote: number)
        return try await node.text(after: .edit(number, NoteEdits(edits), at: known), of: number)
    }
}

/// Sets the text of a note to an edited version of an earlier text: the differences become edits,
/// and what others wrote concurrently stays.
public struct WriteNote: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "writeNote", RequestScope.write,
        "Replaces the text of a note; what others wrote beside the changes stays."
    )
    /// An example of the request.
    public static let example = WriteNote(note: 12, text: "a tent\n")

    /// The note: its number or its identifier.
    public var note: MessageReference
    /// The new text.
    public var text: String
    /// The version of the text that was edited, as the node told it; nil for the text as it is.
    public var version: [String]?

    /// A request with these parameters.
    public init(note: MessageReference, text: String, version: [String]? = nil) {
        self.note = note
        self.text = text
        self.version = version
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoteTextView {
        let number = try await node.number(ofNote: note)
        let known = try await node.version(version, ofNote: number)
        return try await node.text(after: .write(number, text, at: known), of: number)
    }
}

/// Calls a note otherwise.
public struct RenameNote: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "renameNote", RequestScope.write,
        "Renames a note."
    )
    /// An example of the request.
    public static let example = RenameNote(note: 12, title: "what to bring")

    /// The note: its number or its identifier.
    public var note: MessageReference
    /// The new title, of at most 1,024 bytes.
    public var title: String

    /// A request with these parameters.
    public init(note: MessageReference, title: String) {
        self.note = note
        self.title = title
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoteView {
        let number = try await node.number(ofNote: note)
        _ = try await node.write(noted: .retitle(number, NoteTitle(title)), of: number)
        return try await node.read { try $0.note(number) }.orUnknown()
    }
}

/// Withdraws a note for everyone, with all its edits, and returns what it was. Its text is not
/// computed: a note that a liar made slow to open is withdrawn at once.
public struct DeleteNote: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "deleteNote", RequestScope.write,
        "Deletes a note for everyone, with all its edits."
    )
    /// An example of the request.
    public static let example = DeleteNote(note: 12)

    /// The note: its number or its identifier.
    public var note: MessageReference

    /// A request with these parameters.
    public init(note: MessageReference) { self.note = note }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoteView {
        let number = try await node.number(ofNote: note)
        let gone = try await node.read { try $0.note(number) }.orUnknown()
        _ = try await node.write(noted: .withdraw(number), of: number)
        return gone
    }
}

/// The edits of a note, the last first.
public struct GetNoteHistory: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "noteHistory", RequestScope.read,
        "The edits of a note, newest first."
    )
    /// An example of the request.
    public static let example = GetNoteHistory(note: 12, limit: 20)

    /// The note: its number or its identifier.
    public var note: MessageReference
    /// The last edit of the page before; nil for the first page.
    public var before: MessageReference?
    /// At most so many, from 1 to 1,000.
    public var limit: Int

    /// A request with these parameters.
    public init(note: MessageReference, before: MessageReference? = nil, limit: Int) {
        self.note = note
        self.before = before
        self.limit = limit
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> [NoteStepView] {
        guard (1...1_000).contains(limit) else {
            throw NodeError("bad-limit", "A page holds from 1 to 1,000 edits.")
        }
        let number = try await node.number(ofNote: note)
        return try await node.read {
            try $0.noteSteps(number, before: before, limit: limit)
        }.orUnknown()
    }
}

/// Restores the text of a note after one of its edits. Later edits stay in its history.
public struct RestoreNote: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "restoreNote", RequestScope.write,
        "Restores the text that a note had after one of its edits."
    )
    /// An example of the request.
    public static let example = RestoreNote(note: 12, after: 34)

    /// The note: its number or its identifier.
    public var note: MessageReference
    /// The edit: its number or its identifier.
    public var after: MessageReference

    /// A request with these parameters.
    public init(note: MessageReference, after: MessageReference) {
        self.note = note
        self.after = after
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoteTextView {
        let number = try await node.number(ofNote: note)
        let old = try await node.read { try $0.noteText(number, after: after) }.orUnknown()
        return try await node.text(after: .write(number, old.text, at: nil), of: number)
    }
}

/// Where positions of an earlier text of a note are in the present text: of a cursor, for example.
/// Each stays behind what was left of it, and behind what others inserted there.
public struct FollowNotePositions: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "notePositions", RequestScope.read,
        "Where positions in an earlier text of a note are in its present text."
    )
    /// An example of the request.
    public static let example = FollowNotePositions(
        note: 12, version: ["9d0f6d3c2b1a4e57-3"], positions: [4])

    /// The note: its number or its identifier.
    public var note: MessageReference
    /// The version of the earlier text, as the node told it.
    public var version: [String]
    /// Positions in it, in Unicode scalars; at most 64.
    public var positions: [Int]

    /// A request with these parameters.
    public init(note: MessageReference, version: [String], positions: [Int]) {
        self.note = note
        self.version = version
        self.positions = positions
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NotePositionsView {
        let number = try await node.number(ofNote: note)
        guard positions.count <= Limits.noteCursorCountMax,
            positions.allSatisfy({ (0...Limits.notePositionMax).contains($0) })
        else { throw NodeError(together: .noSuchPlace) }
        return try await node.read {
            try $0.notePositions(positions, of: number, in: version)
        }.orUnknown()
    }
}

extension NoteEdits {
    fileprivate init(_ edits: [NoteEdit]) {
        self.init(
            edits.flatMap {
                NoteEdits(
                    at: $0.position, deleting: $0.deleted ?? 0, inserting: $0.text ?? ""
                ).edits
            })
    }
}

extension Optional {
    /// What there is of a note; throws where that is nothing.
    fileprivate func orUnknown() throws -> Wrapped {
        guard let self else { throw NodeError(together: .unknownNote) }
        return self
    }
}

extension Node {
    fileprivate func number(ofNote note: MessageReference) async throws -> OperationNumber {
        do {
            return try await read { try $0.message(note, in: .notes) }
        } catch let error as NodeError where error.code == "unknown-message" {
            throw NodeError(together: .unknownNote)
        }
    }

    fileprivate func version(
        _ names: [String]?, ofNote number: OperationNumber
    ) async throws -> [OperationReference]? {
        guard let names else { return nil }
        return try await read { try $0.noteVersion(names) }
    }

    /// Has something done with a note, and tells its number.
    fileprivate func write(
        noted command: TogetherCommand, of number: OperationNumber? = nil
    ) async throws -> OperationNumber {
        guard case .messages(let numbers) = try await write(command, about: number),
            let number = numbers.first
        else { throw NodeError(together: .unknownNote) }
        return number
    }

    /// Has a note edited, and tells it as it is then.
    fileprivate func text(
        after command: TogetherCommand, of number: OperationNumber
    ) async throws -> NoteTextView {
        _ = try await write(noted: command, of: number)
        return try await read { try $0.noteText(number) }.orUnknown()
    }
}
