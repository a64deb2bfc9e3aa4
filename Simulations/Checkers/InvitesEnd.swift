import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySimulation
import ParleyWire

/// I46: nobody becomes a contact by an invite that was ended, nor, over a link, by one whose time is over by
/// the clock of who gave it out.
///
/// A letter counts as when the relay got it, so of letters the time is not judged here.
/// Source: `Protocol/05-identity.md`, "Invites".
final class InvitesEnd: Checker {
    static let invariant = "I46"
    private(set) var checkCount = 0

    /// An invite of a device, by the number that hides its secret.
    private struct Name: Hashable {
        var device: DeviceID
        var number: UInt64
    }

    /// What each device lists as open, whatever its clock says, by number.
    private var open: [DeviceID: [UInt64: OpenInvite]] = [:]
    private var ended: Set<Name> = []

    func observed(_ step: StepReport) throws {
        let (node, device) = (step.node, step.node.identity.device)
        guard node.isHonest else { return }
        switch step.input {
        case .command(let command, .revokeInvite(let number)):
            let isDone = step.effects.contains {
                if case .reply(command, .success) = $0 { true } else { false }
            }
            if isDone, !step.isLost { ended.insert(Name(device: device, number: number)) }
        case .command, .started: break
        default:
            // Commands alone open invites.
            if open[device]?.isEmpty == true { return }
        }
        let now = Dictionary(
            uniqueKeysWithValues: try OpenInvite.all(at: 0, node.store).map { ($0.number, $0) })
        // Whom a node had taken in before it died says nothing of this step.
        let before = open.updateValue(now, forKey: device) ?? [:]
        for (number, invite) in before.sorted(by: { $0.key < $1.key })
        where now[number].map({ $0.guests.count > invite.guests.count }) ?? true {
            try look(at: invite, Name(device: device, number: number), step)
        }
    }

    /// An invite was taken, or is gone.
    private func look(at invite: OpenInvite, _ name: Name, _ step: StepReport) throws {
        let isByLink: Bool
        switch step.input {
        case .frame: isByLink = true
        case .relay: isByLink = false
        default: return
        }
        checkCount += 1
        let host = step.node.name
        guard !ended.contains(name) else {
            throw violation("\(host) takes somebody in by an invite that was ended")
        }
        guard !isByLink || step.wall < invite.expires else {
            throw violation("\(host) takes somebody in by an invite after its time")
        }
    }

    /// What was noted of a guest may be undone.
    func died(_ node: SimulatedNode, losingPower: Bool) throws { forget(node) }

    /// So may be the end of an invite: the copy is from before.
    func wasSetBack(_ node: SimulatedNode) {
        forget(node)
        ended = ended.filter { $0.device != node.identity.device }
    }

    private func forget(_ node: SimulatedNode) { open[node.identity.device] = nil }

    func looked(at world: World) throws {}
}
