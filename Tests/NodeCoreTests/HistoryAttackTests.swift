import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySimulation
import ParleyWire
import Testing

@Suite("History that is not for who asks")
struct HistoryAttackTests {
    /// The payloads of a group that a node was sent, lane 0 apart.
    private final class Ears {
        var payloads: [[UInt8]] = []
    }

    private func listen(to node: SimulatedNode, in village: Village) throws -> Ears {
        let ears = Ears()
        let place = try #require(village.nodes.firstIndex { $0 === node })
        village.world.onEvent = { event in
            guard case .arrived(let passage) = event, passage.target == place,
                // What does not decode was not sent by these nodes.
                case .operations(let operations)? = try? Frame.decode(passage.bytes),
                operations.space == village.group
            else { return }
            for run in operations.runs where run.lane != .control {
                ears.payloads += run.operations.compactMap(\.payload)
            }
        }
        return ears
    }

    private func logs(of node: SimulatedNode, _ village: Village) throws -> [LogRecord] {
        let record = try village.record(node)
        return try node.observed { try node.store.logs(in: record.number) }
    }

    @Test("Attack 45: nobody serves what lies below the horizon of who asks for it")
    func belowTheHorizon() throws {
        let village = try Village(seed: 45, memberCount: 3)
        for node in [village.ann, village.ben, village.cara] { try village.type("secret", node) }
        village.world.run(for: 2_000)
        let ears = try listen(to: village.dora, in: village)
        try village.add(village.dora, by: village.ann)
        village.world.run(for: 3_000)
        try village.type("hello dora", village.ben)
        village.world.run(for: 1_000)
        for node in [village.ann, village.ben, village.cara] {
            for log in try logs(of: node, village) where log.end > 0 {
                let want = Want(
                    space: village.group, limit: 100,
                    ranges: [.init(tag: log.tag, first: 0, last: log.end - 1)])
                village.world.inject(.want(want), from: village.dora, to: node)
            }
        }
        village.world.run(for: 60_000)
        let secret = Array("secret".utf8)
        #expect(!ears.payloads.isEmpty)
        #expect(!ears.payloads.contains { $0.contains(secret) })
        #expect(try village.texts(village.dora) == ["hello dora"])
    }

    /// Who was linked to somebody that lacked it as well asked them for ever, and nobody else.
    @Test("Attack 45: a payload that nobody linked brings comes from who is behind a relay")
    func behindRelay() throws {
        let village = try Village(seed: 47, memberCount: 3)
        let (world, ann, ben) = (village.world, village.ann, village.ben)
        world.stripBodies(village.cara)
        world.cut(ann, ben)
        world.cut(village.dora, ben)
        // Ben gets it of cara alone: without its text.
        try village.type("a word of ann", ann)
        world.run(for: 10_000)
        let before = try ben.messages(in: village.group)
        #expect(before.count == 1 && before.allSatisfy { $0.flags.contains(.bodyless) })
        let relay = world.addRelay("relay")
        for node in [ann, ben] { try world.use(relay, by: node) }
        world.run(for: 1_200_000)
        #expect(try village.texts(ben) == ["a word of ann"])
    }

    @Test("Attack 45: a payload that comes home altered is refused, and the true one is taken")
    func altered() throws {
        let village = try Village(seed: 46, memberCount: 3)
        let (world, ann, ben) = (village.world, village.ann, village.ben)
        world.stripBodies(village.cara)
        world.cut(ann, ben)
        world.cut(village.dora, ben)
        try village.type("a word of ann", ann)
        world.run(for: 60_000)
        let log = try #require(
            try logs(of: ann, village).first {
                $0.device == ann.identity.device && $0.lane == .content
            })
        let stored = try #require(
            try ann.observed { try ann.store.operation(at: log.end - 1, in: log.number) })
        #expect(log.end == 1)
        guard case .present(let salt, var payload) = stored.operation.body else {
            Issue.record("ann has what she wrote")
            return
        }
        payload[payload.count - 1] ^= 1
        let forged = try Operation.make(stored.operation.header, salt: salt, payload: payload)
        let run = Run(
            device: ann.identity.device, lane: .content, first: 0,
            anchor: nil, operations: [forged], heads: [])
        world.inject(
            .operations(Operations(space: village.group, endsAnswer: true, runs: [run])),
            from: village.cara, to: ben)
        world.run(for: 10_000)
        #expect(try ben.messages(in: village.group).allSatisfy { $0.flags.contains(.bodyless) })
        village.settle()
        #expect(try village.texts(ben) == ["a word of ann"])
    }
}
