import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySimulation
import ParleyWire

/// Notes that people write together.
extension Stage {
    /// The command of such a deed; nil where there is nothing to do it with.
    func note(
        _ what: Together, in space: SpaceRecord, of node: SimulatedNode
    ) throws -> TogetherCommand? {
        switch what {
        case .note(let title, let text):
            return .note(space.id, title: NoteTitle(title), text: text)
        case .edit(let rank, let position, let deleted, let text, let back):
            guard let note = try note(rank, in: space, of: node) else { return nil }
            let history = try NoteHistory(
                of: note.reference, in: space.number, store: node.store)
            let held = max(0, history.steps.count - back)
            let count = history.text(ofFirst: held).unicodeScalars.count
            let place = position % (count + 1)
            let gone = min(deleted, count - place)
            let edits = NoteEdits(
                at: place, deleting: gone, inserting: text.isEmpty && gone == 0 ? "x" : text)
            return .edit(note.number, edits, at: back == 0 ? nil : history.heads(ofFirst: held))
        case .write(let rank, let text):
            return try note(rank, in: space, of: node).map { .write($0.number, text, at: nil) }
        case .retitle(let rank, let title):
            return try note(rank, in: space, of: node).map {
                .retitle($0.number, NoteTitle(title))
            }
        case .tear(let rank):
            return try note(rank, in: space, of: node).map { .withdraw($0.number) }
        case .ask, .vote, .close, .withdraw, .begin, .change, .drop, .propose, .decide, .remind,
            .remember, .later:
            return nil
        }
    }

    private func note(
        _ rank: Int, in space: SpaceRecord, of node: SimulatedNode
    ) throws -> Note? {
        guard let roster = try node.roster(of: space) else { return nil }
        let notes = try Overview.notes(in: space.number, roster: roster, store: node.store)
        return notes.isEmpty ? nil : notes[notes.count - 1 - rank % notes.count]
    }
}
