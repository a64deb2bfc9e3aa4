import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySimulation
import ParleyWire

/// I44: what somebody whom the person keeps away says in a group is not counted as unread, and all else is.
///
/// Looked at while people are kept away: where a run ends nobody is, for who stays blocked hears nothing.
/// Counted from what is shown and from what was said to be read, message by message.
/// Source: `Protocol/05-identity.md`, "Contacts".
final class BlockedAreNotCounted: Checker {
    static let invariant = "I44"
    private(set) var checkCount = 0

    func looked(at world: World) throws {
        for node in world.honestNodes where !node.isDown {
            guard let own = node.core.ownSpace else { continue }
            let blocked = Set(
                try Overview.contacts(ownSpace: own.number, in: node.store)
                    .filter(\.isBlocked).map(\.person))
            guard !blocked.isEmpty else { continue }
            for space in try node.store.spaces() where space.kind == .group {
                guard let roster = try node.roster(of: space),
                    roster.contains(node.identity.device)
                else { continue }
                try look(at: space, roster, without: blocked, ownSpace: own, of: node)
            }
        }
    }

    private func look(
        at space: SpaceRecord, _ roster: Roster, without blocked: Set<PersonID>,
        ownSpace: SpaceRecord, of node: SimulatedNode
    ) throws {
        let person = node.identity.person
        let own = Set(roster.everyDevice(of: person).map { Digest(reinterpreting: $0) })
        let marks = try node.store.marks(.read, in: space.number).filter { own.contains($0.actor) }
        let quiet = try node.readQuietly(in: space.id)
        let shown = try Timeline(of: space, roster: roster, ownPerson: person)
            .page(limit: .max, in: node.store)
        guard shown.contains(where: { blocked.contains($0.author) }) else { return }
        let unread = shown.filter { message in
            let isRead =
                marks.contains {
                    $0.tag == message.reference.tag
                        && $0.places.contains(message.reference.sequence)
                }
                || quiet.contains {
                    $0.tag == message.reference.tag
                        && $0.places.contains(message.reference.sequence)
                }
            return message.author != person && !blocked.contains(message.author)
                && !message.flags.contains(.deleted) && !isRead
        }
        let listed = try Overview.summary(
            of: space, roster: roster, ownPerson: person, ownSpace: ownSpace.number,
            in: node.store)
        checkCount += 1
        guard listed.unreadCount == unread.count else {
            throw violation(
                "\(node.name) keeps somebody away and counts \(listed.unreadCount) unread, not "
                    + "\(unread.count)")
        }
    }
}
