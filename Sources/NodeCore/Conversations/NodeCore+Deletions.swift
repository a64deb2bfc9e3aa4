import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleyWire

/// Deletions for members who come back: nobody gives them what is below their horizon, and they may
/// hold the message.
/// Source: `Protocol/08-roster.md`, "Who comes back".
extension NodeCore {
    /// At most this many messages, the newest, are deleted again when somebody comes back.
    static let deletedAnewCountMax = 256
    /// So many messages of a conversation are looked at for it, the newest, and so many that are deleted.
    private static let lookedAtCountMax = 50_000
    private static let deletedLookedAtCountMax = 1_024
    /// Messages that are read at once.
    private static let pageCount = 1_000

    /// Repeats deletions, above the place where a re-admitted person begins, for messages that they
    /// may hold and whose deletion they were not given. A newcomer holds nothing.
    ///
    /// An edit is not repeated: it would reveal a text from before.
    mutating func deleteAnew(for person: PersonID, in space: SpaceRecord, _ turn: inout some Turn)
        throws(StoreError)
    {
        guard hasReturned(person, to: space), let roster = rosters.judges[space.number]?.roster,
            let member = roster.member(person), let own = roster.member(identity.person),
            own.role >= .member
        else { return }
        var drafts: [Draft] = []
        var (lookedAt, deleted) = (0, 0)
        var before: OrderKey?
        while lookedAt < Self.lookedAtCountMax, deleted < Self.deletedLookedAtCountMax,
            drafts.count < Self.deletedAnewCountMax
        {
            let rows = try turn.store.messages(
                in: space.number, before: before, limit: Self.pageCount)
            guard let last = rows.last else { break }
            before = last.order
            lookedAt += rows.count
            for row in rows where row.flags.contains(.deleted) {
                guard deleted < Self.deletedLookedAtCountMax,
                    drafts.count < Self.deletedAnewCountMax
                else { break }
                deleted += 1
                guard let stored = try turn.store.operation(row.operation),
                    let log = try turn.store.log(row.log),
                    own.role >= .admin || roster.person(of: log.device) == identity.person
                else { continue }
                let message = OperationReference(
                    tag: log.tag, sequence: stored.sequence, check: stored.id.check)
                guard try lacksDeletion(member, of: message, in: space, turn.store) else {
                    continue
                }
                drafts.append(MessageDeletion.draft(of: message))
            }
        }
        if drafts.isEmpty { return }
        _ = try write(drafts, in: space, &turn)
    }

    /// Whether somebody came back who may hold a message and is not given its deletion: then it may
    /// be deleted again.
    mutating func isDeletionLacked(
        of message: OperationReference, in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> Bool {
        for member in rosters.judges[space.number]?.roster.members ?? []
        where member.person != identity.person && hasReturned(member.person, to: space) {
            if try lacksDeletion(member, of: message, in: space, store) { return true }
        }
        return false
    }

    /// Whether something took a person out of a space that they were let into again.
    func hasReturned(_ person: PersonID, to space: SpaceRecord) -> Bool {
        rosters.judges[space.number]?.graph.expulsions(of: person, limit: 1).isEmpty == false
    }

    /// Whether all devices of a member have said that they hold the operation here, as of before
    /// they left.
    private func hasReceived(
        _ member: Member, _ order: OrderKey, in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> Bool {
        for device in member.devices {
            let mark = try store.mark(
                .delivered, of: Digest(reinterpreting: device.device), on: order.tag,
                in: space.number)
            guard mark?.places.contains(order.sequence) == true else { return false }
        }
        return true
    }

    /// Whether a member who came back may hold a deleted message, since its author had seen them in, and is
    /// given none of its deletions.
    private mutating func lacksDeletion(
        _ member: Member, of message: OperationReference, in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> Bool {
        guard let horizon = member.devices.first?.horizon else { return false }
        let deletions = try Overview.deletions(of: message, in: space.number, store: store)
        for deletion in deletions {
            guard let log = try store.log(deletion.tag, in: space.number),
                let place = horizon.place(of: log.device, log.lane),
                deletion.sequence <= place.sequence,
                try !hasReceived(member, deletion, in: space, store)
            else { return false }
        }
        guard !deletions.isEmpty, let log = try store.log(message.tag, in: space.number) else {
            return false
        }
        let row = try store.view(at: message.sequence, in: log.number)
        // What cannot be told may be.
        guard let seen = rosters.judges[space.number]?.view(row) else { return true }
        return seen.member(member.person) != nil
    }
}
