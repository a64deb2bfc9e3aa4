import ParleyCheckers
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySimulation
import ParleyWire
import Testing

/// Ben takes back what he wrote, and has not heard what ann did meanwhile: his deletion does not count,
/// and he has erased the text.
@Suite("A text that a void deletion took along")
struct VoidDeletionTests {
    enum Deed: CaseIterable, Sendable {
        case removeAndAdd
        case makeReader
    }

    private func perform(_ deed: Deed, in space: SpaceID, of world: World) throws {
        let (ann, ben) = (world.nodes[0], world.nodes[1].identity.person)
        switch deed {
        case .removeAndAdd:
            _ = try world.perform(
                .changeSettings(space, SpaceSettings(history: .all)), on: ann)
            _ = try world.perform(.removeMember(space, ben), on: ann)
            world.run(for: 1_000)
            _ = try world.perform(.addMember(space, ben, .member), on: ann)
        case .makeReader: _ = try world.perform(.setRole(space, ben, .reader), on: ann)
        }
    }

    @Test("may be missing until somebody was asked for it, no longer", arguments: Deed.allCases)
    func restored(deed: Deed) throws {
        let world = World(seed: 5)
        let (ann, ben) = (try world.addNode("ann"), try world.addNode("ben"))
        let trip = try world.group("trip", [ann, ben])
        try ben.type("the train leaves at nine", in: trip)
        world.run(for: 5_000)
        world.cut(ann, ben)
        try perform(deed, in: trip, of: world)
        try ben.delete("the train leaves at nine", in: trip)
        let jury = Jury(of: world, only: ["I1"])
        world.heal()
        var wasMissing = false
        for _ in 0..<1_200 {
            world.run(for: 500)
            jury.look(at: world)
            guard try world.mayShowAnother(ann, ben, in: trip, isSettled: false) else { continue }
            wasMissing = true
            // Nobody is brought anything before they have accepted to be in it again.
            let space = try #require(try ben.store.space(trip))
            guard try ben.belongs(to: space) else { continue }
            #expect(try !world.mayShowAnother(ann, ben, in: trip, isSettled: true))
        }
        #expect(wasMissing)
        #expect(jury.verdict == nil)
        for node in [ann, ben] {
            #expect(try node.texts(in: trip) == ["the train leaves at nine"])
        }
    }
}
