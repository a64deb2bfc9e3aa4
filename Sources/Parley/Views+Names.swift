import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySealing
import ParleyStorage
import ParleyWire

/// Names that look alike. Wherever a person is shown whose name could be another's, the start of the
/// identifier stands behind it. Source: `Protocol/05-identity.md`, "Names".
extension Views {
    /// Contacts whose name looks like that of a person, and oneself: each the name, and the start of
    /// the identifier in brackets.
    func resembles(_ person: PersonID) throws -> [String] {
        let contacts = try everybodysLooks().contacts
        return try lookalikes(of: person, in: nil).filter { contacts.contains($0) }.map { other in
            let start = other == ownPerson ? "you, " : ""
            return start + "\(try bareName(of: other)) (\(other.short))"
        }
    }

    /// Other known persons, including this one, whose name looks like that of a person; ascending.
    func lookalikes(of person: PersonID, in roster: Roster?) throws -> [PersonID] {
        let looks = try everybodysLooks()
        let keys = Self.keys(of: try bareName(of: person, in: roster))
        return Set(keys.flatMap { looks.persons[$0] ?? [] }).subtracting([person]).sorted()
    }

    /// Conversations, each group with the others whose names look like its own. Of conversations with one
    /// person the list of contacts says that.
    static func markedAlike(_ all: [ConversationView]) -> [ConversationView] {
        var holders: [String: [Int]] = [:]
        // Brackets behind a person are the program's, and in a group's name part of it.
        let looks = all.map {
            Set($0.kind == "group" ? Confusables.keys(of: $0.name) : keys(of: $0.name))
        }
        for (index, keys) in looks.enumerated() {
            for key in keys { holders[key, default: []].append(index) }
        }
        return all.enumerated().map { index, view in
            guard view.kind == "group" else { return view }
            let others = Set(looks[index].flatMap { holders[$0] ?? [] }).subtracting([index])
            var marked = view
            marked.resembles = others.sorted().map { "\(all[$0].name) (\(all[$0].id.prefix(8)))" }
            return marked
        }
    }

    private static func keys(of name: String) -> [String] {
        // Brackets behind a name can pass for a word of the program, such as “(you)”.
        let bare = name.prefix { $0 != "(" }.split(separator: " ").joined(separator: " ")
        return Confusables.keys(of: name) + Confusables.keys(of: bare)
    }

    /// Who looks like what, among all known names. It is read again only after a card or a note on
    /// a person arrived.
    private func everybodysLooks() throws -> Lookalikes {
        if let known = names.lookalikes { return known }
        var ownEnd: UInt64 = 0
        if let own = core.ownSpace {
            for log in try store.logs(in: own.number) { ownEnd += log.end }
        }
        let stand = Lookalikes.Stand(cardChangeCount: store.cardChangeCount, ownEnd: ownEnd)
        if let known = rosters.lookalikes, known.stand == stand {
            names.lookalikes = known
            return known
        }
        let looks = try readLooks(stand)
        (names.lookalikes, rosters.lookalikes) = (looks, looks)
        return looks
    }

    private func readLooks(_ stand: Lookalikes.Stand) throws -> Lookalikes {
        var looks = Lookalikes(stand: stand)
        looks.contacts = [ownPerson]
        looks.contacts.formUnion(try store.values(.introduction).compactMap { PersonID($0.key) })
        var known = looks.contacts
        known.formUnion(try store.values(.card).compactMap { PersonID($0.key) })
        if let own = core.ownSpace {
            for contact in try Overview.contacts(ownSpace: own.number, in: store) {
                known.insert(contact.person)
                if contact.isBlocked || contact.state == .declined { continue }
                looks.contacts.insert(contact.person)
            }
        }
        for person in known.sorted() {
            let name = try bareName(of: person)
            // If nothing else is known, the identifier is shown anyway.
            if name == person.short { continue }
            for key in Confusables.keys(of: name) {
                looks.persons[key, default: []].append(person)
            }
        }
        return looks
    }
}
