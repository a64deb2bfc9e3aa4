import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySimulation
import ParleyWire

/// I42: what somebody who is kept away puts on relays is not read: of the mailboxes of a conversation with
/// a blocked person a node wants nothing, neither what lies there nor what comes.
///
/// Looked at where a node asks, by the names of the mailboxes of yesterday and today: what it reads
/// there would be shown, and after unblocking all is shown anyway. Source: `Protocol/06-relay.md`,
/// "Reading", and `Protocol/05-identity.md`, "Contacts".
final class BlockedAreNotRead: Checker {
    static let invariant = "I42"
    static let needsRelay = true
    private(set) var checkCount = 0
    private let reader: EnvelopeReader

    init(_ reader: EnvelopeReader) { self.reader = reader }

    func observed(_ step: StepReport) throws {
        guard step.node.isHonest, !step.isLost, let world = step.node.world else { return }
        let mailboxes = step.effects.compactMap(Self.mailboxRead)
        guard !mailboxes.isEmpty else { return }
        // Most people keep nobody away, and names of mailboxes are dear.
        let blocked = try blocked(by: step.node, besides: Self.news(in: step))
        guard !blocked.isEmpty else { return }
        for mailbox in mailboxes {
            checkCount += 1
            guard let id = reader.space(of: mailbox, world),
                let space = try step.node.store.space(id), space.kind == .direct,
                let roster = try step.node.roster(of: space),
                roster.members.contains(where: { blocked.contains($0.person) })
            else { continue }
            throw violation(
                "\(step.node.name) reads at a relay what somebody writes whom it keeps away")
        }
    }

    func looked(at world: World) throws {}

    private static func mailboxRead(_ effect: Effect) -> MailboxID? {
        guard case .askRelay(_, let request) = effect else { return nil }
        return switch request.action {
        case .get, .subscribe: request.mailbox
        case .open, .put, .volatile, .unsubscribe, .acknowledge, .pipe: nil
        }
    }

    /// Whom the node noted something about in this very step: it may have asked before.
    private static func news(in step: StepReport) -> (persons: Set<PersonID>, isAll: Bool) {
        var persons: Set<PersonID> = []
        var isAll = false
        for case .changed(let changes) in step.effects {
            for change in changes {
                switch change {
                case .contact(let person): persons.insert(person)
                case .refolded(let space):
                    isAll = isAll || space == step.node.core.ownSpace?.number
                // Nothing else says who is blocked.
                default: break
                }
            }
        }
        return (persons, isAll)
    }

    private func blocked(
        by node: SimulatedNode, besides news: (persons: Set<PersonID>, isAll: Bool)
    ) throws -> Set<PersonID> {
        guard !news.isAll, let own = node.core.ownSpace else { return [] }
        let contacts = try Overview.contacts(ownSpace: own.number, in: node.store)
        return Set(contacts.filter(\.isBlocked).map(\.person)).subtracting(news.persons)
    }
}
