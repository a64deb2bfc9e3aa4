import ParleyLedger
import ParleyNotes
import ParleyRoster
import ParleySealing
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyConversation

/// What a liar writes into a note. Source: Protocol/03-operations.md, "Notes".
@Suite("Notes under attack")
struct NoteAttackTests {
    private let cast: Cast
    private let note: OperationReference

    init() throws {
        cast = try Cast(seed: 121)
        note = try cast.ann.write(NoteTitle("list").draft())
        try cast.ann.write(NoteEdits(at: 0, inserting: "milk\n").draft(of: note, after: []))
        try cast.meet()
    }

    private func history(_ replica: Replica) throws -> NoteHistory {
        try NoteHistory(of: note, in: replica.space.number, store: replica.store)
    }

    /// Everybody has this text, and whoever gets it in another order.
    private func expectText(_ text: String) throws {
        try cast.meet()
        for writer in cast.all { #expect(try history(writer.replica).text == text) }
        let late = try cast.newReplica(seed: 9)
        try cast.deliverAll(to: late, seed: 9)
        #expect(try history(late).text == text)
    }

    @Test("Attack 197: a hundred thousand edits of one person at one place, without a version")
    func flood() throws {
        let edit = NoteEdits(
            (0..<1_000).map { _ in TextEdit(at: 0, deleting: 0, inserting: ["x"]) })
        for _ in 0..<100 { try cast.dan.write(edit.draft(of: note, after: [])) }
        try cast.ben.catchUp(with: cast.all)
        let history = try history(cast.ben.replica)
        #expect(history.steps.count == 101)
        #expect(history.heads.count == 2, "what one device writes stands in a row")
        // What others have written is all there, and an admin takes the rest out with one edit.
        #expect(history.text.count == 100_005 && history.text.contains("milk\n"))
        let start = try #require(history.text.firstRange(of: "milk\n")).lowerBound
        let place = history.text.distance(from: history.text.startIndex, to: start)
        let clean = NoteEdits(
            [
                TextEdit(at: 0, deleting: place, inserting: []),
                TextEdit(at: 5, deleting: 100_000 - place, inserting: []),
            ].filter { $0.deletedCount > 0 })
        let log = LogTag(
            OperationHash.log(space: cast.space, device: cast.ben.key.device, lane: .notes))
        try cast.ben.write(
            try #require(
                Note.drafts(of: clean, to: note, in: history, at: history.heads, by: log)))
        #expect(try self.history(cast.ben.replica).text == "milk\n")
    }

    @Test("Attack 198: positions beyond the end stand there, lengths delete what there is")
    func beyond() throws {
        let far = Limits.notePositionMax
        try cast.dan.write(
            NoteEdits([
                TextEdit(at: far, deleting: far, inserting: Array("tea\n".unicodeScalars)),
                TextEdit(at: 5, deleting: far, inserting: Array("eggs\n".unicodeScalars)),
            ]).draft(of: note, after: try history(cast.dan.replica).heads))
        try expectText("milk\neggs\n")
    }

    @Test("Attack 199: versions that name what is not there, is of another note, or stands above")
    func versions() throws {
        let other = try cast.dan.write(NoteTitle("other").draft())
        let elsewhere = try cast.dan.write(
            NoteEdits(at: 0, inserting: "no").draft(of: other, after: []))
        for name in [other, elsewhere, note] {
            // It is as if the edit named nothing but what its author wrote before.
            try cast.dan.write(
                NoteEdits(at: 9, inserting: "x").draft(of: note, after: [name]))
        }
        try cast.meet()
        let text = try history(cast.ben.replica).text
        #expect(["milk\nxxx", "xxxmilk\n"].contains(text))
        try expectText(text)
        // What is not there, or is another operation at its place, makes honest nodes wait; once they have
        // waited, it is as if it were not named.
        let head = try history(cast.dan.replica).heads[0]
        let check = Check(high: 1, low: 2)
        for name in [
            OperationReference(tag: head.tag, sequence: head.sequence, check: check),
            OperationReference(tag: head.tag, sequence: 77, check: check),
        ] {
            try cast.dan.write(
                NoteEdits(at: 9, inserting: "x").draft(of: note, after: [name]))
            #expect(try history(cast.dan.replica).text(at: [name]) == nil)
        }
        let longer = try history(cast.dan.replica).text
        #expect(["milk\nxxxxx", "xxxxxmilk\n"].contains(longer))
    }

