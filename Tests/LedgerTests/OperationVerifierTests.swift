@testable import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleySimulation
import ParleyWire
import Testing

@Suite("Operation verifier")
struct OperationVerifierTests {
    let desk: Desk
    let ann: DeviceSigningKey
    let ben: DeviceSigningKey

    /// Ann has written 30 operations and Ben 3, each signed.
    init() throws {
        desk = try Desk(seed: 1)
        ann = desk.key()
        ben = desk.key()
        try desk.write(30, by: ann)
        try desk.write(3, by: ben)
    }

    private func verify(
        _ run: Run, held ranges: [ClosedRange<UInt64>] = []
    ) throws -> [VerifiedRun] {
        try OperationVerifier.verify(
            run, in: desk.space.id, held: try ranges.map { try desk.span($0, of: ann) })
    }

    private func places(_ runs: [VerifiedRun]) -> [ClosedRange<UInt64>] {
        runs.map { $0.first...$0.last }
    }

    @Test("a log from its beginning is proven by one signature at its end")
    func whole() throws {
        let runs = try verify(desk.run(0...29, of: ann, heads: [29]))
        #expect(places(runs) == [0...29])
        #expect(runs[0].isBackfill == false)
        #expect(try runs[0].operations[29].id == desk.id(29, of: ann))
        #expect(runs[0].heads.map(\.sequence) == [29])
    }

    @Test("what follows the tip is appended without an anchor")
    func append() throws {
        let runs = try verify(desk.run(10...14, of: ann, heads: [14]), held: [0...9])
        #expect(places(runs) == [10...14])
        #expect(try runs[0].anchor == desk.id(9, of: ann))
    }

    @Test("an unknown log may begin in its middle, with an anchor and a signature")
    func middle() throws {
        let run = try desk.run(20...24, of: ann, heads: [24], bringsAnchor: true)
        #expect(try places(verify(run)) == [20...24])
        #expect(throws: RunRejection.anchorMissing) {
            try verify(desk.run(20...24, of: ann, heads: [24]))
        }
    }

    @Test("what ends where something held begins needs no signature")
    func backfill() throws {
        let run = try desk.run(15...19, of: ann, heads: [], bringsAnchor: true)
        let runs = try verify(run, held: [20...24])
        #expect(places(runs) == [15...19])
        #expect(runs[0].isBackfill)
    }

    @Test("a run that closes a hole joins both sides")
    func closing() throws {
        let runs = try verify(
            desk.run(10...19, of: ann, heads: []), held: [0...9, 20...24])
        #expect(places(runs) == [10...19])
        #expect(runs[0].isBackfill)
    }

    @Test("only what is new comes out of a run that overlaps what is held")
    func overlap() throws {
        let run = try desk.run(0...29, of: ann, heads: [29])
        #expect(try places(verify(run, held: [0...9])) == [10...29])
        #expect(try places(verify(run, held: [5...9])) == [0...4, 10...29])
        #expect(try places(verify(run, held: [0...9, 20...24])) == [10...19, 25...29])
    }

    @Test("a duplicate gives nothing and costs nothing, whatever it says")
    func duplicate() throws {
        var run = try desk.run(3...5, of: ann, heads: [5], bringsAnchor: true)
        #expect(try verify(run, held: [0...9]).isEmpty)
        run.heads = []
        #expect(try verify(run, held: [0...9]).isEmpty)
    }

    @Test("Attack 16: one altered operation in the middle unproves the run")
    func altered() throws {
        var run = try desk.run(0...9, of: ann, heads: [9])
        run.operations[4] = try Operation.make(
            run.operations[4].header, salt: [UInt8](repeating: 0, count: 16), payload: [99])
        #expect(throws: RunRejection.unproven) { try verify(run) }
        run.heads = []
        #expect(throws: RunRejection.unproven) { try verify(run, held: [5...9]) }
    }

    @Test("Attack 11: operations swapped, dropped or repeated unprove the run")
    func reordered() throws {
        let run = try desk.run(0...9, of: ann, heads: [9])
        for change in [
            { (list: inout [Operation]) in list.swapAt(3, 4) },
            { (list: inout [Operation]) in list[3] = list[4] },
        ] {
            var changed = run
            change(&changed.operations)
            #expect(throws: RunRejection.unproven) { try verify(changed) }
        }
        var dropped = run
        dropped.operations.remove(at: 3)
        #expect(throws: RunRejection.self) { try verify(dropped) }
    }

    @Test("an erased operation proves the log as well as one with its payload")
    func erased() throws {
        var run = try desk.run(0...9, of: ann, heads: [9])
        let operation = run.operations[4]
        let commitment = try #require(OperationHash.commitment(of: operation))
        run.operations[4] = operation.erased(commitment: commitment)
        #expect(try places(verify(run)) == [0...9])
        run.operations[4] = operation.erased(commitment: Digest(reinterpreting: run.device))
        #expect(throws: RunRejection.unproven) { try verify(run) }
    }

    @Test("Attack 14: another device's signature proves nothing")
    func foreignHead() throws {
        var run = try desk.run(0...2, of: ann, heads: [])
        run.heads = try desk.run(0...2, of: ben, heads: [2]).heads
        #expect(throws: RunRejection.unproven) { try verify(run) }
        var renamed = try desk.run(0...2, of: ann, heads: [2])
        renamed.device = ben.device
        #expect(throws: RunRejection.unproven) { try verify(renamed) }
    }

    @Test("Attack 18: operations of one space or lane prove nothing in another")
    func moved() throws {
        var run = try desk.run(0...9, of: ann, heads: [9])
        #expect(throws: RunRejection.unproven) {
            try OperationVerifier.verify(run, in: Desk.spaceID(2), held: [])
        }
        run.lane = .shared
        #expect(throws: RunRejection.unproven) { try verify(run) }
    }

    @Test("Attack 15: what no signature reaches is left out")
    func unsignedTail() throws {
        #expect(try places(verify(desk.run(0...9, of: ann, heads: [6]))) == [0...6])
        #expect(throws: RunRejection.unsigned) {
            try verify(desk.run(0...9, of: ann, heads: []))
        }
        // The signature lies in what is held already: it says nothing of what follows.
        #expect(throws: RunRejection.unsigned) {
            try verify(desk.run(0...9, of: ann, heads: [3]), held: [0...3])
        }
    }

    @Test("a third stretch of a log is not begun before the hole is closed")
    func secondGap() throws {
        let top = try desk.run(25...29, of: ann, heads: [29], bringsAnchor: true)
        #expect(throws: RunRejection.wouldLeaveGap) { try verify(top, held: [0...3, 10...14]) }
        let between = try desk.run(6...7, of: ann, heads: [7], bringsAnchor: true)
        #expect(throws: RunRejection.wouldLeaveGap) { try verify(between, held: [0...3, 10...14]) }
        #expect(throws: RunRejection.wouldLeaveGap) { try verify(between, held: [10...14]) }
    }

    /// A member could send two stretches above the beginning and then the beginning itself: the
    /// third stretch broke the log's own rule and ended the process.
    @Test("the beginning of a log is no third stretch either")
    func beginningAsThird() throws {
        let start = try desk.run(0...2, of: ann, heads: [2])
        #expect(try places(verify(start, held: [10...14])) == [0...2])
        #expect(throws: RunRejection.wouldLeaveGap) { try verify(start, held: [10...14, 20...24]) }
        let joining = try desk.run(0...9, of: ann, heads: [])
        #expect(try places(verify(joining, held: [10...14, 20...24])) == [0...9])
    }
}

