import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySimulation
import ParleyWire
import Testing

@Suite("Logs that are awaited")
struct AwaitedLogTests {
    /// A village of which an admin's tablet, which has written nothing yet, is parted from cara and dora.
    private func parted(seed: UInt64) throws -> (village: Village, tablet: SimulatedNode) {
        let village = try Village(seed: seed)
        // A further device: whoever accepted a group has written in lane 0 by their first.
        let tablet = try village.world.addDevice("tablet", of: village.ben)
        try village.perform(
            .setRole(village.group, tablet.identity.person, .admin), village.ann)
        village.world.run(for: 10_000)
        village.world.partition(
            [village.ann, village.ben, tablet], [village.cara, village.dora])
        return (village, tablet)
    }

    /// Dora shows cara a run.
    private func bring(_ run: Run, in village: Village) {
        village.world.inject(
            .operations(Operations(space: village.group, endsAnswer: false, runs: [run])),
            from: village.dora, to: village.cara)
    }

    /// What a node wrote in a lane, up to a place.
    private func run(
        of author: SimulatedNode, _ lane: Lane = .content, through last: UInt64 = 0,
        in village: Village
    ) throws -> Run {
        let record = try village.record(author)
        return try author.observed {
            let log = try #require(
                try author.store.logs(in: record.number).first {
                    $0.device == author.identity.device && $0.lane == lane
                })
            let stored = try author.store.operations(in: log.number, 0...last, limit: .max)
            #expect(stored.count == Int(last) + 1)
            return Run(
                device: author.identity.device, lane: lane, first: 0, anchor: nil,
                operations: stored.map(\.operation),
                heads: try author.store.heads(in: log.number, 0...last))
        }
    }

    private func held(
        _ node: SimulatedNode, of author: SimulatedNode, _ lane: Lane, _ village: Village
    )
        throws -> UInt64?
    {
        let record = try village.record(node)
        return try node.observed {
            try node.store.logs(in: record.number)
                .first { $0.device == author.identity.device && $0.lane == lane }?.end
        }
    }

    private func awaited(_ node: SimulatedNode) throws -> Int {
        try node.observed { try node.store.values(.awaitedLog).count }
    }

    @Test(
        "Attack 22: what names a log of lane 0 that is late is held after a while, and counts then"
    )
    func late() throws {
        let (village, ben) = try parted(seed: 221)
        let (world, cara, dora) = (village.world, village.cara, village.dora)
        try village.perform(
            .setRole(village.group, dora.identity.person, .reader), ben)
        try village.type("by an admin", ben)
        world.run(for: 1_000)
        #expect(try held(cara, of: ben, .control, village) == nil)

        bring(try run(of: ben, in: village), in: village)
        world.run(for: 10_000)
        #expect(try held(cara, of: ben, .content, village) == nil)
        #expect(try awaited(cara) == 0)
        world.run(for: 15_000)
        #expect(try held(cara, of: ben, .content, village) == 1)
        #expect(try awaited(cara) == 1)
        // Nobody knows yet whether he might write it.
        #expect(try village.texts(cara) == [])

        world.crash(cara)
        world.start(cara)
        village.settle()
        #expect(try village.texts(cara) == ["by an admin"])
        #expect(try awaited(cara) == 0)
        #expect(try village.frontiers([village.ann, village.ben, ben, cara, dora]) == 1)
    }

    @Test("Attack 22: of a late log that comes in parts, what named a later place counts as well")
    func inParts() throws {
        let (village, ben) = try parted(seed: 224)
        let (world, cara, dora) = (village.world, village.cara, village.dora)
        try village.perform(.setRole(village.group, dora.identity.person, .reader), ben)
        world.run(for: 1_000)
        try village.type("under the first", ben)
        try village.perform(.setRole(village.group, dora.identity.person, .member), ben)
        world.run(for: 1_000)
        try village.type("under the second", ben)
        bring(try run(of: ben, through: 1, in: village), in: village)
        world.run(for: 25_000)
        #expect(try held(cara, of: ben, .content, village) == 2)
        // A new key follows each.
        for (last, texts) in [
            (UInt64(1), ["under the first"]), (3, ["under the first", "under the second"]),
        ] {
            bring(try run(of: ben, .control, through: last, in: village), in: village)
            world.run(for: 2_000)
            #expect(try held(cara, of: ben, .control, village) == last + 1)
            #expect(try village.texts(cara) == texts)
        }
        #expect(try awaited(cara) == 0)
    }

    @Test("Attack 22: so many names of logs that nobody has are kept for a log, and no more")
    func bounded() throws {
        let village = try Village(seed: 222)
        for _ in 0..<70 {
            #expect(try village.world.inventCauses(village.ben, in: village.group))
        }
        village.world.run(for: 200_000)
        for node in [village.ann, village.cara, village.dora] {
            #expect(try awaited(node) == 64)
        }
        try village.type("all is well", village.cara)
        village.world.run(for: 5_000)
        #expect(try village.texts(village.ann).last == "all is well")
    }

    @Test("What waits in a group that everybody has left wakes nobody again and again")
    func leftByAll() throws {
        let village = try Village(seed: 223, memberCount: 2)
        let (world, ann) = (village.world, village.ann)
        #expect(try world.inventCauses(village.ben, in: village.group))
        world.run(for: 2_000)
        for node in [village.ben, ann] {
            try village.perform(.leave(village.group), node)
            world.run(for: 2_000)
        }
        #expect(try village.members(ann) == [])
        var wakeCount = 0
        world.onStep = { step in
            if step.node === ann, case .timer(.waiting) = step.input { wakeCount += 1 }
            if wakeCount > 10 { world.onStep = nil }
        }
        world.run(for: 120_000)
        #expect((1...2).contains(wakeCount))
    }
}
