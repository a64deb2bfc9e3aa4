import ParleyCheckers
import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySimulatedDisk
import ParleySimulation
import ParleyStorage
import ParleyWire
import Testing

@Suite("A world on the production store")
struct SQLiteWorldTests {
    private struct Outcome: Equatable {
        var trace: UInt64
        var texts: [String]
        var digests: [Digest?]
    }

    /// Both write, and lose their power again and again at any point of a step.
    private func talk(
        seed: UInt64, on stores: [StoreChoice], rounds: Int = 30
    ) throws -> (world: World, outcome: Outcome) {
        let world = World(seed: seed)
        var nodes: [SimulatedNode] = []
        for (place, store) in stores.enumerated() {
            nodes.append(try world.addNode("node\(place)", on: store))
        }
        let space = try world.group("talk", nodes)
        world.durabilityDelay = 0...800
        var random = SeededRandom(seed: seed, purpose: "deaths")
        var told: [String] = []
        for round in 0..<rounds {
            for node in nodes where !node.isDown {
                let text = "round \(round) of \(node.name)"
                if (try? world.type(text, on: node, in: space)) != nil { told.append(text) }
            }
            let victim = nodes[Int(random.next() % UInt64(nodes.count))]
            victim.plannedDeath = PlannedDeath(
                stepCount: Int(1 + random.next() % 6),
                point: PlannedDeath.Point.allCases[Int(random.next() % 3)],
                isLosingPower: random.next() % 4 > 0, downtime: random.next() % 3_000)
            world.run(for: 700 + random.next() % 2_000)
        }
        world.startAll()
        world.run(for: 900_000)
        for node in nodes { #expect(node.refusal == nil) }
        let texts = try nodes[0].texts(in: space)
        #expect(Set(told).isSubset(of: texts))
        let digests = try nodes.map { try $0.digest(of: space) }
        return (world, Outcome(trace: world.traceHash, texts: texts, digests: digests))
    }

    @Test("loses nothing that was saved when the power goes, and ends equal", arguments: 1...4)
    func power(seed: UInt64) throws {
        let (world, outcome) = try talk(seed: seed, on: [.sqlite, .sqlite])
        #expect(outcome.digests[0] != nil)
        #expect(Set(outcome.digests).count == 1)
        #expect(outcome.texts.count > 20)
        let disks = world.nodes.compactMap { ($0.store as? SQLiteStore)?.faultDisk }
        #expect(disks.count == 2)
        #expect(disks.contains { $0.losses.dropped + $0.losses.torn > 0 })
    }

    @Test("holds nodes on either store, which end equal", arguments: 11...12)
    func mixed(seed: UInt64) throws {
        let (_, outcome) = try talk(seed: seed, on: [.sqlite, .memory, .sqlite, .memory])
        #expect(outcome.digests[0] != nil)
        #expect(Set(outcome.digests).count == 1)
    }

    @Test("is the same run of the same seed")
    func same() throws {
        let first = try talk(seed: 21, on: [.sqlite, .sqlite, .memory]).outcome
        let second = try talk(seed: 21, on: [.sqlite, .sqlite, .memory]).outcome
        #expect(first == second)
    }

    /// Which store a node is on is nobody's business: without faults the run is the same.
    @Test("without faults runs to the letter as on the store in memory")
    func alike() throws {
        func run(_ store: StoreChoice) throws -> [String] {
            let world = World(seed: 31)
            let (ann, ben) = (
                try world.addNode("ann", on: store), try world.addNode("ben", on: store)
            )
            let space = try world.group("trip", [ann, ben])
            for number in 0..<20 {
                try world.type("text \(number)", on: number % 3 == 0 ? ann : ben, in: space)
                world.run(for: 300)
            }
            world.run(for: 10_000)
            return try ann.texts(in: space) + ["\(world.frameCount) \(world.byteCount)"]
        }
        #expect(try run(.sqlite) == run(.memory))
    }

    @Test("a step that a failing disk refused happens another time", arguments: 1...40)
    func failing(call: Int) throws {
        let world = World(seed: 41)
        let (ann, ben) = (
            try world.addNode("ann", on: .sqlite), try world.addNode("ben", on: .sqlite)
        )
        let space = try world.introduce(ann, ben)
        ben.store.fail(atCall: call, call % 2 == 0 ? .full : .inputOutput)
        var told: [String] = []
        for number in 0..<8 {
            try world.type("from ann \(number)", on: ann, in: space)
            told.append("from ann \(number)")
            if (try? world.type("from ben \(number)", on: ben, in: space)) != nil {
                told.append("from ben \(number)")
            }
            world.run(for: 2_000)
        }
        ben.store.failNoMore()
        world.run(for: 120_000)
        world.restart(ben, losingPower: true)
        world.run(for: 120_000)
        #expect(ben.refusal == nil)
        #expect(Set(told).isSubset(of: try ann.texts(in: space)))
        #expect(try ann.digest(of: space) == ben.digest(of: space))
    }

    @Test("a disk that was set back is found out by its guard, and takes its past from a peer")
    func setBack() throws {
        let world = World(seed: 51)
        let (ann, ben) = (try world.addNode("ann", on: .sqlite), try world.addNode("ben"))
        let space = try world.introduce(ann, ben)
        let old = ann.store.snapshot()
        try world.type("after the copy", on: ann, in: space)
        world.run(for: 5_000)
        try world.type("again", on: ann, in: space)
        world.run(for: 5_000)
        world.cut(ann, ben)
        world.restore(ann, from: old)
        #expect(ann.core.rejoin != nil)
        #expect(throws: CommandRefusal.self) { try world.type("no", on: ann, in: space) }
        world.heal()
        world.run(for: 120_000)
        #expect(ann.core.rejoin == nil)
        #expect(try ann.texts(in: space) == ["after the copy", "again"])
        try world.type("yes", on: ann, in: space)
        world.run(for: 5_000)
        #expect(try ben.texts(in: space).last == "yes")
        #expect(try ben.store.forks().isEmpty)
    }

    @Test("keeps no text readable, and nothing of what was deleted, in any file")
    func secrecy() throws {
        let world = World(seed: 61)
        let jury = Jury(of: world)
        let (ann, ben) = (
            try world.addNode("ann", on: .sqlite), try world.addNode("ben", on: .sqlite)
        )
        let space = try world.introduce(ann, ben)
        for number in 0..<20 {
            let message = try world.type("a canary that sings \(number)", on: ann, in: space)
            world.run(for: 500)
            if number % 2 == 0 { _ = try world.perform(.delete(message), on: ann) }
        }
        world.run(for: 60_000)
        jury.settle(world)
        #expect(jury.verdict == nil)
        let disk = jury.checkers.filter { type(of: $0).needsDisk }
        #expect(disk.count == 2 && disk.allSatisfy { $0.checkCount > 0 })
        #expect(try ben.texts(in: space).filter { $0 == "(deleted)" }.count == 10)
    }

    /// Every byte of the database in turn would take hours: a spread of them, in every page.
    @Test("a page that rots ends in an error or a refusal, never in another text")
    func rot() throws {
        let world = World(seed: 71)
        let ann = try world.addNode("ann", on: .sqlite)
        let space = try world.introduce(ann, try world.addNode("ben", on: .sqlite))
        for number in 0..<30 { try world.type("text \(number)", on: ann, in: space) }
        let store = try #require(ann.store as? SQLiteStore)
        _ = try store.checkpoint()
        let texts = try Set(ann.texts(in: space))
        let byteCount = try #require(store.faultDisk.bytes(of: "database")).count
        let whole = ann.store.snapshot()
        var refused = 0
        for place in stride(from: 0, to: byteCount, by: 389) {
            ann.setBack(to: whole)
            (ann.store as? SQLiteStore)?.faultDisk.rot("database", at: place)
            world.restart(ann)
            do {
                guard ann.refusal == nil else { throw StoreError(.corrupt, attempt: "opening") }
                #expect(try Set(ann.texts(in: space)).isSubset(of: texts), "byte \(place)")
            } catch {
                refused += 1
            }
        }
        #expect(refused > 0)
    }
}
