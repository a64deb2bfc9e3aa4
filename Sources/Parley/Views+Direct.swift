import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyStorage
import ParleyWire

/// Two who begin a conversation with each other while they are apart have two. One of them is the
/// conversation with that person on all devices of both.
/// Source: `Protocol/05-identity.md`, "Two conversations of the same two".
extension Views {
    /// The conversation that new messages go into instead of this one of two; nil for any other.
    func successor(of space: SpaceRecord, _ roster: Roster) throws -> SpaceRecord? {
        guard space.kind == .direct,
            let other = roster.members.first(where: { $0.person != ownPerson })
        else { return nil }
        let first = try directConversation(with: other.person)
        return first?.id == space.id ? nil : first
    }

    /// Another conversation of the same two in which something is unread.
    func unreadTwin(of space: SpaceRecord, _ roster: Roster) throws -> SpaceRecord? {
        guard space.kind == .direct,
            let other = roster.members.first(where: { $0.person != ownPerson })
        else { return nil }
        for naming in try store.spaces(naming: other.person) {
            guard let twin = try store.space(naming.space), twin.kind == .direct,
                twin.id != space.id, let roster = try self.roster(of: twin)
            else { continue }
            let count = try Overview.unreadCount(
                of: twin, roster: roster, ownPerson: ownPerson, ownSpace: core.ownSpace?.number,
                in: store)
            if count > 0 { return twin }
        }
        return nil
    }

    /// The conversation with a person alone: of several the one whose identifier is less.
    func directConversation(with person: PersonID) throws -> SpaceRecord? {
        var first: SpaceRecord?
        for naming in try store.spaces(naming: person) {
            guard let space = try store.space(naming.space), space.kind == .direct else { continue }
            if first.map({ space.id < $0.id }) ?? true { first = space }
        }
        return first
    }

    /// Whether a conversation is in no list: another has its place, and it is empty.
    func isSuperseded(_ space: SpaceRecord, _ roster: Roster) throws -> Bool {
        guard try successor(of: space, roster) != nil else { return false }
        return try store.messages(in: space.number, before: nil, limit: 1).isEmpty
            && kept(in: space, roster).isEmpty
    }

    /// The conversation that something new is written into which is meant for the one that an argument
    /// names. An answer stands where its question does.
    func writable(
        _ argument: String, answering parent: OperationNumber? = nil
    ) throws -> SpaceRecord {
        let space = try conversation(argument)
        let place = try parent.flatMap { try conversation(of: $0) } ?? space
        guard let roster = try roster(of: place) else { return space }
        let last = try successor(of: place, roster)
        guard parent != nil else { return last ?? space }
        return last?.id == space.id ? place : space
    }

    func conversation(of message: OperationNumber) throws -> SpaceRecord? {
        guard let stored = try store.operation(message), let log = try store.log(stored.log) else {
            return nil
        }
        return try store.space(log.space)
    }
}
