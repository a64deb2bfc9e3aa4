import ParleyConversation
import ParleyLedger
import ParleyWire

extension NodeCore {
    /// Stars a message for the person's own devices, or unstars it. A deleted message is no longer
    /// starred.
    mutating func star(_ number: OperationNumber, _ isOn: Bool, _ turn: inout some Turn)
        throws(StoreError) -> Result<CommandReply, CommandRefusal>
    {
        guard let ownSpace, let stored = try turn.store.operation(number),
            stored.operation.header.kind.isMessage, let log = try turn.store.log(stored.log),
            let space = try turn.store.space(log.space)
        else { return .failure(.unknownMessage) }
        if let refusal = Self.refusal(keeping: stored) { return .failure(refusal) }
        let message = OperationReference(
            tag: log.tag, sequence: stored.sequence, check: stored.id.check)
        if isOn, try Overview.isDeleted(message, in: space.number, store: turn.store) {
            return .failure(.deleted)
        }
        let isStarred = try Overview.isStarred(
            message, in: space.id, ownSpace: ownSpace.number, store: turn.store)
        if isStarred != isOn {
            let draft = Star(space: space.id, message: message, isOn: isOn).draft()
            _ = try write([draft], in: ownSpace, &turn)
        }
        return .success(.messages([number]))
    }
}
