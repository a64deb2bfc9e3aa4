import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyNodeCore
@testable import ParleySealing

@Suite("Keys that age")
struct KeyUpkeepTests {
    private func current(_ node: SimulatedNode, _ space: SpaceID) throws -> CurrentEpoch? {
        var keys = KeyUser(node)
        return try keys.current(space)
    }

    @Test("prekeys are made anew each week, named in the card, and dropped after half a year")
    func prekeys() throws {
        let world = World(seed: 1)
        let ann = try world.addNode("ann")
        let ben = try world.addNode("ben")
        try world.introduce(ann, ben)
        func named(_ node: SimulatedNode, of other: SimulatedNode) throws -> [UInt32] {
            let card = try #require(
                try CardReader.kept(of: other.identity.person, node.store))
            return card.parts.flatMap(\.prekeys).map(\.number)
        }
        #expect(try named(ann, of: ann) == [1] && named(ben, of: ann) == [1])
        world.pass(days: 8)
        #expect(try named(ann, of: ann) == [2] && named(ben, of: ann) == [2])
        #expect(try KeyUser(ann).secretCount(.prekey, in: nil) == 2)
        world.pass(days: 210, step: 7)
        // Those of the last 180 days and of the week before, and no more.
        #expect((25...28).contains(try KeyUser(ann).secretCount(.prekey, in: nil)))
    }

    @Test("a clock that jumps years ahead and back leaves the prekeys that others still seal to")
    func jumpingClock() throws {
        let pair = try Pair(seed: 313)
        let (world, ann, ben) = (pair.world, pair.ann, pair.ben)
        world.stopProcess(of: ben)
        for days: Int64 in [763, 0, 1_875, 0] {
            ann.clock.skew = days * 24 * 3_600_000
            world.run(for: 2 * 3_600_000)
        }
        let parts = try ben.observed { try CardReader.parts(of: ann.identity.person, ben.store) }
        let known = try #require(parts.first?.prekeys.last)
        let kept = try ann.store.secrets(.prekey, in: nil).map(\.name)
        #expect(kept.contains(known.key.bytes))
        #expect((3...5).contains(kept.count))
    }

    @Test("a clock that jumps years ahead leaves the epochs that others still write in")
    func jumpingClockOfEpochs() throws {
        let trio = try Trio(seed: 315)
        try trio.world.type("what do you say?", on: trio.cara, in: trio.group)
        trio.world.run(for: 10_000)
        trio.world.partition([trio.ann], [trio.ben, trio.cara])
        let before = try #require(try current(trio.cara, trio.group)).id
        // Ann writes in an epoch of her own, which the others do not see.
        trio.world.pass(days: 8)
        try trio.world.type("alone", on: trio.ann, in: trio.group)
        trio.world.run(for: 60_000)
        #expect(try current(trio.ann, trio.group)?.id != before)
        trio.ann.clock.skew = 763 * 24 * 3_600_000
        trio.world.run(for: 2 * 3_600_000)
        let space = try KeyUser(trio.ann).space(trio.group)
        let kept = try trio.ann.store.secrets(.epochKeys, in: space.number).map(\.name)
        #expect(kept.contains(before.bytes))
    }

    @Test("Attack 90: keys of skipped steps are erased after a day, whatever a relay withholds")
    func skippedKeys90() throws {
        let trio = try Trio(seed: 4)
        trio.world.pass(days: 1)
        var author = KeyUser(trio.ann)
        var envelopes: [RecordedEnvelope] = []
        for number in 0..<5 {
            envelopes.append(try author.seal("text \(number)", in: trio.group))
        }
        // Only the last one arrives.
        var reader = KeyUser(trio.ben, at: World.epoch + trio.world.now)
        #expect(try reader.open(envelopes[4]) == "text 4")
        func skippedKeyCount() throws -> Int {
            let space = try KeyUser(trio.ben).space(trio.group)
            return try trio.ben.store.secrets(.chain, in: space.number)
                .compactMap { Chain(stored: $0.secret)?.skippedCount }.reduce(0, +)
        }
        #expect(try skippedKeyCount() == 4)
        trio.world.run(for: 26 * 3_600_000)
        #expect(try skippedKeyCount() == 0)
        // Who takes the store then and turns the clock back opens nothing.
        var thief = try KeyUser(copyOf: trio.ben)
        #expect(try thief.open(envelopes[1]) == nil)
    }

    @Test("leaves are renewed each week and dropped once everybody has seen the next one")
    func leaves() throws {
        let trio = try Trio(seed: 2)
        let first = try KeyUser(trio.ann).store.secrets(
            .leaf, in: KeyUser(trio.ann).space(trio.group).number)
        trio.world.pass(days: 12)
        for node in trio.nodes {
            #expect((1...2).contains(try KeyUser(node).secretCount(.leaf, in: trio.group)))
        }
        let now = try trio.ann.store.secrets(
            .leaf, in: KeyUser(trio.ann).space(trio.group).number)
        #expect(Set(now.map(\.name)).isDisjoint(with: first.map(\.name)))
    }

    @Test(
        "the look of every hour has the vault sealed anew where it let go of something, and else not"
    )
    func forgetting() throws {
        let trio = try Trio(seed: 6)
        trio.world.pass(days: 8)
        let node = trio.ann
        var random = SeededRandom(seed: 1)
        for (days, drops) in [(UInt64(0), false), (60, true)] {
            let wall = World.epoch + trio.world.now + (8 + days) * NodeCore.day
            let now = Instant(monotonic: trio.world.now, wall: wall)
            var core = node.core
            try node.store.begin(.full)
            let effects = try core.step(.timer(.keys), at: now, in: node.store, using: &random)
            node.store.rollback()
            var (isWanted, isDurable, isNext) = (false, false, false)
            for effect in effects {
                switch effect {
                case .forgetKeys: isWanted = true
                case .commitFully: isDurable = true
                case .timer(.keys, let time): isNext = time == now.monotonic + 3_600_000
                default: break
                }
            }
            #expect(isNext, "after \(days) days")
            #expect(isWanted == drops && (isDurable || !drops), "after \(days) days")
        }
    }

    @Test("Attack 44: who was sealed to by somebody long away says so, and all find another epoch")
    func longAway() throws {
        let trio = try Trio(seed: 3)
        trio.world.pass(days: 10)
        trio.world.partition([trio.cara], [trio.ann, trio.ben])
        // Cara is away so long that nobody waits for her, and ann's and ben's old leaves are gone.
        trio.world.pass(days: 40)
        try trio.world.type("still there?", on: trio.cara, in: trio.group)
        trio.world.run(for: 10_000)
        let alone = try #require(try current(trio.cara, trio.group))
        #expect(alone.author == trio.cara.identity.device)
        trio.world.heal()
        // Who dialled in vain for so long dials every six minutes or so.
        trio.world.run(for: 400_000)
        for node in trio.nodes { try trio.world.type("\(node.name)", on: node, in: trio.group) }
        trio.world.run(for: 60_000)
        let chosen = try trio.nodes.map { try current($0, trio.group)?.id }
        #expect(Set(chosen).count == 1 && chosen[0] != nil && chosen[0] != alone.id)
        var (cara, ben) = (KeyUser(trio.cara), KeyUser(trio.ben))
        #expect(try ben.open(cara.seal("I am back", in: trio.group)) == "I am back")
        #expect(Set(try trio.nodes.map { try $0.digest(of: trio.group) }).count == 1)
    }

    @Test("Attack 29: a flood of epochs by one member costs a bounded number of secrets")
    func flood29() throws {
        let trio = try Trio(seed: 4)
        let space = try KeyUser(trio.ben).space(trio.group)
        var core = trio.ann.core
        func mint(in space: SpaceRecord, _ store: some Store) throws {
            var random = SeededRandom(seed: 1)
            for step in 0..<150 {
                let now = Instant(monotonic: 0, wall: World.epoch + UInt64(step))
                var turn = StepTurn(at: now, in: store, using: random)
                try core.mint(in: space, &turn)
                random = turn.random
            }
        }
        let store = trio.ann.store
        trio.world.partition([trio.ann], [trio.ben, trio.cara])
        try store.begin(.full)
        try mint(in: #require(try store.space(trio.group)), store)
        try store.commit()
        trio.world.restart(trio.ann)
        trio.world.heal()
        trio.world.run(for: 120_000)
        let epochs = try trio.ben.store.logs(in: space.number).filter { $0.lane == .control }
        #expect(epochs.contains { $0.end > 150 }, "the operations came")
        #expect(try KeyUser(trio.ben).secretCount(.seed, in: trio.group) <= 2 * 64)
        #expect(try KeyUser(trio.ben).secretCount(.epochKeys, in: trio.group) <= 2 * 64)
        #expect(try KeyUser(trio.ben).secretCount(.leaf, in: trio.group) <= 3)
    }

    @Test("Attack 28: who says again and again that they cannot open makes nobody mint without end")
    func faults28() throws {
        let trio = try Trio(seed: 5)
        let own = try #require(try trio.cara.store.space(trio.group))
        var epochs: Set<OperationID> = []
        func fault(_ epoch: OperationID, _ round: Int, _ store: some Store) throws {
            var core = trio.cara.core
            let now = Instant(monotonic: 0, wall: World.epoch + 60_000 + UInt64(round))
            var turn = StepTurn(at: now, in: store, using: SeededRandom(seed: 1))
            _ = try core.writeControl(.fault, in: own, &turn) { _, _ in epoch.bytes }
        }
        for round in 0..<10 {
            let current = try #require(try current(trio.ben, trio.group))
            epochs.insert(current.id)
            try trio.cara.store.begin(.full)
            try fault(current.id, round, trio.cara.store)
            try trio.cara.store.commit()
            trio.world.restart(trio.cara)
            trio.world.run(for: 20_000)
            try trio.world.type("round \(round)", on: trio.ben, in: trio.group)
            trio.world.run(for: 20_000)
        }
        #expect(epochs.count <= 3, "\(epochs.count)")
    }
}
