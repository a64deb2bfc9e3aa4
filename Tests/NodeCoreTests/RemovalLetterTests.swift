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

    /// Who knows nobody in it any more asks whoever takes them for a member what they do not know.
    @Test("and let in again by who was out by then hears that it is void from who left meanwhile")
    func left() throws {
        let world = World(seed: 53_000_198)
        let relay = world.addRelay("relay")
        let nodes = try ["ann", "ben", "cara"].map { try world.addNode($0) }
        for node in nodes { try world.use(relay, by: node) }
        let (ann, ben, cara) = (nodes[0], nodes[1], nodes[2])
        for (one, other) in [(ann, ben), (ann, cara), (ben, cara)] {
            _ = try world.introduce(one, other)
        }
        let others = [ben.identity.person, cara.identity.person]
        let reply = try world.perform(.createGroup(name: "trip", members: others), on: ann)
        guard case .space(let number) = reply, let group = try ann.store.space(number)?.id else {
            throw CommandRefusal.unknownConversation
        }
        world.run(for: 10_000)
        _ = try world.perform(.setRole(group, cara.identity.person, .admin), on: ann)
        world.run(for: 10_000)
        _ = try world.perform(.removeMember(group, ben.identity.person), on: cara)
        world.run(for: 60_000)
        world.isolate(ann)
        _ = try world.perform(.addMember(group, ben.identity.person, .member), on: cara)
        world.run(for: 10_000)
        _ = try world.perform(.leave(group), on: cara)
        world.run(for: 10_000)
        world.stopProcess(of: cara)
        _ = try world.perform(.removeMember(group, cara.identity.person), on: ann)
        _ = try world.perform(.leave(group), on: ann)
        world.keepToRelays()
        world.heal()
        world.wipe(relay)
        try world.type("who is left?", on: ben, in: group)
        world.run(for: 4 * 3_600_000)
        try ben.observed {
            let record = try #require(try ben.store.space(group))
            let roster = try RosterReader.roster(of: record, in: ben.store)
            #expect(roster?.takesPart(ben.identity.person) == false)
        }
    }
}
