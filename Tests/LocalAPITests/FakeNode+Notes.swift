import ParleyNodeCore

@testable import Parley

extension FakeNode {
    /// Notes are begun, edited, looked back at and taken back; each edit holds its whole text.
    func answerNotes() {
        answer(CreateNote.self) { state, request in
            try state.requireConversation(request.conversation)
            let number = Int64(state.notes.count + 1)
            let note = NoteView(
                number: number, id: "51d2e0270c829e06-\(number)", conversation: Self.id,
                place: "home", author: "ada", time: 1_700_000_000_000, title: request.title,
                editCount: 0)
            state.notes.append(State.Note(view: note))
            if let text = request.text { state.notes[state.notes.count - 1].write(text) }
            return state.notes[state.notes.count - 1].view
        }
        answer(GetNote.self) { state, request in
            let note = try state.note(request.note) { _ in }
            guard let after = request.after?.number else { return note.shown }
            guard note.texts.indices.contains(Int(after) - 101) else {
                throw NodeError(together: .noSuchPlace)
            }
            return NoteTextView(
                note: note.view, text: note.texts[Int(after) - 101], version: ["\(after)"])
        }
        answer(WriteNote.self) { state, request in
            try state.note(request.note) { $0.write(request.text) }.shown
        }
        answer(ChangeNote.self) { state, request in
            try state.note(request.note) { note in
                var text = Array((note.texts.last ?? "").unicodeScalars)
                for edit in request.edits {
                    text.replaceSubrange(
                        edit.position..<edit.position + (edit.deleted ?? 0),
                        with: (edit.text ?? "").unicodeScalars)
                }
                note.write(String(String.UnicodeScalarView(text)))
            }.shown
        }
        answer(RenameNote.self) { state, request in
            try state.note(request.note) { $0.view.title = request.title }.view
        }
        answer(RestoreNote.self) { state, request in
            try state.note(request.note) { note in
                note.write(note.texts[Int(request.after.number ?? 101) - 101])
            }.shown
        }
        answerNoteLists()
    }

    private func answerNoteLists() {
        answer(ListNotes.self) { state, request in
            if let conversation = request.conversation {
                try state.requireConversation(conversation)
            }
            return state.notes.map(\.view)
        }
        answer(GetNoteHistory.self) { state, request in
            let note = try state.note(request.note) { _ in }
            return note.texts.indices.reversed().prefix(max(0, request.limit)).map { place in
                NoteStepView(
                    number: Int64(101 + place), id: "51d2e0270c829e06-\(101 + place)",
                    author: "ada", time: 1_700_000_000_000, inserted: note.texts[place].count,
                    deleted: 0, beginning: note.texts[place],
                    lineCount: note.texts[place].split { $0.isNewline }.count)
            }
        }
        answer(FollowNotePositions.self) { state, request in
            NotePositionsView(positions: request.positions, version: request.version)
        }
        answer(DeleteNote.self) { state, request in
            let gone = try state.note(request.note) { _ in }.view
            state.notes.removeAll { $0.view.number == request.note.number }
            return gone
        }
    }
}

extension FakeNode.State {
    /// A note, with its text after each edit: the first edit has the number 101.
    struct Note {
        var view: NoteView
        var texts: [String] = []

        mutating func write(_ text: String) {
            texts.append(text)
            view.editCount += 1
            (view.editor, view.editTime) = ("ada", 1_700_000_000_000)
        }

        var shown: NoteTextView {
            NoteTextView(note: view, text: texts.last ?? "", version: ["\(100 + texts.count)"])
        }
    }

    fileprivate mutating func note(
        _ reference: MessageReference, _ change: (inout Note) -> Void
    ) throws -> Note {
        guard let place = notes.firstIndex(where: { $0.view.number == reference.number }) else {
            throw NodeError(together: .unknownNote)
        }
        change(&notes[place])
        return notes[place]
    }
}
