import ParleyLedger
import ParleyNodeCore
import ParleySignalling
import ParleySimulation
import ParleyWire

/// I20: never two answered legs: of one person at most one device talks in a call.
///
/// Between two persons at no moment. In a group that was cut in two each side may have let one in,
/// until the sides hear of each other: there it holds once the faults are over.
final class OneDeviceAnswers: Checker {
    static let invariant = "I20"
    private(set) var checkCount = 0

    func observed(_ step: StepReport) throws {
        let isAboutCalls = step.effects.contains { if case .call = $0 { true } else { false } }
        guard isAboutCalls, step.node.isHonest, let world = step.node.world else { return }
        try look(at: step.node, in: world, groups: false)
    }

    func looked(at world: World) throws {}

    func settled(_ world: World) throws {
        for node in world.honestNodes { try look(at: node, in: world, groups: true) }
    }

    private func look(at node: SimulatedNode, in world: World, groups: Bool) throws {
        guard !node.isDown else { return }
        for call in node.core.calls.all where call.phase == .talking {
            let kind = try node.store.space(call.space)?.kind
            guard groups || kind == .direct else { continue }
            checkCount += 1
            let twin = world.honestNodes.first { other in
                other.identity.person == node.identity.person && !other.isDown
                    && other.identity.device != node.identity.device
                    && other.core.calls[call.id]?.phase == .talking
            }
            if let twin {
                throw violation("\(node.name) and \(twin.name) both talk in the call \(call.id)")
            }
        }
    }
}
