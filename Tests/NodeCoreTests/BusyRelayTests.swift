import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRelaying
import ParleySimulation
import Testing

@Suite("A relay that does not take what it is given")
struct BusyRelayTests {
    @Test("is not asked again and again for mailboxes that it makes for tickets alone")
    func tickets() throws {
        let world = World(seed: 71)
        let (ann, ben) = (try world.addNode("ann"), try world.addNode("ben"))
        let relay = world.addRelay("relay")
        var policy = RelayPolicy()
        policy.needsTicket = true
        relay.policy = policy
        world.stop(relay)
        world.start(relay)
        for node in [ann, ben] { try world.use(relay, by: node) }
        try world.introduce(ann, ben)
        world.run(for: 30_000)
        world.cut(ann, ben)
        let direct = try ann.store.spaces().first { $0.kind == .direct }
        let space = try #require(direct).id
        var requests = 0
        world.onStep = { step in
            for case .askRelay in step.effects { requests += 1 }
        }
        try world.type("hello", on: ann, in: space)
        world.run(for: 600_000)
        #expect(requests < 100, "\(requests) requests in ten minutes")
        #expect(try ann.messages(in: space).compactMap(\.state).last == .saved)
    }
}
