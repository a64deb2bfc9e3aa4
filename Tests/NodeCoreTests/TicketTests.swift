import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRelaying
import ParleySimulation
import Testing

@Suite("A relay that asks for tickets")
struct TicketTests {
    /// Two who know each other, cannot reach each other, and use a relay that asks for tickets.
    private func pair(seed: UInt64, tickets: Int) throws -> Pair {
        let pair = try Pair(seed: seed) { relay in
            var policy = RelayPolicy()
            policy.needsTicket = true
            relay.policy = policy
        }
        for node in [pair.ann, pair.ben] {
            let paid = (0..<tickets).map { _ in pair.world.issueTicket(of: pair.relay) }
            try pair.world.use(pair.relay, by: node, tickets: paid)
        }
        pair.world.run(for: 10_000)
        pair.world.cut(pair.ann, pair.ben)
        return pair
    }

    private func state(of node: SimulatedNode) -> RelayState? { node.core.relayStates.first }

    @Test("keeps nothing for who has none, and says so, until they have one")
    func none() throws {
        let pair = try pair(seed: 61, tickets: 0)
        #expect(state(of: pair.ben)?.lacksTicket == true)
        try pair.say("hello", by: pair.ann)
        pair.world.run(for: 120_000)
        #expect(try pair.ben.texts(in: pair.space).isEmpty)
        #expect(try pair.states(of: pair.ann).last == .saved)
        let ticket = pair.world.issueTicket(of: pair.relay)
        try pair.world.use(pair.relay, by: pair.ben, tickets: [ticket])
        pair.world.run(for: 120_000)
        #expect(state(of: pair.ben)?.lacksTicket == false)
        #expect(try pair.ben.texts(in: pair.space) == ["hello"])
    }

    @Test(
        "serves two with one ticket each, through their inboxes; and with many through drops",
        arguments: [(62, 1), (63, 20)] as [(UInt64, Int)])
    func some(seed: UInt64, tickets: Int) throws {
        let pair = try pair(seed: seed, tickets: tickets)
        #expect(state(of: pair.ben)?.lacksTicket == false)
        for count in 0..<5 {
            try pair.say("ann \(count)", by: pair.ann)
            pair.world.run(for: 2_000)
            try pair.say("ben \(count)", by: pair.ben)
            pair.world.run(for: 2_000)
        }
        pair.world.stopProcess(of: pair.ben)
        try pair.say("good night", by: pair.ann)
        pair.world.run(for: 10_000)
        #expect(try pair.states(of: pair.ann).last == .relayed)
        pair.world.stopProcess(of: pair.ann)
        pair.world.start(pair.ben)
        pair.world.run(for: 20_000)
        pair.world.start(pair.ann)
        pair.world.run(for: 120_000)
        #expect(try pair.ben.texts(in: pair.space).count == 11)
        #expect(try pair.ann.digest(of: pair.space) == pair.ben.digest(of: pair.space))
    }

    @Test("who has no ticket holds nobody else up")
    func absent() throws {
        let pair = try pair(seed: 65, tickets: 1)
        let (world, ann) = (pair.world, pair.ann)
        let cem = try world.addNode("cem")
        try world.use(pair.relay, by: cem)
        try world.introduce(ann, cem)
        world.run(for: 30_000)
        world.cut(ann, cem)
        #expect(state(of: cem)?.lacksTicket == true)
        let spaces = try ann.store.spaces().filter { $0.kind == .direct }.map(\.id)
        let other = try #require(spaces.first { $0 != pair.space })
        try world.type("are you there", on: ann, in: other)
        world.run(for: 3_000)
        try pair.say("you are", by: ann)
        world.run(for: 3_000)
        #expect(try pair.ben.texts(in: pair.space) == ["you are"])
        #expect(try ann.messages(in: other).compactMap(\.state).last == .saved)
        let ticket = world.issueTicket(of: pair.relay)
        try world.use(pair.relay, by: cem, tickets: [ticket])
        world.run(for: 120_000)
        #expect(try cem.texts(in: other) == ["are you there"])
    }

    @Test("no more tickets are kept than are of use, and none that is no ticket")
    func bounds() throws {
        let pair = try pair(seed: 66, tickets: 1)
        let many = (0...NodeCore.ticketCountMax).map { number in
            [UInt8](repeating: UInt8(number >> 8), count: 31) + [UInt8(number & 0xff)]
        }
        for tickets in [many, [[1, 2, 3]]] {
            #expect(throws: CommandRefusal.tooManyTickets(limit: NodeCore.ticketCountMax)) {
                try pair.world.use(pair.relay, by: pair.ben, tickets: tickets)
            }
        }
        #expect(try pair.ben.store.values(.ticket).isEmpty)
    }

    @Test("a ticket that somebody else has spent is dropped, and the next one taken")
    func spent() throws {
        let pair = try pair(seed: 64, tickets: 0)
        let good = pair.world.issueTicket(of: pair.relay)
        let bad = [UInt8](repeating: 0, count: 32)
        try pair.world.use(pair.relay, by: pair.ben, tickets: [bad, good])
        pair.world.run(for: 10_000)
        #expect(state(of: pair.ben)?.lacksTicket == false)
        #expect(try pair.ben.store.number(.refusal, Array("ticket-refused".utf8)) == 1)
        #expect(try pair.ben.store.values(.ticket).isEmpty)
    }
}
