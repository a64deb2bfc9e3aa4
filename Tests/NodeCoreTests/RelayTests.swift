import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySimulation
import ParleyWire
import Testing

/// Two people who know each other and both use one relay.
struct Pair {
    let world: World
    let ann, ben: SimulatedNode
    let relay: SimulatedRelay
    let space: SpaceID

    init(seed: UInt64, _ setUp: (SimulatedRelay) -> Void = { _ in }) throws {
        world = World(seed: seed)
        ann = try world.addNode("ann")
        ben = try world.addNode("ben")
        relay = world.addRelay("relay")
        setUp(relay)
        // From now on by the policy that it was given.
        world.start(relay)
        try world.use(relay, by: ann)
        try world.use(relay, by: ben)
        try world.introduce(ann, ben)
        world.run(for: 30_000)
        let direct = try ann.store.spaces().first { $0.kind == .direct }
        space = try #require(direct).id
    }

    func say(_ text: String, by node: SimulatedNode) throws {
        try world.type(text, on: node, in: space)
    }

    func states(of node: SimulatedNode) throws -> [MessageState] {
        try node.messages(in: space).compactMap(\.state)
    }
}

@Suite("Relays")
struct RelayTests {
    @Test("two who never reach each other talk through a relay", arguments: [1, 2, 3] as [UInt64])
    func conversation(seed: UInt64) throws {
        let pair = try Pair(seed: seed)
        pair.world.cut(pair.ann, pair.ben)
        for count in 0..<10 {
            try pair.say("ann \(count)", by: pair.ann)
            pair.world.run(for: 500)
            try pair.say("ben \(count)", by: pair.ben)
            pair.world.run(for: 500)
        }
        pair.world.run(for: 10_000)
        #expect(try pair.ann.texts(in: pair.space).count == 20)
        #expect(try pair.ann.digest(of: pair.space) == pair.ben.digest(of: pair.space))
        #expect(try pair.states(of: pair.ann).allSatisfy { $0 == .delivered })
    }

    @Test("a message is saved, then on the relay, then delivered, each when it was observed")
    func states() throws {
        let pair = try Pair(seed: 4)
        let (world, ann) = (pair.world, pair.ann)
        world.cut(ann, pair.ben)
        world.stop(pair.relay)
        world.run(for: 1_000)
        try pair.say("hello", by: ann)
        world.run(for: 1_000)
        #expect(try pair.states(of: ann).last == .saved)
        world.stopProcess(of: pair.ben)
        world.start(pair.relay)
        world.run(for: 60_000)
        #expect(try pair.states(of: ann).last == .relayed)
        world.startAll()
        world.run(for: 60_000)
        #expect(try pair.ben.texts(in: pair.space) == ["hello"])
        #expect(try pair.states(of: ann).last == .delivered)
    }
}
