import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleyWire

/// The person's profile, beside the name: stored in the own space, and sent to contacts in the
/// conversations of two.
extension NodeCore {
    /// Says something of oneself, on all devices and to contacts.
    mutating func say(_ field: ProfileField, _ turn: inout some Turn)
        throws(StoreError) -> Result<CommandReply, CommandRefusal>
    {
        guard let ownSpace else { return .failure(.unknownConversation) }
        if let name = field.subject == .status ? field.value : nil, !name.isEmpty,
            let refusal = Self.refusal(name: name)
        {
            return .failure(refusal)
        }
        let known = try Overview.profile(
            of: identity.person, in: ownSpace.number, store: turn.store)
        if known[field.subject] ?? "" != field.value {
            _ = try write([field.draft()], in: ownSpace, &turn)
        }
        for space in try turn.store.spaces() where space.kind == .direct {
            try tellProfile(in: space, &turn)
        }
        return .success(.done)
    }

    /// Sends the other person of a conversation of two the parts that they have not been sent.
    mutating func tellProfile(in space: SpaceRecord, _ turn: inout some Turn) throws(StoreError) {
        guard try mayWrite(turn.store), space.kind == .direct, let ownSpace,
            !ownHistory.hasGap(in: space.number), try refusal(writingIn: space, turn.store) == nil
        else { return }
        let person = identity.person
        let known = try Overview.profile(of: person, in: ownSpace.number, store: turn.store)
        let told = try Overview.profile(of: person, in: space.number, store: turn.store)
        let drafts = ProfileField.Subject.allCases.compactMap { subject -> Draft? in
            let value = known[subject] ?? ""
            return told[subject] ?? "" == value
                ? nil : ProfileField(subject, value).map { $0.draft() }
        }
        if !drafts.isEmpty { _ = try write(drafts, in: space, &turn) }
    }
}