@Suite("Forks")
struct ForkTests {
    /// The database of a device was copied: both copies write on.
    private func forked() throws -> (desk: Desk, copy: Desk, key: DeviceSigningKey) {
        let desk = try Desk(seed: 2)
        let key = desk.key()
        let copy = try Desk(seed: 2)
        _ = copy.key()
        for each in [desk, copy] { try each.write(5, by: key) }
        #expect(try desk.id(4, of: key) == copy.id(4, of: key))
        for byte in 0..<5 as Range<UInt8> {
            try desk.write([Desk.draft(byte)], by: key)
            try copy.write([Desk.draft(byte + 100)], by: key)
        }
        return (desk, copy, key)
    }

    @Test("a signature over the other branch is evidence that anybody can check")
    func proven() throws {
        let (desk, copy, key) = try forked()
        let run = try copy.run(0...9, of: key, heads: [9])
        let held = [try desk.span(0...9, of: key)]
        // Held as a whole, a duplicate is not looked at; beyond the tip it shows.
        #expect(try OperationVerifier.verify(run, in: desk.space.id, held: held).isEmpty)
        let shorter = [try desk.span(0...7, of: key)]
        let failure = #expect(throws: RunRejection.self) {
            try OperationVerifier.verify(run, in: desk.space.id, held: shorter)
        }
        #expect(failure == .forked(at: 7))
    }

    @Test("Attack 19: two signed branches from where they part are proof to anybody")
    func evidence() throws {
        let (desk, copy, key) = try forked()
        let left = try desk.run(5...5, of: key, heads: [5], bringsAnchor: true)
        let right = try copy.run(5...8, of: key, heads: [8], bringsAnchor: true)
        let proof = ForkProof(space: desk.space.id, left: left, right: right)
        let evidence = try #require(ForkEvidence(proof))
        #expect(evidence.sequence == 5)
        #expect(try evidence.anchor == desk.id(4, of: key))
        #expect(ForkEvidence(stored: proof) == evidence)
        #expect(try Frame.decode(Frame.fork(proof).encoded()) == .fork(proof))
    }

    @Test("Attack 20: a second first operation takes nothing from the one that names the space")
    func secondBeginning() throws {
        var random = SeededRandom(seed: 3)
        let key = DeviceSigningKey.generate(using: &random)
        let draft = Draft(
            kind: OperationKind(rawValue: 1), lane: .control, payload: [1], isErasable: false)
        func run(_ draft: Draft, in space: SpaceID, at time: UInt64) throws -> Run {
            let store = MemoryStore()
            try store.begin(.full)
            let record = try store.addSpace(space, kind: .group)
            let author = LogAuthor(key: key, space: record, authority: 0, wallClock: time)
            let applied = try author.append([draft], to: store, using: &random)
            let log = try #require(applied.first?.log)
            return Run(
                device: key.device, lane: .control, first: 0, anchor: nil,
                operations: applied.map(\.operation.operation),
                heads: try store.heads(in: log.number, 0...0))
        }
        let space = draft.space(begunAt: 7)
        let first = try run(draft, in: space, at: 7)
        #expect(OperationHash.space(begunBy: first.operations[0]) == space)
        let later = try run(draft, in: space, at: 8)
        #expect(ForkEvidence(ForkProof(space: space, left: first, right: later)) == nil)
        // Of a log that begins no space two first operations are a fork like any other.
        let third = try run(draft, in: space, at: 9)
        let evidence = ForkEvidence(ForkProof(space: space, left: later, right: third))
        #expect(evidence?.sequence == 0)
    }

    @Test("what proves no fork is no evidence")
    func noEvidence() throws {
        let (desk, copy, key) = try forked()
        let space = desk.space.id
        let left = try desk.run(5...5, of: key, heads: [5], bringsAnchor: true)
        let right = try copy.run(5...8, of: key, heads: [8], bringsAnchor: true)
        var unsigned = right
        unsigned.heads = []
        var moved = right
        moved.first = 6
        var uprooted = right
        uprooted.anchor = try copy.id(5, of: key)
        var foreign = right
        foreign.lane = .shared
        let early = try copy.run(5...8, of: key, heads: [7], bringsAnchor: true)
        let high = try copy.run(6...8, of: key, heads: [8], bringsAnchor: true)
        let longer = try desk.run(5...6, of: key, heads: [6], bringsAnchor: true)
        for other in [left, longer, unsigned, moved, uprooted, foreign, early, high] {
            #expect(ForkEvidence(ForkProof(space: space, left: left, right: other)) == nil)
        }
    }

    @Test("above a proven fork nothing is taken, and right below it the proof vouches")
    func cut() throws {
        let (desk, copy, key) = try forked()
        let fork = LogPoint(sequence: 5, anchor: try desk.id(4, of: key))
        let run = try copy.run(0...9, of: key, heads: [9])
        let new = try OperationVerifier.verify(run, in: desk.space.id, held: [], bound: fork)
        #expect(new.map(\.last) == [4])
        let unsigned = try desk.run(2...4, of: key, heads: [], bringsAnchor: true)
        let held = [try desk.span(0...1, of: key)]
        let rest = try OperationVerifier.verify(
            unsigned, in: desk.space.id, held: held, bound: fork)
        #expect(rest.map(\.first) == [2])
        let branch = [try desk.span(0...7, of: key)]
        #expect(
            try OperationVerifier.verify(run, in: desk.space.id, held: branch, bound: fork).isEmpty)
    }

    @Test("without a signature a difference proves nothing against anybody")
    func unproven() throws {
        let (desk, copy, key) = try forked()
        let run = try copy.run(5...9, of: key, heads: [], bringsAnchor: true)
        let held = [try desk.span(0...7, of: key)]
        #expect(throws: RunRejection.unproven) {
            try OperationVerifier.verify(run, in: desk.space.id, held: held)
        }
    }

    @Test("another branch is not glued to what is held, even where the places fit")
    func gluing() throws {
        let (desk, copy, key) = try forked()
        var log = try #require(try desk.log(of: key))
        log.spans = [try desk.span(0...6, of: key)]
        let run = try copy.run(0...9, of: key, heads: [9])
        let whole = try #require(
            try OperationVerifier.verify(run, in: desk.space.id, held: []).first)
        let rest = try #require(whole.droppingFirst(7))
        #expect(!log.canHold(rest))
        let own = try desk.run(0...9, of: key, heads: [9])
        let ours = try #require(
            try OperationVerifier.verify(own, in: desk.space.id, held: []).first)
        #expect(log.canHold(try #require(ours.droppingFirst(7))))
    }
}
