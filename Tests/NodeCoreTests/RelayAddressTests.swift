import ParleyConversation
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyNodeCore

@Suite("Where relays are called")
struct RelayAddressTests {
    @Test(
        "Attack 72: nobody's card makes a node call a group of hosts; a stranger's, no host near it",
        arguments: [
            ("relay.example:7448", .anywhere), ("relay.example.:7448", .anywhere),
            ("93.184.216.34:7448", .anywhere), ("[2001:db8::1]:7448", .anywhere),
            ("[2606:2800:220:1:248:1893:25c8:1946]:1", .anywhere),
            ("localhost:1", .near), ("a.localhost:1", .near), ("printer.local:631", .near),
            ("router:80", .near), ("127.0.0.1:1", .near), ("10.0.0.1:1", .near),
            ("172.16.0.1:1", .near), ("172.31.255.255:1", .near), ("192.168.1.1:80", .near),
            ("169.254.169.254:80", .near), ("100.64.0.1:1", .near), ("[::1]:1", .near),
            ("[fe80::1]:1", .near), ("[fd00::1]:1", .near), ("[::ffff:127.0.0.1]:1", .near),
            ("[::ffff:7f00:1]:1", .near), ("[64:ff9b::10.0.0.1]:1", .near),
            ("172.32.0.1:1", .anywhere), ("100.128.0.1:1", .anywhere),
            ("0.0.0.0:1", .nowhere), ("224.0.0.251:5353", .nowhere),
            ("255.255.255.255:1", .nowhere), ("[::]:1", .nowhere), ("[ff02::fb]:1", .nowhere),
            ("[::127.0.0.1]:1", .nowhere), ("127.1:1", .nowhere), ("0x7f.1:1", .nowhere),
            ("2130706433:1", .nowhere), ("0177.0.0.1:1", .nowhere), ("a.0x7f000001:1", .nowhere),
            ("[1:2:3]:1", .nowhere), ("[1::2::3]:1", .nowhere), ("[::g]:1", .nowhere),
            ("::1:1", .nowhere), ("relay", .nowhere), (":1", .nowhere), ("[]:1", .nowhere),
        ] as [(String, RelayHost)])
    func hosts(address: String, kind: RelayHost) {
        #expect(RelayHost(of: address) == kind)
        #expect(RelayHost(of: address).mayBeCalled(.own))
        #expect(RelayHost(of: address).mayBeCalled(.contact) == (kind != .nowhere))
        #expect(RelayHost(of: address).mayBeCalled(.member) == (kind == .anywhere))
    }

    @Test("each person's word is tried on its own, who is trusted more first")
    func places() {
        let people = (0...20).map { number in PersonID { $0[0] = UInt8(number) } }
        var places = RelayPlaces(["bad"], namedBy: people[0], .member)
        places.note(["good"], namedBy: people[1], .contact)
        #expect(places.next() == ["good"])
        places.fail()
        #expect(places.failureCount == 0, "another is tried at once")
        #expect(places.next() == ["bad"])
        places.fail()
        #expect(places.next() == ["good"])
        #expect(places.failureCount == 1)
        places.succeed()
        #expect(places.next() == ["good"])
        for person in people.dropFirst(2) { places.note(["worse"], namedBy: person, .member) }
        #expect(places.addresses.count == RelayPlaces.sourceCountMax)
        places.note(["better"], namedBy: people[20], .contact)
        #expect(places.addresses.prefix(2) == ["good", "better"], "in the place of a member")
        #expect(places.addresses.contains("bad"), "and of no other")
        var own = RelayPlaces(own: ["home"])
        own.note(["bad"], namedBy: people[0], .contact)
        #expect(own.addresses == ["home"])
    }

    /// Everything that a node was told to call, from now on.
    private final class Calls {
        var made: [(relay: NoiseKey, addresses: [String])] = []

        init(of node: SimulatedNode, in world: World) {
            world.onStep = { [self] step in
                guard step.node === node else { return }
                for case .callRelay(let relay, let addresses) in step.effects {
                    made.append((relay, addresses))
                }
            }
        }

