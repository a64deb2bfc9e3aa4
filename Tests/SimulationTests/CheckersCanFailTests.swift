import Foundation
import ParleyConversation
import ParleyNodeCore
import ParleySimulatedDisk
import ParleyStorage
import ParleyWire
import Testing

@testable import ParleyCheckers
@testable import ParleyLedger
@testable import ParleySimulation

/// A checker that cannot fail proves nothing: here each of them does.
@Suite("A promise that is broken is seen broken")
struct CheckersCanFailTests {
    @Test("each of them is broken here", arguments: Jury.invariants)
    func all(invariant: String) throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let tests = try [
            "", "+Members", "+Relays", "+Calls", "+Deeds", "+Rights", "+Events", "+Files", "+Later",
        ].map {
            try String(
                contentsOf: folder.appendingPathComponent("CheckersCanFailTests\($0).swift"),
                encoding: .utf8)
        }
        #expect(tests.joined().contains("Trial(of: \"\(invariant)\""))
    }

    @Test("SameViewEverywhere: one of two with the same operations shows another receipt")
    func sameViewEverywhere() throws {
        let trial = try Trial(of: "I1")
        try trial.inventReceipt(at: trial.ben)
        trial.isBroken(isSettled: false)
    }

    @Test("Convergence: one lacks what the other wrote")
    func convergence() throws {
        let trial = try Trial(of: "I2")
        trial.world.cut(trial.ann, trial.ben)
        try trial.ann.type("anybody there?", in: trial.trip)
        trial.isBroken()
    }

    @Test("SavedSurvives: an old disk takes the place of one that held a message")
    func savedSurvives() throws {
        let trial = try Trial(of: "I3")
        let copy = trial.ann.backUp()
        try trial.ann.type("saved", in: trial.trip)
        trial.ann.setBack(to: copy)
        trial.world.restart(trial.ann)
        trial.isBroken(isSettled: false)
    }

    @Test("CausesPresent: a record claims an operation that is not stored")
    func spansClaimTooMuch() throws {
        let trial = try Trial(of: "I4")
        try trial.meddle(with: trial.ben) { store, space in
            var log = try #require(try store.logs(in: space.number).first { $0.lane == .content })
            log.spans[0].last += 1
            try store.update(log)
        }
        trial.isBroken(isSettled: false)
    }

    @Test("CausesPresent: an operation is stored before what it names")
    func causesPresent() throws {
        let trial = try Trial(of: "I4")
        trial.world.cut(trial.ann, trial.ben)
        try trial.ann.type("first", in: trial.trip)
        let cara = try trial.world.addNode("cara")
        let number = try trial.number(of: "from which platform?", at: trial.ann)
        let answer = try #require(try trial.ann.store.operation(number))
        let log = try #require(try trial.ann.store.log(answer.log))
        try cara.store.begin(.full)
        let space = try cara.store.addSpace(trial.trip, kind: .group)
        var copy = try cara.store.addLog(
            log.id, device: log.device, lane: log.lane, in: space.number)
        let operation = VerifiedOperation(stored: answer, tag: log.tag)
        _ = try cara.store.insert([operation], in: copy.number)
        copy.spans = log.spans
        try cara.store.update(copy)
        try cara.store.commit()
        trial.world.run(for: 60_000)
        try cara.perform(.setProfile(name: "cara", addresses: nil))
        trial.isBroken(isSettled: false)
    }

    @Test("RedeliveryHarmless: views lack what an operation says that comes again")
    func redeliveryHarmless() throws {
        let trial = try Trial(of: "I5")
        for node in trial.world.nodes {
            try trial.meddle(with: node) { store, space in
                try store.clearViews(of: space.number)
            }
        }
        trial.isBroken()
    }

    @Test("RebuiltViewsEqual: a receipt is shown that no operation gave")
    func rebuiltViewsEqual() throws {
        let trial = try Trial(of: "I6")
        try trial.inventReceipt(at: trial.ann)
        trial.isBroken()
    }

    @Test("AcknowledgedIsDurable: what is not on the disk was acknowledged")
    func acknowledgedIsDurable() throws {
        let trial = try Trial(of: "I7")
        let space = try #require(try trial.ben.store.space(trial.trip))
        let log = try #require(
            try trial.ben.store.logs(in: space.number).first { $0.lane == .content })
        let told = Acknowledgement(
            space: space.id,
            entries: [.init(tag: log.tag, sequence: log.end, check: log.tip.check)])
        trial.world.onStep?(
            StepReport(
                node: trial.ben, input: .madeDurable,
                effects: [.send(LinkID(1), Frame.acknowledge(told).encoded())], isLost: false))
        trial.world.restart(trial.ben, losingPower: true)
        trial.isBroken(isSettled: false)
    }

    @Test("AcknowledgedIsDurable: a receipt tells of what the device does not hold")
    func receiptsAreTrue() throws {
        let trial = try Trial(of: "I7")
        try trial.inventReceipt(.delivered, at: trial.ben)
        trial.isBroken(isSettled: false)
    }

    @Test("NoPlaintextOnDisk: a text is written that stands in every database")
    func noPlaintextOnDisk() throws {
        let trial = try Trial(of: "I8", on: .sqlite)
        try trial.ann.type("SQLite format 3", in: trial.trip)
        trial.isBroken()
    }

    @Test("OneOperationAPlace: a device that forgot what it wrote writes there again")
    func oneOperationAPlace() throws {
        let trial = try Trial(of: "I10")
        trial.world.isolate(trial.ann)
        let copy = trial.ann.backUp()
        try trial.ann.type("one", in: trial.trip)
        trial.ann.setBack(to: copy)
        trial.world.restart(trial.ann)
        try trial.ann.type("two", in: trial.trip)
        trial.isBroken(isSettled: false)
    }

    @Test("EvidenceSpreads: one has forgotten where a liar's histories part")
    func evidenceSpreads() throws {
        let trial = try Trial(of: "I11")
        let cara = try trial.world.addNode("cara")
        let all = try trial.world.group("all", [trial.ann, trial.ben, cara])
        #expect(try trial.world.equivocate(cara, in: all))
        trial.world.run(for: 300_000)
        try trial.jury.verify(isSettled: true)
        let proof = try #require(try trial.ann.store.forks().first).proof
        let store = trial.ben.store
        let space = try #require(try store.space(proof.space))
        var log = try #require(try store.logs(in: space.number).first { $0.fork != nil })
        log.proven = nil
        try store.begin(.full)
        try store.update(log)
        try store.commit()
        trial.isBroken()
    }

    @Test("QueuesStayBounded: more is under way on a link than any credit allows")
    func queuesStayBounded() throws {
        let trial = try Trial(of: "I12")
        trial.world.flightByteCountMax = QueuesStayBounded.flightByteCountMax + 1
        trial.isBroken(isSettled: false)
    }

    @Test("NoStorms: a heal costs much more than what was missing")
    func healIsCheap() throws {
        let trial = try Trial(of: "I13")
        for case let storms as NoStorms in trial.jury.checkers { try storms.begin(trial.world) }
        trial.world.honestByteCount += 10 << 20
        trial.isBroken()
    }

    @Test("NoStorms: what is forgotten in a heal makes nothing of what was missing cheaper")
    func forgottenIsNoGain() throws {
        let trial = try Trial(of: "I13")
        let (ann, ben) = (trial.ann.identity.device, trial.ben.identity.device)
        let tags = try trial.ann.eachSpace().flatMap { $0.logs.map(\.tag) }
        let before = [ann: [tags[0]: 1_000_000, tags[1]: 10], ben: [tags[0]: 5]]
        let now = [ann: [tags[1]: 30], ben: [tags[0]: 5, tags[1]: 30]]
        #expect(NoStorms.gain(from: before, to: now) == 50)
        #expect(NoStorms.gain(from: now, to: now) == 0)
    }

    @Test("NoStorms: nodes that are equal go on talking")
    func noStorms() throws {
        let trial = try Trial(of: "I13")
        for case let storms as NoStorms in trial.jury.checkers { try storms.begin(trial.world) }
        let world = trial.world
        world.onEvent = { [weak world] _ in world?.honestByteCount += 10 << 10 }
        trial.isBroken()
    }

    @Test("NoStorms: a list of all tips leaves one out")
    func tipsAreComplete() throws {
        let trial = try Trial(of: "I13")
        let told = Frontier(
            space: trial.trip, isComplete: true, asksForMissing: true, entries: [])
        trial.world.onStep?(
            StepReport(
                node: trial.ann, input: .networkChanged,
                effects: [.send(LinkID(1), Frame.frontier(told).encoded())], isLost: false))
        trial.isBroken(isSettled: false)
    }

    @Test("NaiveModelAgrees: what was silenced is loud")
    func ownSpaceAgrees() throws {
        let trial = try Trial(of: "I14")
        try trial.ann.perform(.mute(trial.trip, isOn: true))
        let own = try #require(try trial.ann.store.spaces().first { $0.kind == .own })
        try trial.meddle(with: trial.ann) { store, _ in try store.clearViews(of: own.number) }
        trial.isBroken()
    }

    @Test("NaiveModelAgrees: a message is shown as deleted that nobody deleted")
    func naiveModelAgrees() throws {
        let trial = try Trial(of: "I14")
        try trial.meddle(with: trial.ben) { store, space in
            var row = try #require(
                try store.messages(in: space.number, before: nil, limit: 1).first)
            row.flags = .deleted
            try store.update(row)
        }
        trial.isBroken()
    }

    @Test("NaiveModelAgrees: a deleted message is only hidden")
    func deletedIsErased() throws {
        let trial = try Trial(of: "I14")
        let number = try trial.number(of: "from which platform?", at: trial.ann)
        let stored = try #require(try trial.ann.store.operation(number))
        let log = try #require(try trial.ann.store.log(stored.log))
        try trial.ben.delete("from which platform?", in: trial.trip)
        trial.world.run(for: 5_000)
        try trial.meddle(with: trial.ann) { store, _ in
            try store.restore(VerifiedOperation(stored: stored, tag: log.tag), in: number)
        }
        trial.isBroken()
    }

    @Test("ErasedIsGone: the sealed bytes of a deleted message lie about in a file")
    func erasedIsGone() throws {
        let trial = try Trial(of: "I15", on: .sqlite)
        try trial.ann.type("burn after reading", in: trial.trip)
        let number = try trial.number(of: "burn after reading", at: trial.ann)
        let sealed = try #require(try trial.ann.store.sealedPayload(of: number))
        try trial.ann.delete("burn after reading", in: trial.trip)
        trial.world.run(for: 5_000)
        let disk = try #require(trial.ann.store as? SQLiteStore).faultDisk
        try disk.replace("backup", with: sealed)
        trial.isBroken()
    }
}
