import ParleyLedger
import ParleyNodeCore
import ParleySignalling
import ParleySimulation

/// Calls, typing and presence.
extension Stage {
    /// What a person does about what is said at once and may be forgotten; nil where there is
    /// nothing to do it about.
    func talk(for deed: Deed, of node: SimulatedNode) throws -> Command? {
        let calls = node.core.calls
        switch deed {
        case .call(let place):
            return try space(place, of: node).map { .call($0.id, .microphone) }
        case .pickUp:
            let call =
                calls.all.first { $0.phase == .ringing }
                ?? calls.all.first { $0.phase == .aside && $0.members.count > 1 }
            return call.map { .act($0.id, .answer(.microphone)) }
        case .turnDown:
            return calls.all.first { $0.phase == .ringing }.map { .act($0.id, .decline) }
        case .hangUp: return calls.current.map { .act($0.id, .hangUp) }
        case .typing(let place, let isOn):
            return try space(place, of: node).map { .types($0.id, isOn) }
        case .appear(let how): return .setPresence(Self.presence(how))
        case .confide(let user, let how):
            return self.node(user).map { .setPrivacy(Self.privacy(how), for: $0.identity.person) }
        default: return nil
        }
    }

    private static func presence(_ word: String) -> Presence {
        switch word {
        case "online": .online
        case "away": .away
        default: .offline
        }
    }

    private static func privacy(_ word: String) -> PresenceBook.Privacy {
        switch word {
        case "nothing": .nothing
        case "nowOnly": .nowOnly
        default: .everything
        }
    }
}
