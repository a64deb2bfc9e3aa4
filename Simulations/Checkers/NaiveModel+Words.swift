import ParleyPayloads
import ParleyRoster
import ParleyWire

/// What people say of themselves, and of a conversation as a whole.
extension NaiveModel {
    /// The last word of each person and field that keeps to what the field demands.
    mutating func foldProfiles(_ acts: [Act]) {
        for act in acts where act.kind == 42 && act.lane == .shared && act.hasBody {
            guard let said = Payload.decode(PayloadProfile.self, act.payload),
                let limit = [1: 256, 2: 35, 3: 64][said.field], said.value.utf8.count <= limit
            else { continue }
            profiles[act.author.person, default: [:]][said.field] =
                said.value.isEmpty ? nil : said.value
        }
    }

    /// How long new messages stay: the last word, of an admin in a group.
    mutating func foldLifetime(_ acts: [Act], isGroup: Bool) {
        for act in acts where act.kind == 44 && act.lane == .shared && act.hasBody {
            guard act.author.role >= (isGroup ? .admin : .member),
                let said = Payload.decode(PayloadLifetime.self, act.payload),
                said.seconds <= 31_536_000
            else { continue }
            lifetime = said.seconds > 0 ? said.seconds : nil
        }
    }
}
