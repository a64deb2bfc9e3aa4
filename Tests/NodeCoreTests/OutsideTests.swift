import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyNodeCore

/// What a person still does with a conversation that they are out of.
@Suite("Out of a conversation")
struct OutsideTests {
    private func unread(_ node: SimulatedNode, in village: Village) throws -> Int {
        let (record, roster) = (try village.record(node), try village.roster(node))
        return try node.observed {
            try Overview.unreadCount(
                of: record, roster: roster, ownPerson: node.identity.person,
                ownSpace: node.core.ownSpace?.number, in: node.store)
        }
    }

    private func read(_ texts: [String], _ node: SimulatedNode, in village: Village) throws {
        let numbers = try node.messages(in: village.group)
            .filter { texts.contains($0.text ?? "") }.map(\.number)
        try village.perform(.markRead(village.group, ShownMessages(numbers)), node)
    }

    @Test("what was not read can be read, on all devices, and what nobody saw is not")
    func reading() throws {
        let village = try Village(seed: 921)
        let (world, ben) = (village.world, village.ben)
        let phone = try world.addDevice("phone", of: ben)
        world.run(for: 60_000)
        for text in ["one", "two", "three", "four"] { try village.type(text, village.ann) }
        world.run(for: 20_000)
        #expect(try unread(ben, in: village) == 4)
        try read(["one"], ben, in: village)
        try village.perform(.leave(village.group), ben)
        world.run(for: 60_000)
        #expect(try unread(ben, in: village) == 3 && unread(phone, in: village) == 3)
        try read(["four"], ben, in: village)
        #expect(try unread(ben, in: village) == 3, "two and three were not shown")
        try read(["two", "four"], ben, in: village)
        #expect(try unread(ben, in: village) == 2)
        try read(["three", "four"], ben, in: village)
        world.run(for: 60_000)
        #expect(try unread(ben, in: village) == 0 && unread(phone, in: village) == 0)
        world.restart(ben)
        world.run(for: 60_000)
        #expect(try unread(ben, in: village) == 0)
    }

    @Test("what was on its way while somebody was taken out is nobody's fault")
    func crossing() throws {
        let village = try Village(seed: 922)
        let (world, ann, ben) = (village.world, village.ann, village.ben)
        let phone = try world.addDevice("phone", of: ben)
        world.run(for: 60_000)
        // Neither has heard that it is out when it writes.
        world.partition([ann], [ben, phone, village.cara, village.dora])
        try village.remove(ben, by: ann)
        try village.type("am I still here?", ben)
        try village.type("so am I", phone)
        village.settle()
        #expect(try village.members(ann) == ["ann", "cara", "dora"])
        #expect(try ann.count(.foreignSpace) == 0)
    }

    @Test("what is lost since its author's leaving came first is counted")
    func lost() throws {
        let world = World(seed: 923)
        let relay = world.addRelay("relay")
        let nodes = try ["ann", "ben", "cara"].map { try world.addNode($0) }
        for node in nodes { try world.use(relay, by: node) }
        let (ann, ben, cara) = (nodes[0], nodes[1], nodes[2])
        for other in [ben, cara] { _ = try world.introduce(ann, other) }
        let reply = try world.perform(
            .createGroup(name: "trip", members: [ben.identity.person]), on: ann)
        guard case .space(let number) = reply, let trip = try ann.store.space(number)?.id else {
            throw CommandRefusal.unknownConversation
        }
        world.run(for: 60_000)
        // Who is let in later makes new keys, and the former ones have mailboxes of their own.
        _ = try world.perform(.addMember(trip, cara.identity.person, .member), on: ann)
        try world.type("welcome", on: ann, in: trip)
        world.keepToRelays()
        world.run(for: 60_000)
        for other in [ann, cara] { world.isolate(other) }
        try world.type("farewell", on: ben, in: trip)
        world.run(for: 60_000)
        _ = try world.perform(.leave(trip), on: ben)
        world.run(for: 60_000)
        world.heal()
        world.run(for: 600_000)
        for other in [ann, cara] {
            #expect(try other.texts(in: trip) == ["welcome"])
            #expect(try other.count(.foreignOperations) == 1)
            #expect(try other.count(.foreignSpace) == 0)
        }
    }
}
