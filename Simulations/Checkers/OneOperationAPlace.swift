import ParleyLedger
import ParleyNodeCore
import ParleySimulation
import ParleyWire

/// I10: an honest device never lets two operations out for one place of a log.
final class OneOperationAPlace: Checker {
    static let invariant = "I10"
    private(set) var checkCount = 0

    private struct Place: Hashable {
        var tag: LogTag
        var sequence: UInt64
    }

    /// What others hold, and what was reported as saved, once and for all.
    private var ledger: [Place: OperationID] = [:]
    private var seen: [DeviceID: Int64] = [:]
    private var liars: Set<DeviceID> = []

    func observed(_ step: StepReport) throws {
        if !step.node.isHonest { liars.insert(step.node.identity.device) }
        if step.isLost || !step.node.isHonest { return }
        let device = step.node.identity.device
        let count = Int64(step.node.store.operationCount)
        for row in stride(from: min(seen[device] ?? 0, count) + 1, through: count, by: 1) {
            guard let stored = try step.node.store.operation(OperationNumber(row)),
                let log = try step.node.store.log(stored.log)
            else { continue }
            if liars.contains(log.device) { continue }
            checkCount += 1
            let place = Place(tag: log.tag, sequence: stored.sequence)
            if let known = ledger[place], known != stored.id {
                liars.formUnion(step.node.world?.liars ?? [])
                if liars.contains(log.device) { continue }
                throw violation(
                    "two operations at \(log.tag)/\(stored.sequence), seen at \(step.node.name)")
            }
            ledger[place] = stored.id
        }
        seen[device] = count
    }

    func died(_ node: SimulatedNode, losingPower: Bool) throws {
        seen[node.identity.device] = min(
            seen[node.identity.device] ?? 0, Int64(node.store.operationCount))
    }

    func looked(at world: World) throws {
        liars.formUnion(world.liars)
        let honest = world.honestNodes
        for node in honest {
            checkCount += 1
            let forks = try node.store.forks()
            let logs = forks.isEmpty ? [] : try node.eachSpace().flatMap(\.logs)
            for evidence in forks {
                let log = logs.first { $0.id == evidence.log }
                guard let log, world.liars.contains(log.device) else {
                    throw violation("\(node.name) holds proof that an honest device wrote twice")
                }
            }
        }
    }
}
