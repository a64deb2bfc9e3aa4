import ParleyConversation
public import ParleyLedger
import ParleySealing
public import ParleyWire

extension NodeCore {
    /// The secret of an invite of this person that was taken and not answered yet.
    func pendingInvite(
        of person: PersonID, _ store: some Store
    ) throws(StoreError) -> PendingInvite? {
        let invite = try store.value(.introduction, person.bytes).flatMap(PendingInvite.init)
        return invite?.isRefused == true ? nil : invite
    }

    /// An invite from this person that was accepted and has not led to them; nil if there is none.
    public static func takenInvite(
        of person: PersonID, in store: some NodeStore
    ) throws(StoreError) -> TakenInvite? {
        try store.value(.introduction, person.bytes).flatMap(PendingInvite.init)?.taken
    }

    /// The inviter refused the invite, and will not accept it tomorrow. It is not shown to them
    /// again.
    func noteRefusedInvite(by peer: LinkPeer, _ turn: inout some Turn) throws(StoreError) {
        let person = peer.person
        guard var invite = try pendingInvite(of: person, turn.store),
            invite.mayBeKnown(to: peer.device)
        else { return }
        let devices = try CardReader.kept(of: person, turn.store)?.parts.map(\.device) ?? []
        invite.note(refusedBy: peer.device, of: devices)
        try turn.store.setValue(invite.bytes, .introduction, person.bytes)
        guard invite.isRefused else { return }
        try count(.ownInvite, turn.store)
        turn.emit(.changed([.contact(person)]))
    }

    /// The chosen name for a person whose invite was accepted and who did not answer yet; nil if
    /// none was chosen.
    public static func pendingAlias(
        of person: PersonID, in store: some NodeStore
    ) throws(StoreError) -> String? {
        let alias = try store.value(.introduction, person.bytes).flatMap(PendingInvite.init)?.alias
        return alias?.isEmpty == false ? alias : nil
    }

    /// Opens an invite with this secret.
    mutating func openInvite(
        _ secret: [UInt8], until expires: UInt64, uses: Int, _ turn: inout some Turn
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        precondition(secret.count == Invite.secretByteCount, "a secret has 16 bytes")
        guard (1...Limits.inviteUseCountMax).contains(uses) else {
            return .failure(.tooManyUses(limit: Limits.inviteUseCountMax))
        }
        var openCount = 0
        for (key, value) in try turn.store.values(.invite) {
            let known = OpenInvite(value)
            if known?.isOpen(at: turn.now.wall) == true {
                openCount += 1
            } else if known?.mayBeTakenLate(at: turn.now.wall) != true {
                try turn.store.setValue(nil, .invite, key)
            }
        }
        guard openCount < Limits.openInviteCountMax else {
            return .failure(.tooManyInvites(limit: Limits.openInviteCountMax))
        }
        let place = try relayForInvite(at: turn.now, turn.store)
        let invite = OpenInvite(
            secret: secret, opened: turn.now.wall, expires: expires, useCountMax: uses,
            relay: place?.relay, addresses: place?.addresses ?? [])
        try turn.store.setValue(invite.bytes, .invite, OpenInvite.key(invite.number))
        courier.relayUpkeep.note(.showInviteCards)
        turn.emit(.commitFully)
        return .success(.done)
    }

    /// Ends an invite: nobody takes it any more.
    func revokeInvite(_ number: UInt64, _ turn: inout some Turn) throws(StoreError) -> Result<
        CommandReply, CommandRefusal
    > {
        let key = OpenInvite.key(number)
        guard try turn.store.value(.invite, key) != nil else { return .failure(.unknownInvite) }
        try turn.store.setValue(nil, .invite, key)
        turn.emit(.commitFully)
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
        // It is kept until it expires: the guest may have to come again.
        try store.setValue(invite.bytes, .invite, key)
        return true
    }