        func addresses(of relay: NoiseKey) -> [[String]] {
            made.filter { $0.relay == relay }.map(\.addresses)
        }
    }

    private func point(
        _ node: SimulatedNode, to relay: NoiseKey, at addresses: [String], in world: World
    ) throws {
        let choice = RelayChoice(relay: relay, addresses: addresses)
        _ = try world.perform(.chooseRelays([choice], tickets: []), on: node)
    }

    @Test(
        "Attack 72: where an own relay is, the own space alone says, whatever contacts' cards name")
    func ownRelay() throws {
        let pair = try Pair(seed: 301)
        let world = pair.world
        let calls = Calls(of: pair.ann, in: world)
        try point(pair.ben, to: pair.relay.key, at: ["dead.example:1"], in: world)
        world.run(for: 30_000)
        world.stop(pair.relay)
        world.run(for: 30_000)
        world.start(pair.relay)
        world.run(for: 60_000)
        let called = calls.addresses(of: pair.relay.key)
        #expect(!called.isEmpty && called.allSatisfy { $0 == [pair.relay.address] })
        #expect(pair.ann.core.relayStates.map(\.isConnected) == [true])
    }

    @Test("Attack 72: a member who names a relay at a dead address does not hide it from others")
    func sharedRelay() throws {
        let village = try Village(seed: 302)
        let world = village.world
        let relay = world.addRelay("relay")
        try world.use(relay, by: village.ben)
        world.run(for: 60_000)
        let calls = Calls(of: village.ann, in: world)
        // Ann uses no relay: she reads those of the persons that she talks to.
        for liar in [village.cara, village.dora] {
            try point(liar, to: relay.key, at: ["dead.example:1"], in: world)
        }
        world.run(for: 60_000)
        world.stop(relay)
        world.run(for: 10_000)
        world.start(relay)
        world.run(for: 60_000)
        #expect(calls.addresses(of: relay.key).contains(["dead.example:1"]))
        #expect(village.ann.core.relayStates.map(\.isConnected) == [true])
    }

    @Test("Attack 72: one person fills no slots: two of their relays are read, four are called")
    func share() throws {
        let pair = try Pair(seed: 303)
        let (world, ben) = (pair.world, pair.ben)
        let cara = try world.addNode("cara")
        try world.introduce(cara, ben)
        world.run(for: 30_000)
        let calls = Calls(of: cara, in: world)
        let fakes = (1...3).map { number in NoiseKey { $0[0] = UInt8(number) } }
        for fake in fakes { try point(ben, to: fake, at: ["dead.example:1"], in: world) }
        world.run(for: 120_000)
        let read = cara.core.courier.lines.values.count { $0.isReading }
        #expect(read == NodeCore.readRelaysNamedByOneMax)
        #expect(cara.core.courier.lines.count <= NodeCore.relaysNamedByOneMax)
        #expect(!calls.made.isEmpty)
    }

    @Test(
        "Attack 72: who is only in a group with somebody does not point them at their own machine")
    func near() throws {
        let world = World(seed: 304)
        let ann = try world.addNode("ann")
        let ben = try world.addNode("ben")
        let eve = try world.addNode("eve")
        try world.introduce(ann, ben)
        try world.introduce(ben, eve)
        world.run(for: 5_000)
        let calls = Calls(of: ann, in: world)
        let fakes = [NoiseKey { $0[0] = 1 }, NoiseKey { $0[0] = 2 }]
        try point(eve, to: fakes[0], at: ["127.0.0.1:22", "router.local:80"], in: world)
        try point(eve, to: fakes[1], at: ["eve.example:1", "10.0.0.1:22"], in: world)
        let members = [ann.identity.person, eve.identity.person]
        _ = try world.perform(.createGroup(name: "trip", members: members), on: ben)
        world.run(for: 300_000)
        #expect(calls.addresses(of: fakes[0]).isEmpty)
        let called = calls.addresses(of: fakes[1])
        #expect(!called.isEmpty && called.allSatisfy { $0 == ["eve.example:1"] })
    }
}
