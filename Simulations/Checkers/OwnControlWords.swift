import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySimulation
import ParleyWire

/// What devices write into lane 0, step by step.
///
/// What was written in a step that others never heard of, or came back to who had forgotten it, is
/// left out: what the device knew when it wrote that is not seen any more.
struct OwnControlWords {
    private var ends: [DeviceID: [SpaceID: UInt64]] = [:]
    private var seen: Set<DeviceID> = []
    /// Devices of which the last step is not known.
    private var unknown: Set<DeviceID> = []
    /// Devices that may get back what they wrote before.
    private var forgetful: Set<DeviceID> = []

    /// What a device wrote in this step, by space.
    mutating func news(
        of step: StepReport
    ) throws -> [(space: SpaceRecord, operations: [StoredOperation])] {
        let device = step.node.identity.device
        if seen.insert(device).inserted, !step.isStart { unknown.insert(device) }
        if step.node.core.isBehind { forgetful.insert(device) }
        guard !forgetful.contains(device) else { return [] }
        if step.isLost {
            unknown.insert(device)
            return []
        }
        let isUnknown = unknown.remove(device) != nil
        guard isUnknown || step.effects.contains(where: { $0.isAboutRosters }) else { return [] }
        var news: [(space: SpaceRecord, operations: [StoredOperation])] = []
        for space in try step.node.store.spaces() {
            let name = OperationHash.log(space: space.id, device: device, lane: .control)
            guard let log = try step.node.store.log(LogTag(name), in: space.number) else {
                continue
            }
            let end = ends[device]?[space.id] ?? 0
            ends[device, default: [:]][space.id] = log.end
            if isUnknown || end >= log.end { continue }
            news.append(
                (
                    space,
                    try step.node.store.operations(
                        in: log.number, end...log.end - 1, limit: .max)
                ))
        }
        return news
    }

    /// An old copy was put in the place of a disk.
    mutating func wasSetBack(_ node: SimulatedNode) { forgetful.insert(node.identity.device) }
}

extension StepReport {
    /// Whether the node has just been started.
    fileprivate var isStart: Bool {
        if case .started = input { true } else { false }
    }
}

extension Effect {
    /// Whether somebody came, went, was asked or accepted.
    fileprivate var isAboutRosters: Bool {
        guard case .changed(let changes) = self else { return false }
        return changes.contains {
            switch $0 {
            case .membership(_), .invitation(_): true
            default: false
            }
        }
    }
}
