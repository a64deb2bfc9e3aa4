import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySimulation
import ParleyWire
import Testing

/// Three people in a group, all of whom know each other.
struct Trio {
    let world: World
    let ann, ben, cara: SimulatedNode
    let group: SpaceID

    init(seed: UInt64) throws {
        world = World(seed: seed)
        ann = try world.addNode("ann")
        ben = try world.addNode("ben")
        cara = try world.addNode("cara")
        try world.introduce(ann, ben)
        try world.introduce(ann, cara)
        try world.introduce(ben, cara)
        let members = [ben.identity.person, cara.identity.person]
        let reply = try world.perform(.createGroup(name: "trip", members: members), on: ann)
        guard case .space(let number) = reply, let space = try ann.store.space(number) else {
            throw CommandRefusal.unknownConversation
        }
        group = space.id
        world.run(for: 2_000)
    }

    var nodes: [SimulatedNode] { [ann, ben, cara] }

    /// All digests of the group, which must be one.
    func digests() throws -> Set<Digest?> { Set(try nodes.map { try $0.digest(of: group) }) }
}

@Suite("Partitions")
struct PartitionTests {
    @Test("a group converges after each pair was apart", arguments: [3, 4, 5, 6] as [UInt64])
    func group(seed: UInt64) throws {
        let trio = try Trio(seed: seed)
        let world = trio.world
        world.partition([trio.ann], [trio.ben, trio.cara])
        for count in 0..<20 {
            for node in trio.nodes {
                try world.type("\(node.name) \(count)", on: node, in: trio.group)
            }
            world.run(for: 500)
        }
        world.heal()
        world.partition([trio.ben], [trio.cara])
        world.run(for: 60_000)
        for node in trio.nodes { try world.type("\(node.name) again", on: node, in: trio.group) }
        world.heal()
        world.run(for: 700_000)
        #expect(try trio.digests().count == 1)
        #expect(try trio.ann.texts(in: trio.group).count == 63)
        let states = try trio.ann.messages(in: trio.group).compactMap(\.state)
        #expect(states.allSatisfy { $0 >= .delivered })
    }

    @Test("what ben and cara cannot tell each other reaches them through ann")
    func forwarding() throws {
        let trio = try Trio(seed: 7)
        trio.world.cut(trio.ben, trio.cara)
        try trio.world.type("by way of ann", on: trio.ben, in: trio.group)
        trio.world.run(for: 2_000)
        #expect(try trio.cara.texts(in: trio.group) == ["by way of ann"])
        #expect(try trio.digests().count == 1)
    }

    @Test("thousands of messages come newest first, then backwards, and end up equal")
    func backfill() throws {
        let world = World(seed: 8)
        let ann = try world.addNode("ann")
        let ben = try world.addNode("ben")
        let space = try world.introduce(ann, ben)
        world.partition([ann], [ben])
        for block in 0..<50 {
            let texts = (0..<100).map { TextMessage(text: "message \(block * 100 + $0)") }
            _ = try world.perform(.send(space, texts, replyingTo: nil), on: ann)
            world.run(for: 1_000)
        }
        world.heal()
        var sawHole = false
        for _ in 0..<40_000 {
            world.run(for: 10)
            guard let record = try ben.store.space(space) else { continue }
            let logs = try ben.store.logs(in: record.number)
            if let log = logs.first(where: { $0.gap != nil }) {
                sawHole = true
                #expect(log.spans.last?.last == 4999)
            }
        }
        #expect(sawHole)
        #expect(try ann.digest(of: space) == ben.digest(of: space))
        #expect(try ben.messages(in: space, limit: 10_000).count == 5000)
    }

    @Test(
        "edits, deletions and reactions meet whatever the order",
        arguments: [9, 10, 11] as [UInt64])
    func changes(seed: UInt64) throws {
        let trio = try Trio(seed: seed)
        let world = trio.world
        let first = try world.type("teh first", on: trio.ann, in: trio.group)
        let second = try world.type("the second", on: trio.ann, in: trio.group)
        world.run(for: 1_000)
        world.partition([trio.ann], [trio.ben], [trio.cara])
        _ = try world.perform(.edit(first, text: "the first"), on: trio.ann)
        _ = try world.perform(.delete(second), on: trio.ann)
        for node in [trio.ben, trio.cara] {
            let seen = try node.messages(in: trio.group)
            for message in seen {
                _ = try world.perform(
                    .react(message.number, Reaction(emoji: "👍", isOn: true)), on: node)
            }
        }
        _ = try world.perform(.rename(trio.group, "journey"), on: trio.ann)
        world.heal()
        world.run(for: 700_000)
        #expect(try trio.digests().count == 1)
        let shown = try trio.cara.messages(in: trio.group)
        #expect(shown.map(\.text) == ["the first", nil])
        #expect(shown[0].history == ["teh first"])
        #expect(shown[0].reactions.map(\.persons.count) == [2])
        #expect(shown[1].flags.contains(.deleted))
    }

    @Test(
        "a node that loses its power keeps what it said was saved",
        arguments: 12...15 as ClosedRange<UInt64>)
    func power(seed: UInt64) throws {
        let trio = try Trio(seed: seed)
        let world = trio.world
        for count in 0..<30 {
            let node = trio.nodes[count % 3]
            try world.type("\(count)", on: node, in: trio.group)
            world.run(for: UInt64(count * 7 % 50))
            world.restart(trio.nodes[(count * 5 + 1) % 3], losingPower: count % 2 == 0)
        }
        world.run(for: 700_000)
        #expect(try trio.digests().count == 1)
        #expect(try trio.ann.texts(in: trio.group).count == 30)
    }

    @Test("Attack 33: a store that fails at any call loses nothing that was answered")
    func failingStore() throws {
        for call in 1...60 {
            let trio = try Trio(seed: 16)
            let world = trio.world
            trio.ben.store.fail(atCall: call)
            try world.type("one", on: trio.ann, in: trio.group)
            world.run(for: 40)
            try world.type("two", on: trio.cara, in: trio.group)
            world.run(for: 3_000)
            trio.ben.store.failNoMore()
            // A shell ends the link on which a frame was lost; then everything is asked for anew.
            world.restart(trio.ben)
            world.run(for: 700_000)
            #expect(try trio.digests().count == 1, "failing at call \(call)")
            #expect(try trio.ben.texts(in: trio.group).count == 2, "failing at call \(call)")
        }
    }

    @Test("the same seed gives the same bytes")
    func deterministic() throws {
        func run() throws -> [String] {
            let trio = try Trio(seed: 17)
            trio.world.partition([trio.ann], [trio.ben])
            for node in trio.nodes { try trio.world.type(node.name, on: node, in: trio.group) }
            trio.world.heal()
            trio.world.run(for: 100_000)
            return [
                "\(trio.world.frameCount)", "\(trio.world.byteCount)",
                try trio.ann.digest(of: trio.group)?.description ?? "",
            ]
        }
        #expect(try run() == run())
    }
}
