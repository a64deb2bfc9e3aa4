import ParleyConversation
import ParleyNodeCore
import ParleySimulation
import Testing

@Suite("A relay that does not do as it should")
struct RelayMischiefTests {
    static let kinds: [(String, @Sendable (SimulatedRelay) -> Void)] = [
        ("gives envelopes in any order", { $0.mischief.isShuffling = true }),
        ("tells again what it told", { $0.mischief.isReplaying = true }),
        ("answers with what it had once", { $0.mischief.isStale = true }),
        ("ends connections before the answer", { $0.mischief.cutEvery = 5 }),
    ]

    @Test("loses no message for good", arguments: kinds.indices)
    func all(kind: Int) throws {
        let pair = try Pair(seed: 80 + UInt64(kind))
        let (world, relay) = (pair.world, pair.relay)
        world.keepToRelays()
        world.run(for: 10_000)
        world.copyStore(of: relay)
        Self.kinds[kind].1(relay)
        for count in 0..<40 {
            try pair.say("\(count)", by: count % 2 == 0 ? pair.ann : pair.ben)
            world.run(for: count % 7 == 0 ? 20_000 : 500)
            if count % 9 == 0 { world.restart(count % 2 == 0 ? pair.ben : pair.ann) }
        }
        relay.mischief = RelayMischief()
        world.restart(pair.ann)
        world.restart(pair.ben)
        world.run(for: 600_000)
        for node in [pair.ann, pair.ben] {
            #expect(try node.texts(in: pair.space).count == 40, "\(Self.kinds[kind].0)")
        }
        #expect(try pair.ann.digest(of: pair.space) == pair.ben.digest(of: pair.space))
    }
}
