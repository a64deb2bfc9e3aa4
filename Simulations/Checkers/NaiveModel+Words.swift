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

    /// Whether the rules let somebody do what an operation of this kind does: words that all read, and pins
    /// with how long messages stay. Of all else they say nothing.
    static func isEntitled(_ author: NaiveAuthor, to kind: UInt64) -> Bool {
        switch kind {
        case 64, 65, 69, 96, 100, 101, 102, 120, 121, 122: author.rights.contains(.write)
        case 40, 44: author.rights.contains(.pin)
        default: true
        }
    }

    /// How long new messages stay: the last word of those who may say it.
    mutating func foldLifetime(_ acts: [Act]) {
        for act in acts where act.kind == 44 && act.lane == .shared && act.hasBody {
            guard
                let said = Payload.decode(PayloadLifetime.self, act.payload),
                said.seconds <= 31_536_000
            else { continue }
            lifetime = said.seconds > 0 ? said.seconds : nil
        }
    }

    /// Emojis in the order in which the oldest that stands was given; with each who gave it.
    static func reactions(_ toggles: [Act]) -> [String] {
        var standing: [(emoji: String, person: PersonID)] = []
        for act in toggles {
            guard let reaction = Payload.decode(PayloadReaction.self, act.payload) else { continue }
            standing.removeAll { $0.emoji == reaction.emoji && $0.person == act.author.person }
            if reaction.on { standing.append((reaction.emoji, act.author.person)) }
        }
        var emojis: [String] = []
        for one in standing where !emojis.contains(one.emoji) { emojis.append(one.emoji) }
        return emojis.map { emoji in
            let persons = standing.filter { $0.emoji == emoji }.map(\.person.description)
            return emoji + " " + persons.joined(separator: " ")
        }
    }
}
