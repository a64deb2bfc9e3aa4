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

    /// What a person deleted for themselves.
    struct Hidden {
        var person: PersonID
        var messages: Set<Named>
    }

    /// Nothing undoes it: of the person's own words others may lack some yet, all else is erased.
    mutating func hides(_ act: Act, _ edits: [Place]) -> Bool {
        guard let hidden, hidden.messages.contains(act.named) else { return false }
        if act.author.person != hidden.person { erased += [act.place] + edits }
        return true
    }

    mutating func foldOwnDeletion(_ act: Act) {
        guard let (space, message) = Self.named(act) else { return }
        ownDeletions[space, default: []].insert(message)
    }

    /// Of one person's reports of a message the last.
    mutating func foldReports(_ acts: [Act]) {
        for act in acts
        where act.kind == 70 && act.lane == .content && act.hasBody && act.author.role >= .member {
            guard let (space, message) = Self.named(act) else { continue }
            let place = message.place
            let line =
                "\(act.author.person) \(space) \(place.tag)-\(place.sequence)-\(message.check)"
            reports.removeAll { $0 == line }
            reports.append(line)
        }
    }

    /// The message that a star, an own deletion or a report names.
    private static func named(_ act: Act) -> (space: SpaceID, message: Named)? {
        guard let said = Payload.decode(PayloadStar.self, act.payload), said.on,
            let space = SpaceID(fieldBytes(said.space)), said.message.count == 32
        else { return nil }
        var reader = ByteReader(fieldBytes(said.message))
        // Thirty-two bytes are enough.
        guard let tag = try? reader.uint64(), let place = try? reader.uint64(),
            // The same.
            let check = try? reader.check(), place < 1 << 62
        else { return nil }
        return (space, Named(place: Place(tag: LogTag(tag), sequence: place), check: check))
    }
}
