import ParleyLedger
import ParleyNodeCore
import ParleySimulation
import ParleyWire

/// I3: what a person was told is saved is still there after any crash of the device.
final class SavedSurvives: Checker {
    static let invariant = "I3"
    private(set) var checkCount = 0

    private struct Promise {
        var log: LogNumber
        var sequence: UInt64
        var id: OperationID
    }

    private var promises: [DeviceID: [Promise]] = [:]
    /// How many of them were looked at since the device last died.
    private var seenCounts: [DeviceID: Int] = [:]

    func observed(_ step: StepReport) throws {
        guard !step.isLost, step.node.isHonest, case .command = step.input else { return }
        for case .reply(_, .success(.messages(let numbers))) in step.effects {
            for number in numbers {
                guard let stored = try step.node.store.operation(number) else {
                    throw violation("\(step.node.name) saved a message that is not stored")
                }
                promises[step.node.identity.device, default: []].append(
                    Promise(log: stored.log, sequence: stored.sequence, id: stored.id))
            }
        }
    }

    func died(_ node: SimulatedNode, losingPower: Bool) throws {
        if node.isHonest { try look(at: node) }
    }

    func looked(at world: World) throws {
        for node in world.honestNodes { try look(at: node) }
    }

    /// What a node that lives on once showed it does not lose; all of it is looked at after a death.
    func glanced(at world: World) throws {
        for node in world.honestNodes {
            try look(at: node, from: seenCounts[node.identity.device] ?? 0)
        }
    }

    func wasSetBack(_ node: SimulatedNode) {
        promises[node.identity.device] = nil
        seenCounts[node.identity.device] = nil
    }

    private func look(at node: SimulatedNode, from first: Int = 0) throws {
        let all = promises[node.identity.device] ?? []
        for promise in all.dropFirst(first) {
            let held = try node.store.operation(at: promise.sequence, in: promise.log)
            checkCount += 1
            guard held?.id == promise.id else {
                throw violation("\(node.name) lost a message that was reported as saved")
            }
        }
        seenCounts[node.identity.device] = all.count
    }
}
