import ParleyCheckers
import ParleyLedger
import ParleyNodeCore
import ParleyWire
import Testing

@testable import ParleySimulation

/// Between deaths and the end, promises are judged by what changed.
@Suite("A look at what changed")
struct LookTests {
    private let world = World(seed: 5)
    private let ann: SimulatedNode
    private let ben: SimulatedNode
    private let trip: SpaceID

    init() throws {
        (ann, ben) = (try world.addNode("ann"), try world.addNode("ben"))
        trip = try world.group("trip", [ann, ben])
        try ann.type("the train leaves at nine", in: trip)
        world.run(for: 5_000)
    }

    private func checkCount(_ jury: Jury) -> Int {
        jury.checkers.reduce(0) { $0 + $1.checkCount }
    }

    /// Changes the log of what ann wrote, in ben's store, as no core would.
    private func meddle(_ change: (inout LogRecord, any SimulatedStore) throws -> Void) throws {
        let store = ben.store
        let space = try #require(try store.space(trip))
        var log = try #require(
            try store.logs(in: space.number).first {
                $0.lane == .content && $0.device == ann.identity.device
            })
        try store.begin(.full)
        try change(&log, store)
        try store.commit()
    }

    @Test("costs nothing where nothing was stored")
    func quiet() throws {
        let jury = Jury(of: world, only: ["I1", "I4"])
        jury.look(at: world)
        let count = checkCount(jury)
        #expect(count > 0)
        jury.look(at: world)
        #expect(checkCount(jury) == count)
        try ann.type("bring the map", in: trip)
        jury.look(at: world)
        #expect(checkCount(jury) > count)
        #expect(jury.verdict == nil)
    }

    @Test("finds a record that begins to claim what is not stored")
    func claims() throws {
        let jury = Jury(of: world, only: ["I4"])
        jury.look(at: world)
        #expect(jury.verdict == nil)
        try meddle { log, store in
            log.spans[0].last += 1
            try store.update(log)
        }
        jury.look(at: world)
        #expect(jury.verdict?.invariant == "I4")
    }

    @Test("finds a record that no longer tells how the log begins")
    func anchors() throws {
        let jury = Jury(of: world, only: ["I4"])
        jury.look(at: world)
        try meddle { log, store in
            log.spans[0].anchor = log.spans[0].tip
            try store.update(log)
        }
        jury.look(at: world)
        #expect(jury.verdict?.invariant == "I4")
    }

    @Test("takes a lost payload for a liar's doing only until an honest member was asked")
    func bodies() throws {
        try meddle { log, store in
            let stored = try #require(try store.operation(at: log.end - 1, in: log.number))
            let commitment = try #require(OperationHash.commitment(of: stored.operation))
            try store.erase(stored.number, commitment: commitment)
        }
        #expect(try !world.mayShowAnother(ann, ben, in: trip, isSettled: false))
        let eve = try world.addNode("eve")
        world.withhold(eve)
        #expect(try world.mayShowAnother(ann, ben, in: trip, isSettled: false))
        #expect(try !world.mayShowAnother(ann, ben, in: trip, isSettled: true))
        world.cut(ann, ben)
        world.run(for: 1_000)
        #expect(try world.mayShowAnother(ann, ben, in: trip, isSettled: true))
    }
}
