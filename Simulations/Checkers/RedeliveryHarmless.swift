import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySimulation
import ParleyWire

/// I5: operations that come once more, in any order, change nothing.
final class RedeliveryHarmless: Checker {
    static let invariant = "I5"
    /// Operations of a space that come again, at most.
    private static let sampleCountMax = 200
    private(set) var checkCount = 0
    private var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed, purpose: "redelivery") }

    func settled(_ world: World) throws {
        guard let node = world.honestNodes.randomElement(using: &random) else { return }
        let copy = try node.store.copy()
        let own = try copy.spaces().first { $0.kind == .own }
        for space in try copy.spaces() {
            var judge = try RosterReader.judge(of: space, in: copy)
            let roster = judge.roster
            let before = try ViewDigest.digest(of: space, roster: roster, in: copy)
            let context = MergeContext(
                space: space, roster: roster, ownPerson: node.identity.person, newestStand: 0,
                ownDeletions: try OwnDeletions(
                    in: space.id, ownSpace: own?.number, store: copy))
            try copy.begin(.normal)
            for applied in try sample(of: space, in: copy) {
                _ = try Merge.apply(applied, context, judging: &judge, in: copy)
                checkCount += 1
            }
            try copy.commit()
            guard try ViewDigest.digest(of: space, roster: roster, in: copy) == before else {
                throw violation("\(node.name) shows a space otherwise after some of it came again")
            }
        }
    }

    private func sample(
        of space: SpaceRecord, in store: any SimulatedStore
    ) throws -> [AppliedOperation] {
        var all: [AppliedOperation] = []
        for log in try store.logs(in: space.number) {
            for stored in try store.operations(in: log.number, 0...UInt64.max, limit: .max) {
                all.append(
                    AppliedOperation(
                        number: stored.number, log: log,
                        operation: VerifiedOperation(stored: stored, tag: log.tag),
                        isBackfill: true))
            }
        }
        all.shuffle(using: &random)
        let some = all.prefix(Self.sampleCountMax)
        return some + some.shuffled(using: &random)
    }
}
