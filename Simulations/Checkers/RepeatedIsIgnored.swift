import ParleyNodeCore
import ParleySimulation
import ParleyWire

/// I32: what a relay passes on twice has an effect once: nothing rings again, and nothing on a screen
/// changes.
///
/// Of a device that has started again nothing is known: then age alone judges.
/// Source: `Protocol/11-calls.md`, "Fresh or stale".
final class RepeatedIsIgnored: Checker {
    static let invariant = "I32"
    static let needsRelay = true
    private(set) var checkCount = 0
    /// What had an effect on a device since it started.
    private var taken: [DeviceID: Set<[UInt8]>] = [:]

    func observed(_ step: StepReport) throws {
        guard step.node.isHonest, !step.isLost,
            case .relay(_, .passed(_, let bytes)) = step.input
        else { return }
        let hasEffect = step.effects.contains {
            switch $0 {
            case .call, .changed: true
            default: false
            }
        }
        guard taken[step.node.identity.device]?.contains(bytes) == true else {
            if hasEffect { taken[step.node.identity.device, default: []].insert(bytes) }
            return
        }
        checkCount += 1
        if hasEffect {
            throw violation("\(step.node.name) does again what a relay passed on before")
        }
    }

    func died(_ node: SimulatedNode, losingPower: Bool) throws {
        taken[node.identity.device] = nil
    }

    func wasSetBack(_ node: SimulatedNode) { taken[node.identity.device] = nil }

    func looked(at world: World) throws {}
}
