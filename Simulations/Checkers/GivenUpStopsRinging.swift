import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySignalling
import ParleySimulation
import ParleyWire

/// I27: a call that was given up stops ringing: who gives it up says so on every link to a device that
/// rings, and a device that hears it stops at once.
///
/// Where clocks are wrong what is said may count as stale, and then time alone ends the call: that is
/// I19. Source: `Protocol/11-calls.md`.
final class GivenUpStopsRinging: Checker {
    static let invariant = "I27"
    private(set) var checkCount = 0

    /// The first byte of a SIGNAL. Source: Protocol/06-sync.md, "Frames".
    private static let signalType: UInt8 = 21
    /// So old may it be, in milliseconds: beyond that it may count as stale.
    private static let ageMax: UInt64 = 5_000

    private struct Bell: Hashable {
        let device: DeviceID
        let call: CallID
    }

    private var clocks = ClockWatch()
    private var ringing: Set<Bell> = []
    /// Who is at the other end of each link that is open.
    private var links: [LinkID: DeviceID] = [:]

    func observed(_ step: StepReport) throws {
        clocks.note(step.node)
        note(step)
        guard step.node.isHonest, !step.isLost, clocks.areRight else { return }
        try lookAtHearing(step)
        for case .call(let output) in step.effects {
            let bell = Bell(device: step.node.identity.device, call: output.call)
            switch output.order {
            case .ring: ringing.insert(bell)
            case .stopRinging: ringing.remove(bell)
            case .ended(.cancelled), .ended(.unanswered): try lookAtSaying(output, step)
            case .send, .media, .established, .changed, .ended: break
            }
        }
    }

    func died(_ node: SimulatedNode, losingPower: Bool) throws {
        ringing = ringing.filter { $0.device != node.identity.device }
    }

    func looked(at world: World) throws { for node in world.nodes { clocks.note(node) } }

    private func note(_ step: StepReport) {
        switch step.input {
        case .linkOpened(let link, let peer): links[link] = peer.device
        case .linkClosed(let link): links[link] = nil
        default: break
        }
        for case .hangUp(let link, _) in step.effects { links[link] = nil }
    }

    /// Who gives up tells every device that rings and is linked.
    private func lookAtSaying(_ output: Calls.Output, _ step: StepReport) throws {
        let told = step.effects.compactMap { effect -> DeviceID? in
            guard case .send(let link, let bytes) = effect,
                Self.departure(in: bytes)?.call == output.call
            else { return nil }
            return links[link]
        }
        let linked = Set(step.node.core.linkedPeers.map(\.device))
        let roster = try step.node.store.space(output.space).flatMap {
            try step.node.roster(of: $0)
        }
        for bell in ringing.sorted(by: { $0.device < $1.device })
        where bell.call == output.call && bell.device != step.node.identity.device {
            guard linked.contains(bell.device), roster?.contains(bell.device) == true else {
                continue
            }
            checkCount += 1
            guard told.contains(bell.device) else {
                throw violation(
                    "\(step.node.name) gives a call up, and does not tell a device that rings")
            }
        }
    }

    /// Who hears that the last one in a call has gone does not ring on.
    private func lookAtHearing(_ step: StepReport) throws {
        guard case .frame(let link, let bytes) = step.input,
            let said = Self.departure(in: bytes), let sender = links[link],
            let world = step.node.world,
            World.epoch + world.now < said.signal.stamp.wallClock + Self.ageMax,
            let space = try step.node.store.space(said.signal.space),
            try step.node.roster(of: space)?.contains(sender) == true
        else { return }
        let bell = Bell(device: step.node.identity.device, call: said.call)
        guard ringing.contains(bell) else { return }
        checkCount += 1
        guard let call = step.node.core.calls[said.call], call.phase == .ringing else { return }
        guard call.members.contains(where: { $0.device != sender }) else {
            throw violation("\(step.node.name) rings on after it heard that the call was given up")
        }
    }

    private static func departure(in bytes: [UInt8]) -> (call: CallID, signal: Signal)? {
        // What cannot be read is no signal.
        guard bytes.first == signalType, let frame = try? Frame.decode(bytes) else { return nil }
        // Nor is this.
        guard case .signal(let inner) = frame, let signal = try? Signal.decode(inner),
            case .call(let call, .leave) = signal.body
        else { return nil }
        return (call, signal)
    }
}

/// Whether every clock was right all the time.
struct ClockWatch {
    private(set) var areRight = true

    mutating func note(_ node: SimulatedNode) {
        if node.clock.skew != 0 || node.clock.drift != 0 { areRight = false }
    }
}
