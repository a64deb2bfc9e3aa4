import ParleyPayloads
import ParleyRoster
import ParleyWire

/// Whom a version of a message mentions, by the page alone.
struct NaiveMentions: Equatable {
    /// In their order.
    var persons: [PersonID] = []
    var everyone = false

    init() {}

    /// What a payload says: nothing where the words are not the author's own, or where it breaks a limit.
    init(in payload: [UInt8], isEdit: Bool) {
        var field: PayloadMentions?
        if isEdit {
            field = Payload.decode(PayloadEdit.self, payload)?.mentions
        } else if let text = Payload.decode(PayloadText.self, payload), !text.hasImported,
            !text.hasForwarded
        {
            field = text.mentions
        }
        guard let field, field.mentions.count <= 64 else { return }
        let persons = field.mentions.compactMap { PersonID(fieldBytes($0.person)) }
        guard persons.count == field.mentions.count else { return }
        (self.persons, everyone) = (persons, field.everyone)
    }

    func includes(_ person: PersonID) -> Bool { everyone || persons.contains(person) }

    func among(_ known: Set<PersonID>) -> NaiveMentions {
        var some = self
        some.persons.removeAll { !known.contains($0) }
        return some
    }
}
