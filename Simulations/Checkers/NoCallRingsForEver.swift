import ParleyNodeCore
import ParleySignalling
import ParleySimulation
import ParleyWire

/// I19: nothing rings for ever. A device that was told to ring is told to stop within a minute, or
/// its process has ended.
final class NoCallRingsForEver: Checker {
    static let invariant = "I19"
    /// A minute, and what a store that fails again and again may add.
    static let ringTimeMax: UInt64 = 90_000
    private(set) var checkCount = 0

    private struct Bell: Hashable {
        let device: DeviceID
        let call: CallID
    }

    private struct Rung {
        let since: UInt64
        let life: Int
    }

    private var ringing: [Bell: Rung] = [:]

    func observed(_ step: StepReport) throws {
        guard step.node.isHonest, let now = step.node.world?.now else { return }
        for case .call(let output) in step.effects {
            let bell = Bell(device: step.node.identity.device, call: output.call)
            switch output.order {
            case .ring where !step.isLost:
                checkCount += 1
                ringing[bell] = Rung(since: now, life: step.node.life)
            case .stopRinging: ringing[bell] = nil
            case .ring, .send, .media, .established, .changed, .ended: break
            }
        }
        if !ringing.isEmpty { try look(at: step.node, now) }
    }

    func died(_ node: SimulatedNode, losingPower: Bool) throws {
        ringing = ringing.filter { $0.key.device != node.identity.device }
    }

    func looked(at world: World) throws {
        for node in world.honestNodes { try look(at: node, world.now) }
    }

    private func look(at node: SimulatedNode, _ now: UInt64) throws {
        guard !node.isDown else { return }
        for (bell, rung) in ringing
        where bell.device == node.identity.device && rung.life == node.life {
            guard now <= rung.since + Self.ringTimeMax else {
                throw violation("\(node.name) has been ringing since \(rung.since) ms")
            }
        }
    }
}