    /// Whether a letter's sender knows the secret of an open invite, and is then a contact.
    ///
    /// Cheap checks come first: the proof is one hash. Nothing else from a stranger is verified
    /// unless it is valid. Nobody is told if it is not: a person who reads no letters answers none.
    mutating func redeem(
        _ redemption: Introduction.Redemption, in letter: ArrivedLetter, _ card: Card,
        by relay: NoiseKey, _ turn: inout some Turn
    ) throws(StoreError) {
        let person = card.person
        let known = try contact(person, turn.store)
        guard person != identity.person, known?.isAccepted != true, known?.isBlocked != true,
            try mayWrite(turn.store)
        else { return }
        let key = OpenInvite.key(redemption.invite)
        guard var invite = try turn.store.value(.invite, key).flatMap(OpenInvite.init),
            redemption.proof
                == Invite.proof(
                    secret: invite.secret, inbox: letter.inbox, letter.number,
                    device: letter.sender),
            invite.guests.contains(person)
                || invite.isOpen(at: invite.moment(of: letter, readAt: turn.now.wall))
        else { return try count(.invite, turn.store) }
        guard courier.letters.takeProof(from: relay, at: turn.now.monotonic) else {
            return try count(.tooManyFrames, turn.store)
        }
        // The reason is not told: the sender is counted.
        guard let log = try? IdentityLog(operations: card.identity),
            log.person == person, log.certificate(of: letter.sender) != nil,
            let part = card.parts.first(where: { $0.device == letter.sender }),
            // As above.
            let sound = try? Card(person: person, identity: log.encoded, parts: [part])
                .verified(by: log)
        else { return try count(.card, turn.store) }
        if !invite.guests.contains(person) {
            invite.guests.append(person)
            try turn.store.setValue(invite.bytes, .invite, key)
        }
        try accept(sound, root: Digest(reinterpreting: log.root), &turn)
    }

    /// Somebody whose invite was taken, or who was asked, writes: they have taken this person in.
    mutating func confirm(_ person: PersonID, _ turn: inout some Turn) throws(StoreError) {
        let known = try contact(person, turn.store)
        let isAwaited =
            try pendingInvite(of: person, turn.store) != nil || known?.state == .requested
        guard isAwaited, try mayWrite(turn.store),
            let card = try CardReader.kept(of: person, turn.store),
            let log = try CardReader.identity(of: person, turn.store)
        else { return }
        try accept(card, root: Digest(reinterpreting: log.root), &turn)
    }

    /// Takes an invite of somebody else: the two meet as soon as one reaches the other.
    mutating func accept(_ invite: Invite, _ alias: String, _ turn: inout some Turn)
        throws(StoreError) -> Result<CommandReply, CommandRefusal>
    {
        guard invite.person != identity.person else { return .failure(.ownInvite) }
        guard turn.now.wall < invite.expires else { return .failure(.expired) }
        if let refusal = Self.refusal(alias: alias) { return .failure(refusal) }
        if try contact(invite.person, turn.store)?.isBlocked == true { return .failure(.blocked) }
        if try isAccepted(invite.person, turn.store), !alias.isEmpty {
            _ = try setAlias(alias, of: invite.person, &turn)
        }
        // Of a contact as well: after a recovery they are elsewhere, with another device, and may not
        // know any more who their contacts were. Where that device is linked, both know.
        if try isAccepted(invite.person, turn.store), let device = invite.target?.device,
            isLinked(device)
        {
            return .success(.done)
        }
        try turn.store.setValue(
            PendingInvite(invite: invite, alias: alias).bytes, .introduction,
            invite.person.bytes)
        turn.emit(.commitFully)
        courier.relayUpkeep.note(.findRelays)
        turn.emit(.changed([.contact(invite.person)]))
        // An inviter who is linked already, as a member of a group, is shown it at once.
        for id in peers.links.keys.sorted()
        where peers.links[id]?.peer.person == invite.person && peers.links[id]?.isEnding == false {
            try greet(id, &turn)
        }
        try seek(invite.person, &turn)
        return .success(.done)
    }

    static func refusal(alias: String) -> CommandRefusal? {
        // None is set by an empty one.
        alias.isEmpty ? nil : refusal(personName: alias)
    }
}
