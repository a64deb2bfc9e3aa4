import ParleyCheckers
import ParleyLedger
import ParleyNodeCore
import ParleyWire
import Testing

@testable import ParleySimulation

@Suite("Ground hashes")
struct GrindingTests {
    private let minute: UInt64 = 60_000

    /// With checks of four bytes nobody ever noticed: two read that they pay one account, one another,
    /// and of what was written upon lane 0 each half lacked the other's for good.
    @Test(
        "Attack 80: branches whose hashes begin alike are proven in minutes, and all are equal",
        arguments: [Lane.content, .control], [false, true])
    func twins(lane: Lane, isLiarGone: Bool) throws {
        let quartet = try Quartet(seed: 4711)
        let (world, eve, group) = (quartet.world, quartet.eve, quartet.group)
        #expect(try world.grind(eve, in: group, lane: lane))
        world.run(for: 2_000)
        if isLiarGone { world.stopProcess(of: eve) }
        for node in quartet.honest { try world.type("\(node.name) after", on: node, in: group) }
        world.run(for: 2 * minute)
        for node in quartet.honest { #expect(try node.store.forks().count == 1, "\(node.name)") }
        try expectSilence(in: world)
        quartet.jury.settle(world)
        #expect(quartet.jury.verdict == nil)
    }

    /// As if somebody had made hashes whose first halves are equal.
    @Test(
        "Attack 80: branches that no tip tells apart are found by what is named, and by digests",
        arguments: [Lane.content, .control], [false, true])
    func twinsBehindEqualTips(lane: Lane, isAnybodyWriting: Bool) throws {
        let quartet = try Quartet(seed: 4712)
        let (world, eve, group) = (quartet.world, quartet.eve, quartet.group)
        world.indistinct = [
            LogTag(OperationHash.log(space: group, device: eve.identity.device, lane: lane))
        ]
        #expect(try world.grind(eve, in: group, lane: lane))
        world.run(for: 2_000)
        for node in quartet.honest where isAnybodyWriting {
            try world.type("\(node.name) after", on: node, in: group)
        }
        world.run(for: (isAnybodyWriting ? 2 : 10) * minute)
        for node in quartet.honest { #expect(try node.store.forks().count == 1, "\(node.name)") }
        try expectSilence(in: world)
        quartet.jury.settle(world)
        #expect(quartet.jury.verdict == nil)
    }

    /// The liar's claim never comes true, and is new each time. Two honest nodes once went round
    /// 19,400 frames a minute.
    @Test("Attack 81: rounds of which nothing comes are ever fewer, and delay nothing that is new")
    func fruitlessRounds() throws {
        let quartet = try Quartet(seed: 4713)
        let (world, eve, group) = (quartet.world, quartet.eve, quartet.group)
        let (ann, ben) = (world.nodes[0], world.nodes[1])
        let log = LogTag(
            OperationHash.log(space: group, device: eve.identity.device, lane: .content))
        var questions = 0
        world.onStep = { step in
            guard step.node === ann else { return }
            questions += step.effects.count {
                if case .send(_, let bytes) = $0 { bytes.first == 2 } else { false }
            }
        }
        for round in 0..<600 as Range<UInt64> {
            let claim = Frontier(
                space: group, isComplete: true, asksForMissing: false,
                entries: [
                    Frontier.Entry(
                        tag: log, sequence: 1_000 + round, check: Check(high: round, low: 0))
                ])
            eve.isHonest = false
            world.inject(.frontier(claim), from: eve, to: ann)
            world.run(for: 100)
        }
        #expect(questions < 100)
        try world.type("news", on: ben, in: group)
        world.run(for: 1_000)
        #expect(try ann.texts(in: group).contains("news"))
    }

    /// Nobody learns anything any more: what is sent is heartbeats and little else.
    private func expectSilence(in world: World) throws {
        for _ in 0..<3 {
            let before = (frames: world.frameCount, bytes: world.byteCount)
            world.run(for: minute)
            #expect(world.frameCount - before.frames < 150)
            #expect(world.byteCount - before.bytes < 32 << 10)
        }
    }
}
