import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySimulation
import ParleyWire

/// I11: proof that a device wrote two histories, seen by one honest member, ends at all of them;
/// and nothing that honest members wrote depends on which history somebody saw first.
///
/// The second half is looked at by ``Convergence``, which leaves out nothing but what the liar wrote
/// where its histories differ.
final class EvidenceSpreads: Checker {
    static let invariant = "I11"
    private(set) var checkCount = 0

    func settled(_ world: World) throws {
        let honest = world.honestNodes
        for node in honest {
            for evidence in try node.store.forks() {
                checkCount += 1
                guard ForkEvidence(evidence.proof) == evidence else {
                    throw violation("\(node.name) keeps proof of a fork that proves nothing")
                }
                try look(for: evidence, of: node, among: honest, in: world)
            }
        }
    }

    private func look(
        for evidence: ForkEvidence, of node: SimulatedNode, among honest: [SimulatedNode],
        in world: World
    ) throws {
        for other in honest where other !== node {
            guard let space = try other.store.space(evidence.proof.space),
                // Who is out hears of it no more.
                try other.belongs(to: space),
                let own = try node.store.space(evidence.proof.space), try node.belongs(to: own),
                let log = try other.store.log(LogTag(evidence.log), in: space.number),
                // Nothing passes where one keeps the other away.
                try world.comes(from: node, to: other, in: space)
            else { continue }
            guard log.proven == evidence.point else {
                throw violation(
                    "\(node.name) knows that log \(log.tag) parts at \(evidence.sequence), and"
                        + " \(other.name) does not")
            }
        }
    }
}
