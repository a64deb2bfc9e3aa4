import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySignalling
import ParleySimulation
import ParleyWire

/// I31: whether somebody is there is told to those alone whom they let know: to accepted contacts, not
/// to whom they tell nothing, and when they were there not to whom they tell only whether they are.
///
/// What leaves on links is read; what goes through relays is sealed. What somebody may know is what the
/// person last said on any device, as far as this one has heard of it; I14 looks which that is. Source:
/// `Protocol/11-calls.md`, "Presence".
final class PresenceIsPrivate: Checker {
    static let invariant = "I31"
    /// The first byte of a SIGNAL. Source: Protocol/06-sync.md, "Frames".
    private static let signalType: UInt8 = 21
    private(set) var checkCount = 0

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

    func looked(at world: World) throws {}

    private func note(_ step: StepReport) {
        let device = step.node.identity.device
        switch step.input {
        case .linkOpened(let link, let peer): peers[device, default: [:]][link] = peer.person
        case .linkClosed(let link): peers[device]?[link] = nil
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
        func said(of person: PersonID?) throws -> [UInt8]? {
            try Overview.preference(
                .presence, about: person?.bytes ?? [], ownSpace: own.number, in: node.store)
        }
        switch try said(of: peer) ?? said(of: nil) ?? [1] {
        case [1]: return
        case [2]:
            if lastSeen == 0 { return }
            throw violation("\(node.name) tells when it was there to who is not told that")
        default:
            throw violation("\(node.name) tells that it is there to who is told nothing")
        }
    }
}
