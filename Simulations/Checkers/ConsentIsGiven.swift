import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySimulation
import ParleyWire

/// I30: nobody takes part in a group without wanting to: a device accepts for its person only where
/// the person said so about that group, or lets contacts add them and a contact did.
///
/// What the person lets contacts do is what the model makes of their own space.
/// Source: `Protocol/08-roster.md`, "Consent".
final class ConsentIsGiven: Checker {
    static let invariant = "I30"
    private(set) var checkCount = 0

    private struct Consent: Hashable {
        let person: PersonID
        let space: SpaceID
    }

    private let book = NaiveBook()
    private var words = OwnControlWords()
    private var given: Set<Consent> = []

    func observed(_ step: StepReport) throws {
        note(step)
        guard step.node.isHonest else { return }
        for (space, operations) in try words.news(of: step) where space.kind == .group {
            guard operations.contains(where: { $0.operation.header.kind == .accept }) else {
                continue
            }
            try look(at: space, of: step.node)
        }
    }

    func wasSetBack(_ node: SimulatedNode) { words.wasSetBack(node) }

    func looked(at world: World) throws {}

    /// That a person wanted it once is enough, whatever became of the command.
    private func note(_ step: StepReport) {
        let person = step.node.identity.person
        switch step.input {
        case .command(_, .acceptInvitation(let space)):
            given.insert(Consent(person: person, space: space))
        case .command(_, .joinGroup(let link)):
            given.insert(Consent(person: person, space: link.space))
        default: break
        }
    }

    private func look(at space: SpaceRecord, of node: SimulatedNode) throws {
        checkCount += 1
        let person = node.identity.person
        if given.contains(Consent(person: person, space: space.id)) { return }
        let control = try book.read(space, of: node)
        // Nobody can choose between two branches before it is proven that there are two.
        if control.rosters.isForked { return }
        guard try letsContactsAdd(node) else {
            throw violation("\(node.name) accepts a group that nobody there was asked about")
        }
        let contacts = try contacts(of: node)
        let inviters = control.held.filter { control.rosters.admits($0, person) }
            .compactMap { control.rosters.admissions[$0]?.author }
        guard inviters.contains(where: { contacts.contains($0) || $0 == person }) else {
            throw violation("\(node.name) accepts a group to which no contact added it")
        }
    }

    private func letsContactsAdd(_ node: SimulatedNode) throws -> Bool {
        guard let own = try node.store.spaces().first(where: { $0.kind == .own }) else {
            return false
        }
        let control = try book.read(own, of: node)
        let model = try NaiveModel(of: own, control: control, in: node.store)
        return control.rosters.isForked || model.letsContactsAdd
    }

    private func contacts(of node: SimulatedNode) throws -> Set<PersonID> {
        guard let own = node.core.ownSpace else { return [] }
        let all = try Overview.contacts(ownSpace: own.number, in: node.store)
        return Set(all.filter(\.isAccepted).map(\.person))
    }
}
