import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyWire
import Testing

@testable import ParleySimulation

/// Dan leaves a group out of which, as far as he knows, ben was removed. Ann, who has let ben in again,
/// has blocked him since.
@Suite("Who leaves unheard")
struct UnheardLeavingTests {
    let world = World(seed: 88)
    let ann, ben, dan: SimulatedNode
    let trip: SpaceID

    init() throws {
        (ann, ben) = (try world.addNode("ann"), try world.addNode("ben"))
        dan = try world.addNode("dan")
        // Where there is one, who is out can tell others so by letter.
        _ = world.addRelay("shed")
        try world.introduce([ann, ben])
        try world.introduce([ann, dan])
        trip = try world.group("trip", [ann, ben, dan])
        try world.runUntilEqual(within: .minutes(5))
        try ann.perform(.removeMember(trip, ben.identity.person))
        try world.runUntilEqual(within: .minutes(5))
        // Dan does not come to hear that ben is in again, and ann hears that dan is out.
        world.cut(ben, dan)
        world.block(from: ann, to: dan)
        try ann.perform(.addMember(trip, ben.identity.person, .member))
        world.run(for: .seconds(5))
    }

    private func takesForMember(_ other: SimulatedNode, _ node: SimulatedNode) throws -> Bool {
        guard let space = try node.store.space(trip) else { return false }
        return try node.roster(of: space)?.takesPart(other.identity.person) == true
    }

    @Test("is not missed by whom nobody can tell it, and is by whom somebody can")
    func unheard() throws {
        try ann.perform(.answerContact(ben.identity.person, .block))
        try dan.perform(.leave(trip))
        world.run(for: .seconds(5))
        world.reset(ann, dan)
        world.heal(ann, dan)
        world.run(for: .minutes(2))
        #expect(try !takesForMember(dan, ann))
        #expect(try takesForMember(dan, ben), "nobody has told ben")
        #expect(try world.difference == nil)
        try ann.perform(.answerContact(ben.identity.person, .unblock))
        #expect(try world.difference != nil, "ann can tell ben now")
        try world.runUntilEqual(within: .minutes(15))
        #expect(try !takesForMember(dan, ben))
    }
}
