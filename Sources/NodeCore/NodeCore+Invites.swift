import ParleyConversation
public import ParleyLedger
public import ParleyWire

extension NodeCore {
    /// The secret of an invite of this person that was taken and not answered yet.
    func pendingInvite(
        of person: PersonID, _ store: some Store
    ) throws(StoreError) -> PendingInvite? {
        try store.value(.introduction, person.bytes).flatMap(PendingInvite.init)
    }

    /// What a person whose invite was taken, and who did not answer yet, is to be called; nil where that
    /// was not said.
    public static func pendingAlias(
        of person: PersonID, in store: some NodeStore
    ) throws(StoreError) -> String? {
        let alias = try store.value(.introduction, person.bytes).flatMap(PendingInvite.init)?.alias
        return alias?.isEmpty == false ? alias : nil
    }

    /// Opens an invite with this secret.
    func openInvite(
        _ secret: [UInt8], until expires: UInt64, uses: Int, at now: Instant,
        _ store: some Store, _ effects: inout [Effect]
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        guard (1...Limits.inviteUseCountMax).contains(uses) else {
            return .failure(.tooManyUses(limit: Limits.inviteUseCountMax))
        }
        var openCount = 0
        for (key, value) in try store.values(.invite) {
            if OpenInvite(value)?.isOpen(at: now.wall) == true {
                openCount += 1
            } else {
                try store.setValue(nil, .invite, key)
            }
        }
        guard openCount < Limits.openInviteCountMax else {
            return .failure(.tooManyInvites(limit: Limits.openInviteCountMax))
        }
        let invite = OpenInvite(
            secret: secret, opened: now.wall, expires: expires, useCountMax: uses)
        try store.setValue(invite.bytes, .invite, OpenInvite.key(invite.number))
        effects.append(.commitFully)
        return .success(.done)
    }

    /// Ends an invite: nobody takes it any more.
    func revokeInvite(
        _ number: UInt64, _ store: some Store, _ effects: inout [Effect]
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        let key = OpenInvite.key(number)
        guard try store.value(.invite, key) != nil else { return .failure(.unknownInvite) }
        try store.setValue(nil, .invite, key)
        effects.append(.commitFully)
        return .success(.done)
    }

    /// Whether the peer knows the secret of an open invite, which is then one use shorter.
    func redeem(
        _ redemption: Introduction.Redemption, by peer: LinkPeer, at now: Instant,
        _ store: some Store
    ) throws(StoreError) -> Bool {
        let key = OpenInvite.key(redemption.invite)
        guard var invite = try store.value(.invite, key).flatMap(OpenInvite.init),
            let proof = Invite.proof(
                secret: invite.secret, handshakeHash: peer.handshakeHash, device: peer.device),
            proof == redemption.proof
        else { return false }
        if invite.guests.contains(peer.person) { return true }
        guard invite.isOpen(at: now.wall) else { return false }
        invite.guests.append(peer.person)
        // It is kept until it expires: who took it may have to come again.
        try store.setValue(invite.bytes, .invite, key)
        return true
    }

    /// Takes an invite of somebody else: the two meet as soon as one reaches the other.
    mutating func accept(
        _ invite: Invite, _ alias: String, at now: Instant, _ store: some Store,
        _ effects: inout [Effect]
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        guard invite.person != identity.person else { return .failure(.ownInvite) }
        guard now.wall < invite.expires else { return .failure(.expired) }
        if let refusal = Self.refusal(alias: alias) { return .failure(refusal) }
        guard let card = CardReader.card(invite.card, of: invite.person) else {
            return .failure(.unknownPerson)
        }
        if try contact(invite.person, store)?.isBlocked == true { return .failure(.blocked) }
        if try isAccepted(invite.person, store) { return .success(.done) }
        try keep(card, at: now, store, &effects)
        try store.setValue(
            PendingInvite(secret: invite.secret, alias: alias).bytes, .introduction,
            invite.person.bytes)
        effects.append(.commitFully)
        effects.append(.changed([.contact(invite.person)]))
        try seek(invite.person, at: now, store, &effects)
        return .success(.done)
    }

    static func refusal(alias: String) -> CommandRefusal? {
        // None is set by an empty one.
        alias.isEmpty ? nil : refusal(name: alias)
    }
}
