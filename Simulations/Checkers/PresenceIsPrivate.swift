import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySignalling
import ParleySimulation
import ParleyWire

/// I31: whether somebody is there is told to those alone whom they let know: to accepted contacts, not
/// to whom they tell nothing, and when they were there not to whom they tell only whether they are.
///
/// What leaves on links is read; what goes through relays is sealed. Settings are those that the person
/// made at this device. Source: `Protocol/11-calls.md`, "Presence".
final class PresenceIsPrivate: Checker {
    static let invariant = "I31"
    /// The first byte of a SIGNAL. Source: Protocol/06-sync.md, "Frames".
    private static let signalType: UInt8 = 21
    private(set) var checkCount = 0

    /// What a person let others know, by whom; nil stands for everybody else.
    private var settings: [DeviceID: [PersonID?: PresenceBook.Privacy]] = [:]
    /// Devices that may have other settings than were made there.
    private var forgetful: Set<DeviceID> = []
    /// Who is at the other end of each link, by who was told of it.
    private var peers: [DeviceID: [LinkID: PersonID]] = [:]

    func observed(_ step: StepReport) throws {
        let node = step.node
        note(step)
        guard node.isHonest, !step.isLost else { return }
        for case .send(let link, let bytes) in step.effects where bytes.first == Self.signalType {
            guard let peer = peers[node.identity.device]?[link], peer != node.identity.person,
                case .signal(let inner) = try Frame.decode(bytes),
                case .presence(let presence, let lastSeen)? = try Signal.decode(inner)?.body,
                presence != .offline
            else { continue }
            try look(at: lastSeen, toldTo: peer, by: node)
        }
    }

    func wasSetBack(_ node: SimulatedNode) { forgetful.insert(node.identity.device) }

    func looked(at world: World) throws {}

    private func note(_ step: StepReport) {
        let device = step.node.identity.device
        switch step.input {
        case .linkOpened(let link, let peer): peers[device, default: [:]][link] = peer.person
        case .linkClosed(let link): peers[device]?[link] = nil
        case .command(_, .setPrivacy(let privacy, let person)):
            if step.isLost { forgetful.insert(device) }
            let isDone = step.effects.contains {
                if case .reply(_, .success) = $0 { true } else { false }
            }
            if isDone { settings[device, default: [:]][person] = privacy }
        default: break
        }
    }

    private func look(
        at lastSeen: UInt64, toldTo peer: PersonID, by node: SimulatedNode
    ) throws {
        guard let own = node.core.ownSpace else { return }
        checkCount += 1
        let contact = try Overview.contacts(ownSpace: own.number, in: node.store)
            .first { $0.person == peer }
        guard contact?.isAccepted == true else {
            throw violation("\(node.name) tells that it is there to who is no contact")
        }
        if forgetful.contains(node.identity.device) { return }
        let known = settings[node.identity.device] ?? [:]
        switch known[peer] ?? known[nil] ?? .everything {
        case .everything: return
        case .nowOnly:
            if lastSeen == 0 { return }
            throw violation("\(node.name) tells when it was there to who is not told that")
        case .nothing:
            throw violation("\(node.name) tells that it is there to who is told nothing")
        }
    }
}
