import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyWire
import Testing

@testable import ParleySimulation

@Suite("A node under mutated frames")
struct NodeFuzzTests {
    /// All that one node told another in a short life: the frames to begin with.
    private func talk(_ world: World) throws -> (ann: SimulatedNode, ben: SimulatedNode, SpaceID) {
        let ann = try world.addNode("ann")
        let ben = try world.addNode("ben")
        let space = try world.introduce(ann, ben)
        for count in 0..<5 { try world.type("\(count)", on: ann, in: space) }
        world.run(for: 2_000)
        return (ann, ben, space)
    }

    @Test("Attack 56: a node takes any frames of a linked peer, and goes on", arguments: 0..<2)
    func frames(part: Int) throws {
        var mutator = Mutator(seed: FuzzPlan.seed, purpose: "node \(part)")
        let clock = ContinuousClock()
        let end = clock.now + .seconds(FuzzPlan.seconds * 2)
        var frameCount = 0
        var life: UInt64 = 0
        while clock.now < end {
            let world = World(seed: FuzzPlan.seed << 16 | UInt64(part) << 8 | life)
            let (ann, ben, space) = try talk(world)
            let valid = try Decoder.frames() + own(space, of: ann)
            for _ in 0..<200 where frameCount == 0 || clock.now < end {
                world.inject(mutator.next(from: valid), from: ann, to: ben)
                frameCount += 1
                world.run(for: 20)
            }
            // Whatever that was, the two end equal, and what is written then arrives.
            world.run(for: 120_000)
            try world.type("still there", on: ann, in: space)
            world.run(for: 300_000)
            #expect(try ben.texts(in: space).contains("still there"), "life \(life)")
            life += 1
        }
        #expect(frameCount > 0)
    }

    /// Frames that really are about the space.
    private func own(_ space: SpaceID, of node: SimulatedNode) throws -> [[UInt8]] {
        guard let record = try node.store.space(space) else { return [] }
        let logs = try node.store.logs(in: record.number)
        var frames: [Frame] = []
        for log in logs {
            guard let tip = log.spans.last else { continue }
            let runs = Run(
                device: log.device, lane: log.lane, first: 0, anchor: nil,
                operations: try node.store.operations(in: log.number, 0...tip.last, limit: 100)
                    .map(\.operation), heads: try node.store.heads(in: log.number, 0...tip.last))
            frames += [
                .operations(Operations(space: space, endsAnswer: false, runs: [runs])),
                .want(
                    Want(
                        space: space, limit: 10,
                        ranges: [
                            .init(tag: log.tag, first: 0, last: tip.last)
                        ])),
                .frontier(
                    Frontier(
                        space: space, isComplete: false, asksForMissing: true,
                        entries: [
                            .init(
                                tag: log.tag, sequence: tip.last + 1, check: Check(high: 7, low: 7))
                        ])),
                .acknowledge(
                    Acknowledgement(
                        space: space,
                        entries: [
                            .init(tag: log.tag, sequence: tip.last, check: log.tip.check)
                        ])),
                .fork(ForkProof(space: space, left: runs, right: runs)),
            ]
        }
        return frames.map { $0.encoded() }
    }
}
