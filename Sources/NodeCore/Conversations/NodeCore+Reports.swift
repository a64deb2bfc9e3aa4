import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleyWire

extension NodeCore {
    /// Reports a message of a group to admins of it, in the conversation with each.
    ///
    /// - Parameters:
    ///   - text: what they read there.
    ///   - spaces: these conversations. One in which nothing may be written is passed over.
    mutating func report(
        _ number: OperationNumber, _ text: String, to spaces: [SpaceID], _ turn: inout some Turn
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        guard let stored = try turn.store.operation(number),
            stored.operation.header.kind.isMessage, let log = try turn.store.log(stored.log),
            let group = try turn.store.space(log.space), group.kind == .group
        else { return .failure(.unknownMessage) }
        if let refusal = Self.refusal(text: text) { return .failure(refusal) }
        guard let roster = try roster(of: group, turn.store), belongs(to: roster) else {
            return .failure(.notMember)
        }
        let message = OperationReference(
            tag: log.tag, sequence: stored.sequence, check: stored.id.check)
        var written: [OperationNumber] = []
        for id in spaces {
            guard let space = try conversation(id, turn.store), space.kind == .direct,
                !ownHistory.hasGap(in: space.number),
                try refusal(writingIn: space, turn.store) == nil,
                let admin = try self.roster(of: space, turn.store)?.members
                    .first(where: { $0.person != identity.person })?.person,
                roster.member(admin).map({ $0.role >= .admin }) == true
            else { continue }
            let words = try withLifetime([TextMessage(text: text)], in: space, turn.store)
            let drafts = [Report(of: message, in: group.id).draft()] + words.map { $0.draft() }
            let applied = try write(drafts, in: space, &turn)
            written += applied.filter(\.isMessage).map(\.number)
        }
        return written.isEmpty ? .failure(.unknownPerson) : .success(.messages(written))
    }
}
