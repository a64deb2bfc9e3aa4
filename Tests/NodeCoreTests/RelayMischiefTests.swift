import ParleyConversation
import ParleyNodeCore
import ParleySimulation
import ParleyWire
import Testing

@Suite("A relay that does not do as it should")
struct RelayMischiefTests {
    static let kinds: [(String, @Sendable (SimulatedRelay) -> Void)] = [
        ("gives envelopes in any order", { $0.mischief.isShuffling = true }),
        ("tells again what it told", { $0.mischief.isReplaying = true }),
        ("answers with what it had once", { $0.mischief.isStale = true }),
        ("ends connections before the answer", { $0.mischief.cutEvery = 5 }),
        ("tells any day", { $0.mischief.isLyingAboutDays = true }),
        ("tells of starts that never were", { $0.mischief.isLyingAboutStarts = true }),
    ]

    @Test("Attack 74: loses no message for good", arguments: kinds.indices)
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

    @Test("Attack 74: one that tells another day all the time makes a node ask for little")
    func leaps() throws {
        let pair = try Pair(seed: 88)
        let (world, relay, ann) = (pair.world, pair.relay, pair.ann)
        world.keepToRelays()
        world.run(for: 60_000)
        var asked = 0
        world.onStep = { step in
            guard step.node === ann else { return }
            for case .askRelay in step.effects { asked += 1 }
        }
        for count in 0..<600 {
            let day = RelayDay(clamping: UInt64(count) * 97 % 40_000)
            world.tell(.day(day), by: relay, to: ann)
            world.run(for: 100)
        }
        // In a minute one day is heard: for it no more than a question for each day and epoch.
        #expect(asked < 300, "\(asked) requests")
    }

    /// Each time it was called again after a second, for it had answered: idle nodes asked such a relay for
    /// all their mailboxes day and night.
    @Test("one that ends each connection soon is called less and less often")
    func shortConnections() throws {
        let pair = try Pair(seed: 91)
        let (world, relay, ann) = (pair.world, pair.relay, pair.ann)
        world.keepToRelays()
        world.run(for: 60_000)
        var called = 0
        world.onStep = { step in
            guard step.node === ann else { return }
            for case .callRelay in step.effects { called += 1 }
        }
        relay.mischief.cutEvery = 1
        world.restart(ann)
        world.run(for: 3_600_000)
        #expect(called < 90, "\(called) calls in an hour")
        #expect(called > 30, "it may be better by now")
        relay.mischief = RelayMischief()
        world.run(for: 90_000)
        #expect(ann.core.relayStates.allSatisfy { $0.isDrained })
        called = 0
        relay.mischief.cutEvery = 1
        try pair.say("after a good while", by: ann)
        world.run(for: 10_000)
        #expect(called > 1, "a connection that was of use is made up for at once")
    }

    @Test("what was put while a relay told a wrong day is put again once it tells the right one")
    func leapBack() throws {
        let pair = try Pair(seed: 89)
        let (world, relay, ann) = (pair.world, pair.relay, pair.ann)
        world.keepToRelays()
        world.run(for: 60_000)
        world.stopProcess(of: pair.ben)
        // Ann alone is lied to.
        world.tell(.day(5), by: relay, to: ann)
        world.run(for: 61_000)
        try pair.say("by the wrong day", by: ann)
        world.run(for: 20_000)
        #expect(try pair.states(of: ann).last == .relayed)
        world.tell(.day(RelayDay(at: World.epoch + world.now)), by: relay, to: ann)
        world.run(for: 3_700_000)
        world.restart(ann)
        world.run(for: 60_000)
        world.stopProcess(of: ann)
        world.startAll()
        world.run(for: 60_000)
        #expect(try pair.ben.texts(in: pair.space).last == "by the wrong day")
    }
}
