import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyWire
import Testing

@testable import ParleySimulation

/// Ann, ben and cleo in a group. Source: Protocol/03-operations.md, "Notes".
@Suite("Notes, as a node does them")
struct NoteCoreTests {
    private let world: World
    private let ann, ben, cleo: SimulatedNode
    private let space: SpaceID

    init() throws {
        world = World(seed: 961)
        (ann, ben) = (try world.addNode("ann"), try world.addNode("ben"))
        cleo = try world.addNode("cleo")
        _ = try world.introduce(ann, ben)
        _ = try world.introduce(ann, cleo)
        space = try world.group("club", [ann, ben, cleo])
        world.run(for: 60_000)
        try perform(.note(space, title: NoteTitle("list"), text: "milk\neggs\n"), on: ann)
    }

    private func perform(_ command: TogetherCommand, on node: SimulatedNode) throws {
        _ = try world.perform(.together(command), on: node)
        world.run(for: 5_000)
    }

    private func refuses(_ command: TogetherCommand, on node: SimulatedNode) {
        #expect(throws: (any Error).self, "\(command)") { try perform(command, on: node) }
    }

    private func note(_ node: SimulatedNode) throws -> Note? {
        try node.observing {
            let record = try #require(try node.store.space(space))
            let roster = try #require(try node.roster(of: record))
            return try Overview.notes(
                in: record.number, roster: roster, store: node.store
            ).last
        }
    }

    private func number(_ node: SimulatedNode) throws -> OperationNumber {
        try #require(try note(node)).number
    }

    private func history(_ node: SimulatedNode) throws -> NoteHistory {
        let note = try #require(try note(node)).reference
        return try node.observing {
            let record = try #require(try node.store.space(space))
            return try NoteHistory(of: note, in: record.number, store: node.store)
        }
    }

    @Test("are edited by all at once, and what an editor leaves is an edit of what it was given")
    func together() throws {
        let given = try history(ben).heads
        world.partition([ann, cleo], [ben])
        try perform(.write(number(ann), "oat milk\neggs\n", at: nil), on: ann)
        try perform(.write(number(ben), "milk\nten eggs\n", at: nil), on: ben)
        // Ben has written since: an editor that was open all the while changes what stands there now.
        try perform(.write(number(ben), "milk\neggs\ntea\n", at: given), on: ben)
        #expect(try history(ben).text == "milk\nten eggs\ntea\n")
        // What is so already is not written again.
        let count = try history(ben).steps.count
        try perform(.write(number(ben), "milk\nten eggs\ntea\n", at: nil), on: ben)
        #expect(try history(ben).steps.count == count)
        world.heal()
        try world.runUntilEqual(within: .minutes(15))
        for node in [ann, ben, cleo] {
            let text = try history(node).text
            #expect(text == "oat milk\nten eggs\ntea\n")
        }
    }

    @Test("are refused where nothing can be done so")
    func refusals() throws {
        let number = try number(ann)
        refuses(.note(space, title: NoteTitle(" "), text: ""), on: ann)
        let long = NoteTitle(String(repeating: "x", count: Limits.noteTitleByteCountMax + 1))
        refuses(.note(space, title: long, text: ""), on: ann)
        refuses(.retitle(number, long), on: ann)
        refuses(.edit(number, NoteEdits(at: 11, inserting: "x"), at: nil), on: ann)
        refuses(.edit(number, NoteEdits(at: -1, inserting: "x"), at: nil), on: ann)
        refuses(.edit(number, NoteEdits(at: 9, deleting: 2), at: nil), on: ann)
        refuses(.edit(number, NoteEdits(at: 0), at: nil), on: ann)
        let nobodys = OperationReference(
            tag: LogTag(1), sequence: 0, check: Check(high: 0, low: 0))
        refuses(.write(number, "x", at: [nobodys]), on: ann)
        refuses(
            .write(
                number, String(repeating: "x", count: Limits.noteScalarCountMax), at: nil), on: ann)
        refuses(.write(OperationNumber(1), "x", at: nil), on: ann)
        refuses(.withdraw(try self.number(ben)), on: ben)
        #expect(try history(ann).text == "milk\neggs\n")
    }

    @Test("Attack 202: who lost the right edits and renames nothing any more")
    func rights() throws {
        _ = try world.perform(.setRole(space, ben.identity.person, .reader), on: ann)
        world.run(for: 10_000)
        refuses(.write(try number(ben), "gone\n", at: nil), on: ben)
        refuses(.retitle(try number(ben), NoteTitle("gone")), on: ben)
        // Cleo is removed while apart, and goes on there: what she writes counts for nobody else.
        world.partition([cleo], [ann, ben])
        _ = try world.perform(.removeMember(space, cleo.identity.person), on: ann)
        try perform(.write(number(cleo), "mine\n", at: nil), on: cleo)
        try perform(.retitle(number(cleo), NoteTitle("mine")), on: cleo)
        try perform(.write(number(ann), "milk\neggs\ntea\n", at: nil), on: ann)
        world.heal()
        world.run(for: 120_000)
        for node in [ann, ben] {
            #expect(try history(node).text == "milk\neggs\ntea\n")
            #expect(try note(node)?.title == "list")
        }
    }

    @Test("that are taken back are told of, and no word of them is on any disk")
    func withdrawing() throws {
        try perform(.write(number(ben), "milk\n", at: nil), on: ben)
        try perform(.withdraw(number(ann)), on: ann)
        try world.runUntilEqual(within: .minutes(15))
        for node in [ann, ben, cleo] {
            #expect(try note(node) == nil)
            let kept = try node.observing {
                let record = try #require(try node.store.space(space))
                return try node.store.logs(in: record.number).filter { $0.lane == .notes }
                    .flatMap { try node.store.operations(in: $0.number, 0...100, limit: 100) }
            }
            #expect(kept.count == 3 && kept.allSatisfy { $0.operation.payload == nil })
        }
    }
}
