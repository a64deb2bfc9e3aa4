import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySimulation
import ParleyWire

/// I6: the views are what folding the log anew gives.
final class RebuiltViewsEqual: Checker {
    static let invariant = "I6"
    private(set) var checkCount = 0

    func settled(_ world: World) throws {
        for node in world.honestNodes { try look(at: node) }
    }

    private func look(at node: SimulatedNode) throws {
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
            try Merge.rebuild(context, judging: &judge, in: copy)
            try copy.commit()
            checkCount += 1
            guard try ViewDigest.digest(of: space, roster: roster, in: copy) == before else {
                throw violation("\(node.name) shows a space otherwise after folding it anew")
            }
        }
    }
}
