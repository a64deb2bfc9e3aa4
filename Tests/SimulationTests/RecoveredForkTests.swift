import ParleyCheckers
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySealing
import ParleyWire
import Testing

@testable import ParleySimulate
@testable import ParleySimulation

/// An old copy of ann's disk went on: ben has read what she wrote before that, cara what the copy wrote.
/// Ann comes back by her recovery code.
@Suite("Who comes back after a fork")
struct RecoveredForkTests {
    let world = World(seed: 23)
    let ann, ben, cara: SimulatedNode
    let trip: SpaceID
    let jury: Jury

    init() throws {
        (ann, ben) = (try world.addNode("ann"), try world.addNode("ben"))
        cara = try world.addNode("cara")
        jury = Jury(of: world)
        try world.introduce(ben, cara)
        try world.introduce(ann, cara)
        world.run(for: .minutes(1))
        trip = try world.group("trip", [ann, ben, cara])
        try ann.type("one", in: trip)
        world.run(for: .seconds(10))
        let copy = ann.backUp()
        world.partition([ann, ben], [cara])
        try ann.type("two", in: trip)
        try ann.type("three", in: trip)
        world.run(for: .seconds(10))
        world.heal()
        world.partition([ann, cara], [ben])
        world.restore(ann, from: copy)
        ann.distrust()
        try ann.type("of the copy", in: trip)
        world.run(for: .minutes(2))
        #expect(try cara.texts(in: trip) == ["one", "of the copy"])
    }

    private func verifyKept(on next: SimulatedNode) throws {
        try world.runUntilEqual(within: .minutes(30))
        world.run(for: .minutes(2))
        try next.type("here again", in: trip)
        try world.runUntilEqual(within: .minutes(30))
        for node in [next, ben, cara] {
            #expect(
                try node.texts(in: trip) == ["one", "two", "three", "here again"], "\(node.name)")
        }
        try jury.verify(isSettled: true)
    }

    @Test("takes nothing from who told who they were, and all others come to show the same")
    func code() throws {
        world.heal()
        world.run(for: .minutes(2))
        let (bens, caras) = (try ben.texts(in: trip), try cara.texts(in: trip))
        #expect(bens == ["one", "two", "three"])
        #expect(caras == ["one", "of the copy"])
        #expect(try ben.store.forks().count == 1)
        world.crash(ann)
        world.partition([ben], [cara])
        let next = try world.recover("next", of: ann, helpedBy: ben)
        world.partition([next], [cara])
        world.run(for: .minutes(2))
        #expect(try next.texts(in: trip) == ["one", "two", "three"])
        world.heal()
        try verifyKept(on: next)
        // As after a start, and from what is kept.
        world.crash(ben)
        world.start(ben)
        world.run(for: .minutes(2))
        let backup = try next.makeBackup()
        world.crash(next)
        let last = try world.recover("last", of: next, from: backup)
        try world.runUntilEqual(within: .minutes(30))
        let kept = ["one", "two", "three", "here again"]
        for node in [last, ben, cara] { #expect(try node.texts(in: trip) == kept, "\(node.name)") }
    }

    /// Nobody knows of the fork before what the copy held meets what ben holds.
    @Test("with a backup of the copy takes what others have read")
    func backup() throws {
        let backup = try ann.makeBackup()
        world.crash(ann)
        world.heal()
        world.partition([ben], [cara])
        let next = try world.recover("next", of: ann, from: backup)
        world.partition([next], [cara])
        world.run(for: .minutes(3))
        #expect(try ben.texts(in: trip) == ["one", "two", "three"])
        world.heal()
        try verifyKept(on: next)
    }

    @Test("Attack 172: names no branch that the lost device did not sign")
    func unsigned() throws {
        world.heal()
        world.run(for: .minutes(2))
        world.crash(ann)
        world.partition([ben], [cara])
        let next = try world.recover("next", of: ann, helpedBy: ben)
        let space = try #require(try ben.store.space(trip))
        let device = ann.identity.device
        let log = try #require(
            try ben.store.logs(in: space.number).first {
                $0.device == device && $0.lane == .content
            })
        let signed = try #require(try ben.store.heads(in: log.number, 0...log.end - 1).last)
        let other = try #require(
            try ben.store.operation(at: signed.sequence, in: log.number)?.id)
        let signature = signed.signature
        func tell(_ place: UInt64, _ operation: OperationID) {
            var frontier = Frontier(
                space: trip, isComplete: false, asksForMissing: false, entries: [])
            frontier.ownTips = [
                .init(tag: log.tag, sequence: place, operation: operation, signature: signature)
            ]
            world.inject(.frontier(frontier), from: ben, to: next)
        }
        for _ in 0..<40 {
            world.run(for: .milliseconds(500))
            tell(signed.sequence + 7, other)
            tell(signed.sequence, OperationID(reinterpreting: log.id))
        }
        world.run(for: .minutes(2))
        let known = try #require(try next.store.space(trip))
        let roster = try #require(try RosterReader.roster(of: known, in: next.store))
        #expect(
            roster.limit(of: device, lane: .content) == .through(signed.sequence, other))
        #expect(try next.texts(in: trip) == ["one", "two", "three"])
    }
}
