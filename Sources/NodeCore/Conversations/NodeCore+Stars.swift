import ParleyConversation
import ParleyLedger
import ParleyWire

extension NodeCore {
    /// Says something about a message to the person's own devices alone: that it is starred, or no longer, or
    /// that they deleted it for themselves. A deleted message is no longer starred.
    mutating func mark(_ command: Command, _ turn: inout some Turn)
        throws(StoreError) -> Result<CommandReply, CommandRefusal>
    {
        let (number, isStar, isOn) =
            switch command {
            case .star(let number, let isOn): (number, true, isOn)
            case .deleteForOneself(let number): (number, false, true)
            default: preconditionFailure("a command that marks no message")
            }
        guard let ownSpace, let stored = try turn.store.operation(number),
            stored.operation.header.kind.isMessage, let log = try turn.store.log(stored.log),
            let space = try turn.store.space(log.space)
        else { return .failure(.unknownMessage) }
        let message = OperationReference(
            tag: log.tag, sequence: stored.sequence, check: stored.id.check)
        let isDeleted = try Overview.isDeletedForOneself(
            stored, ownSpace: ownSpace.number, in: turn.store)
        guard isStar else {
            if Self.refusal(keeping: stored) == .disappeared { return .failure(.disappeared) }
            if !isDeleted {
                let draft = OwnDeletion(of: message, in: space.id).draft()
                _ = try write([draft], in: ownSpace, &turn)
            }
            return .success(.messages([number]))
        }
        if let refusal = Self.refusal(keeping: stored) { return .failure(refusal) }
        let isGone = try Overview.isDeleted(message, in: space.number, store: turn.store)
        if isOn, isDeleted || isGone { return .failure(.deleted) }
        let isStarred = try Overview.isStarred(
            message, in: space.id, ownSpace: ownSpace.number, store: turn.store)
        if isStarred != isOn {
            let draft = Star(space: space.id, message: message, isOn: isOn).draft()
            _ = try write([draft], in: ownSpace, &turn)
        }
        return .success(.messages([number]))
    }
}