    @Test("Attack 200: titles and edits at and beyond each bound")
    func bounds() throws {
        let title = NoteTitle(String(repeating: "x", count: Limits.noteTitleByteCountMax))
        #expect(title.draft().payload.flatMap(NoteTitle.init(payload:)) == title)
        let long = NoteTitle(title.text + "x")
        #expect(long.draft().payload.flatMap(NoteTitle.init(payload:)) == nil)
        try cast.dan.write(long.draft(of: note))
        try cast.dan.write(NoteTitle("").draft(of: note))
        func isRead(_ edits: [TextEdit]) -> Bool {
            NoteEdits(edits).draft(of: note, after: []).payload
                .flatMap(NoteEdits.init(payload:))?.edits == edits
        }
        func insertion(_ count: Int) -> TextEdit {
            TextEdit(at: 0, deleting: 0, inserting: Array(repeating: "x", count: count))
        }
        let far = Limits.notePositionMax
        #expect(isRead([]) && isRead([TextEdit(at: far, deleting: far, inserting: [])]))
        #expect(!isRead([TextEdit(at: far + 1, deleting: 1, inserting: [])]))
        #expect(!isRead([TextEdit(at: 0, deleting: far + 1, inserting: [])]))
        #expect(!isRead([TextEdit(at: 0, deleting: 0, inserting: [])]))
        #expect(isRead([insertion(Limits.noteTextByteCountMax)]))
        #expect(!isRead([insertion(Limits.noteTextByteCountMax), insertion(1)]))
        #expect(isRead(Array(repeating: insertion(1), count: Limits.noteEditCountMax)))
        #expect(!isRead(Array(repeating: insertion(1), count: Limits.noteEditCountMax + 1)))
        for payload in [
            [], [0], [2], [1, 0], [1, 0, 0, 1], [1, 0, 0, 1, 0xFF], [1, 0x80, 0, 1, 0],
            [1, 0, 0, 2, 0x61],
        ] as [[UInt8]] {
            #expect(NoteEdits(payload: payload) == nil, "\(payload)")
        }
        for payload in [[], [1], [2, 0x61], [1, 0xFF]] as [[UInt8]] {
            #expect(NoteTitle(payload: payload) == nil, "\(payload)")
        }
        try expectText("milk\n")
        let shown = try Overview.notes(
            in: cast.ben.replica.space.number, roster: cast.ben.replica.roster,
            store: cast.ben.replica.store)
        #expect(shown.map(\.title) == ["list"])
    }

    @Test("Attack 201: an edit of a note that does not exist, or of something else, is nothing")
    func nothing() throws {
        let message = try cast.dan.say("hello")
        let poll = try cast.dan.write(
            PollQuestion(question: "a", options: ["b", "c"], isMultiple: false).draft())
        let digest = try cast.dan.replica.digest()
        for target in [message, poll] {
            try cast.dan.write(NoteEdits(at: 0, inserting: "x").draft(of: target, after: []))
            try cast.dan.write(NoteTitle("x").draft(of: target))
        }
        var pointless = NoteEdits(at: 0, inserting: "x").draft(of: note, after: [])
        pointless.references = []
        try cast.dan.write(pointless)
        // In another lane it has no effect either.
        var misplaced = NoteEdits(at: 0, inserting: "x").draft(of: note, after: [])
        misplaced.lane = .shared
        try cast.dan.write(misplaced)
        #expect(try cast.dan.replica.digest() == digest)
        try expectText("milk\n")
    }

    @Test("Attack 200: more than a note may hold is left out, the last in order first")
    func overfull() throws {
        let count = Limits.noteTextByteCountMax
        let edit = NoteEdits(at: 0, inserting: String(repeating: "x", count: count))
        let operations = Limits.noteScalarCountMax / count
        try cast.dan.write((0..<operations).map { _ in edit.draft(of: note, after: []) })
        try cast.dan.write(NoteEdits(at: 0, inserting: "end").draft(of: note, after: []))
        let history = try history(cast.dan.replica)
        // "milk" was there before; the last that would not fit any more is left out, the short one is not.
        #expect(history.steps.count == operations + 1)
        #expect(history.insertedCount == 5 + (operations - 1) * count + 3)
    }
}
