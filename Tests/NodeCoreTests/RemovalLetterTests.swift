import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySimulation
import ParleyWire
import Testing

@Suite("Who was removed where only a relay leads")
struct RemovalLetterTests {
    /// Cara made a group of ann and ben, who know each other from there alone, and left it.
    private struct Remainder {
        let world = World(seed: 315)
        let ann: SimulatedNode
        let ben: SimulatedNode
        let dan: SimulatedNode
        let relay: SimulatedRelay
        let group: SpaceID

        init() throws {
            let cara = try world.addNode("cara")
            (ann, ben, dan) = (
                try world.addNode("ann"), try world.addNode("ben"), try world.addNode("dan")
            )
            relay = world.addRelay("relay")
            for node in [cara, ann, ben, dan] { try world.use(relay, by: node) }
            for node in [ann, ben] { _ = try world.introduce(cara, node) }
            _ = try world.introduce(ann, dan)
            let others = [ann.identity.person, ben.identity.person]
            let reply = try world.perform(.createGroup(name: "trip", members: others), on: cara)
            guard case .space(let number) = reply, let space = try cara.store.space(number) else {
                throw CommandRefusal.unknownConversation
            }
            group = space.id
            world.run(for: 10_000)
            _ = try world.perform(.setRole(group, ann.identity.person, .owner), on: cara)
            world.run(for: 10_000)
            world.keepToRelays()
            world.run(for: 60_000)
            _ = try world.perform(.leave(group), on: cara)
            world.run(for: 60_000)
        }

        /// Whether somebody is in the group, by what a node holds.
        func isIn(_ node: SimulatedNode, by other: SimulatedNode) throws -> Bool {
            try other.observed {
                let record = try #require(try other.store.space(group))
                let roster = try RosterReader.roster(of: record, in: other.store)
                return roster?.takesPart(node.identity.person) == true
            }
        }
    }

    @Test(
        "hears of it though the relay lost it, and they may write to nobody who is in",
        arguments: [true, false])
    func lost(hasEpoch: Bool) throws {
        let left = try Remainder()
        let (world, ann, ben) = (left.world, left.ann, left.ben)
        if hasEpoch {
            try world.type("who is left?", on: ben, in: left.group)
            world.run(for: 60_000)
        }
        // No right to write to ann holds any more, and ben is not given the new one.
        _ = try world.perform(.answerContact(left.dan.identity.person, .block), on: ann)
        left.relay.lossEvery = 1
        _ = try world.perform(.removeMember(left.group, ben.identity.person), on: ann)
        world.run(for: 30_000)
        left.relay.lossEvery = 0
        #expect(try !left.isIn(ben, by: ann))
        #expect(try left.isIn(ben, by: ben))
        world.run(for: 2 * 3_600_000)
        #expect(try !left.isIn(ben, by: ben))
    }
}
