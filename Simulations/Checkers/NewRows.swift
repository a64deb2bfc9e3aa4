import ParleyLedger
import ParleyNodeCore
import ParleySimulation
import ParleyWire

/// Which operations a node has stored in a step by its own doing.
struct NewRows {
    private var seen: [DeviceID: Int] = [:]

    /// What a process that died had stored is told of no more.
    mutating func died(_ node: SimulatedNode) {
        seen[node.identity.device] = node.store.operationCount
    }

    /// The node begins anew with another store.
    mutating func wasSetBack(_ node: SimulatedNode) { seen[node.identity.device] = nil }

    /// The new ones, in the order in which they were stored; none the first time, and none of a step that
    /// brings something from others: own words that come back were written under what held then.
    mutating func take(in step: StepReport) -> [OperationNumber] {
        let count = step.node.store.operationCount
        let known = seen.updateValue(count, forKey: step.node.identity.device) ?? count
        switch step.input {
        case .frame, .relay: return []
        default: return stride(from: known, to: count, by: 1).map { OperationNumber(Int64($0 + 1)) }
        }
    }
}
