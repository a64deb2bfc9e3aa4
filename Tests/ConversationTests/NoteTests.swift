import ParleyLedger
import ParleyNotes
import ParleyRoster
import ParleySealing
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyCheckers
@testable import ParleyConversation

/// Source: Protocol/03-operations.md, "Notes".
@Suite("Notes")
struct NoteTests {
    private let cast: Cast
    private let note: OperationReference

    init() throws {
        cast = try Cast(seed: 120)
        note = try cast.cara.write(NoteTitle("list").draft())
        try cast.meet()
    }

    private func history(_ replica: Replica) throws -> NoteHistory {
        try NoteHistory(of: note, in: replica.space.number, store: replica.store)
    }

    private func text(_ writer: Writer) throws -> String { try history(writer.replica).text }

    private func notes(_ replica: Replica) throws -> [Note] {
        try Overview.notes(
            in: replica.space.number, roster: replica.roster, store: replica.store)
    }

    /// Edits the text as the writer has it, or as it was in a version.
    private func edit(
        _ position: Int, _ deleted: Int, _ text: String, at version: [OperationReference]? = nil,
        by writer: Writer
    ) throws {
        let history = try history(writer.replica)
        let log = LogTag(
            OperationHash.log(space: cast.space, device: writer.key.device, lane: .notes))
        let drafts = try #require(
            Note.drafts(
                of: NoteEdits(at: position, deleting: deleted, inserting: text), to: note,
                in: history, at: version ?? history.heads, by: log))
        try writer.write(drafts)
    }

    /// The same by the naive model of the simulator.
    private func naive(_ replica: Replica) throws -> String {
        let edits = try history(replica).steps.map { step in
            let stored = try #require(try replica.store.operation(step.number))
            return NaiveNote.Edit(
                name: step.reference,
                named: Array(stored.operation.header.references.dropFirst()),
                changes: step.edits.map { ($0.position, $0.deletedCount, $0.inserted) })
        }
        return NaiveNote(edits).text
    }

    @Test("hold what all wrote side by side, the same for everybody")
    func together() throws {
        try edit(0, 0, "milk\neggs\n", by: cast.cara)
        try cast.meet()
        try edit(0, 4, "oat milk", by: cast.ann)
        try edit(10, 0, "tea\n", by: cast.ben)
        try edit(5, 0, "ten ", by: cast.dan)
        try cast.meet()
        for writer in cast.all {
            #expect(try text(writer) == "oat milk\nten eggs\ntea\n")
            #expect(try history(writer.replica).heads.count == 3)
        }
        // Whoever writes next has seen all of it.
        try edit(0, 4, "", by: cast.cara)
        #expect(try history(cast.cara.replica).heads.count == 1)
        let shown = try #require(try notes(cast.cara.replica).first)
        #expect(shown.title == "list" && shown.editCount == 5)
        #expect(shown.author == cast.cara.replica.person)
        #expect(shown.lastEdit?.person == cast.cara.replica.person)
    }

    @Test(
        "come to what the naive model says, in any order of arrival and folded anew",
        arguments: 1...10 as ClosedRange<UInt64>)
    func anyOrder(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<30 {
            let writer = cast.all[Int(random.next() % 4)]
            if random.next() % 3 == 0 { try writer.catchUp(with: cast.all) }
            let history = try history(writer.replica)
            // Now and then an editor was open while others wrote, or the same device.
            let held = random.next() % 3 == 0 ? history.steps.count / 2 : history.steps.count
            let count = UInt64(history.text(ofFirst: held).unicodeScalars.count)
            let place = random.next() % (count + 1)
            let gone = random.next() % 3 == 0 ? min(count - place, random.next() % 4) : 0
            let come = ["a", "bc", "def", "g\nh"][Int(random.next() % 4)]
            try edit(
                Int(place), Int(gone), come, at: history.heads(ofFirst: held), by: writer)
        }
        try cast.meet()
        let expected = try text(cast.ann)
        #expect(try naive(cast.ann.replica) == expected, "seed \(seed)")
        for order in 0..<4 as Range<UInt64> {
            let replica = try cast.newReplica(seed: order)
            try cast.deliverAll(to: replica, seed: seed << 8 | order)
            #expect(try history(replica).text == expected, "seed \(seed), order \(order)")
            for parcel in try cast.dan.logs().flatMap({ $0 }) {
                #expect(try replica.receive(parcel))
            }
            try replica.rebuild()
            #expect(try history(replica).text == expected, "seed \(seed), order \(order)")
        }
    }

    @Test("take an edit of an earlier text, also where its author has written since")
    func earlier() throws {
        try edit(0, 0, "one\ntwo\n", by: cast.ann)
        let version = try history(cast.ann.replica).heads
        try edit(0, 0, "zero\n", by: cast.ann)
        try edit(4, 3, "TWO", at: version, by: cast.ann)
        #expect(try text(cast.ann) == "zero\none\nTWO\n")
        let history = try history(cast.ann.replica)
        #expect(history.text(ofFirst: 1) == "one\ntwo\n")
        #expect(history.positions([3, 4, 8], in: version) == [8, 12, 13])
        #expect(history.text(at: [])?.count == 0)
        #expect(history.text(at: [note]) == nil && history.positions([0], in: [note]) == nil)
    }

    @Test("are called what was said last, and lists tell them in order")
    func titles() throws {
        try cast.ann.write(NoteTitle("list of ann").draft(of: note))
        try cast.meet()
        try cast.ben.write(NoteTitle("list of ben").draft(of: note))
        try cast.meet()
        #expect(try notes(cast.dan.replica).map(\.title) == ["list of ben"])
        let other = try cast.dan.write(NoteTitle("other").draft())
        #expect(try notes(cast.dan.replica).map(\.reference) == [note, other])
    }

    @Test("that are taken back are gone with all that was written in them")
    func withdrawing() throws {
        try edit(0, 0, "secret", by: cast.dan)
        try cast.dan.write(NoteTitle("secret list").draft(of: note))
        try cast.dan.write(NoteTitle("open list").draft(of: note))
        try cast.meet()
        try cast.dan.write(Withdrawal.draft(of: note))
        try cast.meet()
        #expect(try notes(cast.ann.replica).count == 1)
        try cast.ben.write(Withdrawal.draft(of: note))
        try edit(0, 0, "late", by: cast.cara)
        try cast.meet()
        let expected = try cast.ann.replica.digest()
        let late = try cast.newReplica(seed: 4)
        try cast.deliverAll(to: late, seed: 4)
        for replica in cast.all.map(\.replica) + [late] {
            #expect(try notes(replica).isEmpty && replica.digest() == expected)
            for log in try replica.store.logs(in: replica.space.number) where log.lane == .notes {
                for stored in try replica.store.operations(in: log.number, 0...99, limit: 99) {
                    #expect(stored.operation.payload == nil)
                }
            }
        }
    }

    @Test("of more than seven who wrote at once are brought together by who writes next")
    func manyHeads() throws {
        let heads = (0..<20).map {
            OperationReference(tag: LogTag($0), sequence: 1, check: Check(high: 0, low: 0))
        }
        let drafts = NoteEdits(at: 0, inserting: "x").drafts(of: note, after: heads)
        #expect(drafts.map(\.references) == [0..<7, 7..<14, 14..<20].map { [note] + heads[$0] })
        #expect(
            drafts.map { $0.payload.flatMap(NoteEdits.init(payload:))?.edits.count } == [0, 0, 1])
    }

    @Test("take a long text in as many operations as it needs")
    func long() throws {
        let text = String(repeating: "αβγ line\n", count: 10_000)
        try edit(0, 0, text, by: cast.ann)
        let history = try history(cast.ann.replica)
        #expect(history.text == text && history.steps.count > 3 && history.heads.count == 1)
    }

    @Test("that are changed at several places at once tell each in lines of its own")
    func places() throws {
        try edit(0, 0, "milk\neggs\n", by: cast.ann)
        let before = try history(cast.ann.replica)
        let log = LogTag(
            OperationHash.log(space: cast.space, device: cast.ann.key.device, lane: .notes))
        let edits = NoteEdits([
            TextEdit(at: 10, deleting: 0, inserting: Array("tea\n\r\njam".unicodeScalars)),
            TextEdit(at: 0, deleting: 0, inserting: Array("oat ".unicodeScalars)),
        ])
        try cast.ann.write(
            try #require(
                Note.drafts(of: edits, to: note, in: before, at: before.heads, by: log)))
        let step = try #require(try history(cast.ann.replica).steps.last)
        #expect(step.beginning == "tea\njam\noat " && step.lineCount == 3)
        let first = try #require(before.steps.last)
        #expect(first.beginning == "milk\neggs" && first.lineCount == 2)
    }
}
