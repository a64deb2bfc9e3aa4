import ParleyLedger
import ParleyNodeCore
import ParleyRelaying
import ParleySealing
import ParleyWire

/// Who can find whom where relays alone lead from one to the other.
extension World {
    /// Whether two can find each other: one may write into the other's inbox, or they have met and read a
    /// mailbox that one of them can write into. All others need a link (`Protocol/06-relay.md`,
    /// "Inboxes"): who came back from a backup that is older than the rights to write which hold, and those
    /// of whom each has retired the other's right, where one has left what both were in, or where both were
    /// set back and can seal nothing in an epoch that the other has.
    func canMeet(_ one: SimulatedNode, _ other: SimulatedNode) throws -> Bool {
        guard needsRelay(one.index, other.index) else { return true }
        if try mayWrite(one, to: other) || mayWrite(other, to: one) { return true }
        guard try one.part(of: other) != nil, try other.part(of: one) != nil else { return false }
        return try one.readsMailbox(with: other)
    }

    /// Whether a relay takes letters to one device with a right that another holds, and it can open them: whoever
    /// was set back may have lost the prekey that the other seals to.
    private func mayWrite(_ one: SimulatedNode, to other: SimulatedNode) throws -> Bool {
        guard let part = try one.part(of: other), let prekey = part.prekeys.last,
            try other.store.secrets(.prekey, in: nil).contains(where: { $0.0 == prekey.key.bytes })
        else { return false }
        return try part.mailboxes.contains { mailbox in
            guard var store = relays.first(where: { $0.key == mailbox.relay })?.store else {
                return false
            }
            let right = MailboxRight.named(WriterID(key: mailbox.writer.device))
            let order = RelayOrder.mayWrite(mailbox.inbox, by: right)
            return try store.perform([order], at: Self.epoch + now) == [.answer(.done)]
        }
    }
}

extension SimulatedNode {
    /// What it knows of where another is.
    func part(of other: SimulatedNode) throws(StoreError) -> CardPart? {
        try CardReader.parts(of: other.identity.person, store).first {
            $0.device == other.identity.device
        }
    }

    /// Whether it is in a space in which another is as well, with an epoch that both know and in which one
    /// of them can still seal.
    fileprivate func readsMailbox(with other: SimulatedNode) throws -> Bool {
        for space in try store.spaces() where try belongs(to: space) {
            guard let record = try other.store.space(space.id), try other.belongs(to: record)
            else { continue }
            let others = try other.store.secrets(.epochKeys, in: record.number).map(\.0)
            for (epoch, _) in try store.secrets(.epochKeys, in: space.number)
            where others.contains(epoch) {
                if try canSeal(in: epoch, of: space) || other.canSeal(in: epoch, of: record) {
                    return true
                }
            }
        }
        return false
    }

    /// Whether it holds what its own envelopes in an epoch are sealed with. A device whose store was set
    /// back has given that up: which steps it has used nobody knows.
    private func canSeal(in epoch: [UInt8], of space: SpaceRecord) throws(StoreError) -> Bool {
        if try store.secret(.seed, epoch, in: space.number) != nil { return true }
        let name = epoch + identity.device.bytes
        let chain = try store.secret(.chain, name, in: space.number).flatMap(Chain.init(stored:))
        return chain?.isSpent == false
    }
}
