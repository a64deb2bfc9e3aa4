import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySignalling
import ParleySimulation
import ParleyWire

/// I26: nobody hears a call from somebody they keep away: nothing rings for a call of a person who is
/// blocked, was declined, or was never accepted.
///
/// Source: `Protocol/11-calls.md`, "Calls".
final class NobodyHearsWhoIsKeptAway: Checker {
    static let invariant = "I26"
    private(set) var checkCount = 0

    func observed(_ step: StepReport) throws {
        guard step.node.isHonest, !step.isLost else { return }
        for case .call(let output) in step.effects {
            guard case .ring = output.order, let call = step.node.core.calls[output.call] else {
                continue
            }
            try look(at: call, of: step.node)
        }
    }

    func looked(at world: World) throws {
        for node in world.honestNodes where !node.isDown {
            for call in node.core.calls.all where call.phase == .ringing {
                try look(at: call, of: node)
            }
        }
    }

    private func look(at call: Call, of node: SimulatedNode) throws {
        let caller = call.founder.person
        guard caller != node.identity.person, let own = node.core.ownSpace else { return }
        checkCount += 1
        let contact = try Overview.contacts(ownSpace: own.number, in: node.store)
            .first { $0.person == caller }
        guard let contact, contact.state == .accepted, !contact.isBlocked else {
            throw violation(
                "\(node.name) rings for somebody who is \(Self.word(contact))")
        }
    }

    private static func word(_ contact: Contact?) -> String {
        guard let contact else { return "a stranger" }
        return contact.isBlocked ? "blocked" : "\(contact.state.rawValue)"
    }
}
