import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySimulation
import ParleyWire

/// The highest place at which each log ever began for each device: what came before was never for it.
///
/// A floor may be gone a minute after it came, where a device came back by a word that fell. So it is
/// noted in the step that sets it.
struct HighestFloors {
    private var places: [DeviceID: [LogTag: UInt64]] = [:]

    /// The highest place at which a log began for a device; nil where it never began late.
    func place(of tag: LogTag, for device: DeviceID) -> UInt64? { places[device]?[tag] }

    /// Notes where logs begin for a node if a step may have changed that.
    mutating func note(_ step: StepReport) throws {
        let isDue = step.effects.contains { effect in
            guard case .changed(let changes) = effect else { return false }
            return changes.contains { if case .membership = $0 { true } else { false } }
        }
        if isDue { try note(step.node) }
    }

    /// Notes where logs begin for a node now.
    mutating func note(_ node: SimulatedNode) throws {
        let device = node.identity.device
        for (_, logs) in try node.eachSpace() {
            for case (let tag, let floor?) in logs.map({ ($0.tag, $0.floor) }) {
                places[device, default: [:]][tag, default: 0] = max(
                    floor.sequence, places[device]?[tag] ?? 0)
            }
        }
    }
}
