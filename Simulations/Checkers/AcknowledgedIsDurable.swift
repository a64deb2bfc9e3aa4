import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySimulation
import ParleyWire

/// I7: what a device acknowledged, it still holds after it lost its power.
final class AcknowledgedIsDurable: Checker {
    static let invariant = "I7"
    private(set) var checkCount = 0

    func looked(at world: World) throws {
        for witness in world.nodes {
            for (space, logs) in try witness.eachSpace() {
                for mark in try witness.store.marks(.acknowledged, in: space.number) {
                    guard let log = logs.first(where: { $0.tag == mark.tag }) else { continue }
                    try look(at: mark, log, space, in: world, told: witness.name)
                }
            }
        }
    }

    private func look(
        at mark: Mark, _ log: LogRecord, _ space: SpaceRecord, in world: World, told: String
    ) throws {
        let device = DeviceID(reinterpreting: mark.actor)
        guard let node = world.nodes.first(where: { $0.identity.device == device }) else { return }
        checkCount += 1
        guard let own = try node.store.space(space.id),
            let held = try node.store.log(log.tag, in: own.number),
            (held.wholeThrough ?? 0) >= mark.sequence, held.end > 0
        else {
            throw violation(
                "\(node.name) told \(told) that it holds \(log.tag)/\(mark.sequence), and does not")
        }
    }
}
