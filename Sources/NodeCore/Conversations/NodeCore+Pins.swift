import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleyWire

extension NodeCore {
    /// Pins a message for everybody in its conversation, or takes it down.
    mutating func pin(_ number: OperationNumber, _ isOn: Bool, _ turn: inout some Turn)
        throws(StoreError) -> Result<CommandReply, CommandRefusal>
    {
        guard let stored = try turn.store.operation(number),
            stored.operation.header.kind.isMessage, let log = try turn.store.log(stored.log),
            let space = try turn.store.space(log.space)
        else { return .failure(.unknownMessage) }
        if let refusal = Self.refusal(keeping: stored) { return .failure(refusal) }
        if let refusal = try refusal(writingIn: space, doing: .pin, turn.store) {
            return .failure(refusal)
        }
        let message = OperationReference(
            tag: log.tag, sequence: stored.sequence, check: stored.id.check)
        // One that is pinned already is pinned again: so it stands first.
        if !isOn, try !Overview.isPinned(message, in: space.number, store: turn.store) {
            return .success(.messages([number]))
        }
        return try change(number, byAuthor: nil, &turn) {
            Pin(isOn: isOn).draft(of: $0)
        } unless: {
            nil
        }
    }
}
