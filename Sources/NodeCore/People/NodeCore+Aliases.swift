import ParleyConversation
import ParleyLedger
import ParleyWire

/// The person's own names for others. Nobody else sees them.
extension NodeCore {
    /// Calls a person so from now on, on all own devices; by the name on their card where it is empty.
    ///
    /// A person whose invite was accepted and who has not answered has no contact note yet: the
    /// alias is kept with the invite, and moves to the contact once they meet.
    mutating func setAlias(_ alias: String, of person: PersonID, _ turn: inout some Turn)
        throws(StoreError) -> Result<CommandReply, CommandRefusal>
    {
        if let refusal = Self.refusal(alias: alias) { return .failure(refusal) }
        var isWaiting = false
        if var pending = try turn.store.value(.introduction, person.bytes).flatMap(
            PendingInvite.init)
        {
            pending.alias = alias
            try turn.store.setValue(pending.bytes, .introduction, person.bytes)
            turn.emit(.commitFully)
            turn.emit(.changed([.contact(person)]))
            isWaiting = true
        }
        guard let ownSpace, var contact = try noted(person, turn.store) else {
            return isWaiting ? .success(.done) : .failure(.unknownPerson)
        }
        guard contact.alias != alias else { return .success(.done) }
        contact.alias = alias
        _ = try write([contact.draft()], in: ownSpace, &turn)
        return .success(.done)
    }
}
