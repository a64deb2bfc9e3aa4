import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleyWire

/// Who is named in which space: stored with each control operation, so that data from a person
/// costs by the spaces that name them and not by all spaces.
/// Source: `Protocol/06-sync.md`, "What others cost".
extension NodeCore {
    /// Records whom a control log names now and which of them are in the space with this person.
    ///
    /// - Parameter former: the roster before; nil where nothing is known to be noted.
    func noteNamings(
        in space: SpaceRecord, instead former: Roster?, _ store: some Store
    ) throws(StoreError) {
        guard let judge = rosters.judges[space.number] else { return }
        let before = former.map { sharing($0, of: space) }
        let after = sharing(judge.roster, of: space)
        for person in judge.graph.persons {
            let isShared = after?.takesPart(person) == true
            if let before, (before?.takesPart(person) == true) == isShared { continue }
            try store.noteNaming(of: person, in: space.number, isShared: isShared)
        }
    }

    /// The roster, where this person takes part and others can.
    private func sharing(_ roster: Roster, of space: SpaceRecord) -> Roster? {
        space.kind != .own && roster.takesPart(identity.person) ? roster : nil
    }

    /// Whether a person is in a space with oneself, as things stand, and both have accepted that.
    func sharesSpace(with person: PersonID, _ store: some Store) throws(StoreError) -> Bool {
        try store.spaces(naming: person).contains(where: \.isShared)
    }

    /// The spaces in which something about a person was ever said, ascending.
    func spaces(
        naming person: PersonID, _ store: some Store
    ) throws(StoreError) -> [SpaceRecord] {
        var spaces: [SpaceRecord] = []
        for naming in try store.spaces(naming: person) {
            if let space = try store.space(naming.space) { spaces.append(space) }
        }
        return spaces
    }
}
