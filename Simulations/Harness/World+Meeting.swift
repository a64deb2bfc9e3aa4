import ParleyLedger
import ParleyNodeCore
import ParleyRelaying
import ParleySealing
import ParleyWire

/// Who can find whom where relays alone lead from one to the other.
extension World {
    /// Whether two can find each other: one may write into the other's inbox, or they have met and read a
    /// mailbox that both write into. All others need a link (`Protocol/06-relay.md`, "Inboxes"): who came
    /// back from a backup that is older than the rights to write which hold, and those of whom each has
    /// retired the other's right, where one has left what both were in.
    func canMeet(_ one: SimulatedNode, _ other: SimulatedNode) throws -> Bool {
        guard needsRelay(one.index, other.index) else { return true }
        if try mayWrite(one, to: other) || mayWrite(other, to: one) { return true }
        guard try one.part(of: other) != nil, try other.part(of: one) != nil else { return false }
        return try one.readsMailbox(with: other)
    }

    /// Whether a relay takes letters to one device with a right that another holds.
    private func mayWrite(_ one: SimulatedNode, to other: SimulatedNode) throws -> Bool {
        try one.part(of: other)?.mailboxes.contains { mailbox in
            guard var store = relays.first(where: { $0.key == mailbox.relay })?.store else {
                return false
            }
            let right = MailboxRight.named(WriterID(key: mailbox.writer.device))
            let order = RelayOrder.mayWrite(mailbox.inbox, by: right)
            return try store.perform([order], at: Self.epoch + now) == [.answer(.done)]
        } == true
    }
}

extension SimulatedNode {
    /// What it knows of where another is.
    func part(of other: SimulatedNode) throws(StoreError) -> CardPart? {
        try CardReader.parts(of: other.identity.person, store).first {
            $0.device == other.identity.device
        }
    }

    /// Whether it is in a space in which another is as well, with an epoch that both know.
    fileprivate func readsMailbox(with other: SimulatedNode) throws(StoreError) -> Bool {
        for space in try store.spaces() where try belongs(to: space) {
            guard let record = try other.store.space(space.id), try other.belongs(to: record)
            else { continue }
            let epochs = try store.secrets(.epochKeys, in: space.number).map(\.0)
            let others = try other.store.secrets(.epochKeys, in: record.number).map(\.0)
            if epochs.contains(where: others.contains) { return true }
        }
        return false
    }
}
