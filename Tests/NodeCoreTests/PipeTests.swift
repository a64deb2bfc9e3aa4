import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySimulation
import ParleyWire
import Testing

@Suite("Pipes")
struct PipeTests {
    private static func isPiped(_ node: SimulatedNode) -> [Bool] {
        node.core.linkedPeers.map(\.isPiped)
    }

    @Test("who cannot be dialled is linked through a relay, and directly as soon as that can be")
    func better() throws {
        let pair = try Pair(seed: 31)
        let (world, ann, ben) = (pair.world, pair.ann, pair.ben)
        pair.relay.hasPipes = true
        world.cut(ann, ben)
        world.run(for: 30_000)
        #expect(Self.isPiped(ann) == [true])
        #expect(Self.isPiped(ben) == [true])
        // All the while both write, the better link takes the place of the other one.
        world.heal(ann, ben)
        for count in 0..<600 {
            try pair.say("\(count)", by: count % 2 == 0 ? ann : ben)
            world.run(for: 1_000)
        }
        #expect(Self.isPiped(ann) == [false])
        #expect(Self.isPiped(ben) == [false])
        world.run(for: 10_000)
        #expect(try ann.texts(in: pair.space).count == 600)
        #expect(try ann.digest(of: pair.space) == ben.digest(of: pair.space))
        // And back again.
        world.cut(ann, ben)
        try pair.say("through the relay once more", by: ann)
        world.run(for: 30_000)
        #expect(Self.isPiped(ann) == [true])
        #expect(try ben.texts(in: pair.space).count == 601)
    }

    @Test("two who never met meet by an invite through a relay")
    func invite() throws {
        let world = World(seed: 32)
        let (ann, ben) = (try world.addNode("ann"), try world.addNode("ben"))
        let relay = world.addRelay("relay")
        relay.hasPipes = true
        try world.use(relay, by: ann)
        world.cut(ann, ben)
        world.run(for: 5_000)
        try world.introduce(ann, ben)
        world.run(for: 30_000)
        let space = try #require(try ann.store.spaces().first { $0.kind == .direct })
        try world.type("hello", on: ann, in: space.id)
        world.run(for: 5_000)
        #expect(try ben.texts(in: space.id) == ["hello"])
    }
}
