import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySimulation
import ParleyWire

/// What people do about who is in a conversation, and what thieves do.
extension Stage {
    func membership(for deed: Deed, of node: SimulatedNode) throws -> Command? {
        func person(_ user: String) -> PersonID? { self.node(user)?.identity.person }
        func role(_ number: Int) -> Role { Role(rawValue: UInt8(clamping: number)) ?? .member }
        switch deed {
        case .add(let place, let user, let number):
            guard let space = try space(place, of: node), let person = person(user) else {
                return nil
            }
            return .addMember(space.id, person, role(number))
        case .remove(let place, let user):
            guard let space = try space(place, of: node), let person = person(user) else {
                return nil
            }
            return .removeMember(space.id, person)
        case .promote(let place, let user, let number):
            guard let space = try space(place, of: node), let person = person(user) else {
                return nil
            }
            return .setRole(space.id, person, role(number))
        case .quit(let place): return try space(place, of: node).map { .leave($0.id) }
        case .consent(let isAccepting):
            let oldest = try Invitation.waiting(in: node.store).min {
                ($0.invitation.since, $0.space) < ($1.invitation.since, $1.space)
            }
            return oldest.map {
                isAccepting ? .acceptInvitation($0.space) : .declineInvitation($0.space)
            }
        case .permit(let mayAdd): return .setAdditionPolicy(mayAdd ? .contacts : .ask)
        case .govern(let place, let days):
            let history: HistoryPolicy =
                days == 0 ? .none : days < 0 ? .all : .days(UInt32(clamping: days))
            return try space(place, of: node).map {
                .changeSettings($0.id, SpaceSettings(history: history))
            }
        default: return nil
        }
    }

    /// The disk of a node is copied, or what was copied is used.
    mutating func thief(of node: SimulatedNode, does deed: Deed) throws -> Bool {
        switch deed {
        case .steal:
            guard !node.isDown, thieves[node.name] == nil else { return false }
            let thief = try world.steal(node)
            thieves[node.name] = thief
            hold(thief)
            return true
        case .impersonate(let place, let text):
            guard let thief = thieves[node.name], !thief.isDown,
                let space = try world.observe({ try space(place, of: thief) })
            else { return false }
            let words = [TextMessage(text: text)]
            // Whether the stolen program still may does not matter.
            let reply = try? world.perform(.send(space.id, words, replyingTo: nil), on: thief)
            return reply != nil
        default: return false
        }
    }
}
