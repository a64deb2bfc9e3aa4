import ParleyConversation
public import ParleyLedger
import ParleyRoster
public import ParleyWire

/// Who was a contact as far as one's conversations tell, in a home that was made of a backup in which
/// nothing is noted of them: the note was lost with a part of the disk before the backup was made.
///
/// They know it still, so they are asked to be a contact. Source: `Protocol/05-identity.md`, "Coming back".
extension NodeCore {
    private static let forgottenKey = Array("forgotten ".utf8)

    /// Notes with whom this person wrote alone and of whom nothing is noted, before the store is used.
    public static func noteForgotten(
        by person: PersonID, in store: some Store
    ) throws(StoreError) {
        let spaces = try store.spaces()
        let own = spaces.first { $0.kind == .own }
        for space in spaces where space.kind == .direct {
            let roster = try RosterReader.judge(of: space, in: store).roster
            let devices = Set(roster.devicesEver(of: person))
            // Anybody may begin a conversation with somebody; who wrote in it knew them.
            guard
                try store.logs(in: space.number).contains(where: {
                    devices.contains($0.device) && $0.heldCount > 0
                })
            else { continue }
            for member in roster.members where member.person != person {
                if let own,
                    try Overview.contact(member.person, ownSpace: own.number, in: store) != nil
                {
                    continue
                }
                try store.setValue([1], .profile, forgottenKey + member.person.bytes)
            }
        }
    }

    /// Who was not asked yet, ascending.
    public static func forgotten(in store: some NodeStore) throws(StoreError) -> [PersonID] {
        try store.values(.profile).filter { $0.key.starts(with: forgottenKey) }
            .compactMap { PersonID(Array($0.key.dropFirst(forgottenKey.count))) }.sorted()
    }

    /// Asks them to be contacts, once this device may write among the person's own.
    mutating func askForgotten(
        at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) {
        guard let ownSpace, let roster = try roster(of: ownSpace, store), isListed(in: roster)
        else { return }
        for person in try Self.forgotten(in: store) {
            try store.setValue(nil, .profile, Self.forgottenKey + person.bytes)
            // Another device may have told of them meanwhile.
            guard try contact(person, store) == nil,
                let card = try store.value(.card, person.bytes)
            else { continue }
            // Whoever cannot be asked is asked by hand: the conversation is there.
            _ = try request(card, "", at: now, store, &random, &effects)
        }
    }
}
