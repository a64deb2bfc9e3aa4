import ParleyConversation
import ParleyLedger
import ParleySealing
import ParleyWire

/// What people's devices are: learnt from every handshake and every card, kept, and acted upon.
///
/// An identity log only grows, and a revocation is permanent: in whatever order nodes learn of it,
/// they end with the same devices.
/// Source: `Protocol/05-identity.md`, "Identity log".
extension NodeCore {
    /// Merges what a peer shows of a person's devices. What is known already costs nothing.
    mutating func learn(_ operations: [[UInt8]], of person: PersonID, _ turn: inout some Turn)
        throws(StoreError)
    {
        let isOwn = person == identity.person
        let card = try CardReader.kept(of: person, turn.store)
        let known = isOwn ? identity.operations : card?.identity ?? []
        let fresh = Set(operations).subtracting(known)
        // Nothing is stored for a person without a card: they are no one's contact.
        guard !fresh.isEmpty, isOwn || card != nil else { return }
        guard let log = merged(known, operations), log.person == person else {
            return try count(.identity, turn.store)
        }
        if isOwn { return try renew(log, &turn) }
        try keep(Card(person: person, identity: log.encoded, parts: []), &turn)
    }

    private func merged(_ known: [[UInt8]], _ others: [[UInt8]]) -> IdentityLog? {
        let held = Set(known)
        // What does not fit together changes nothing, whatever is wrong with it.
        return try? IdentityLog(operations: known + others.filter { !held.contains($0) })
    }

    /// Stores a valid card, and acts on what it says about the person's devices.
    mutating func keep(_ card: Card, _ turn: inout some Turn) throws(StoreError) {
        if card.person == identity.person {
            try learn(card.identity, of: card.person, &turn)
            courier.relayUpkeep.note(.showInviteCards)
        }
        let hasMailboxes = card.parts.contains { !$0.mailboxes.isEmpty }
        guard let before = try CardReader.kept(of: card.person, turn.store) else {
            if hasMailboxes { courier.relayUpkeep.note(.findRelays) }
            return try turn.store.setValue(card.encoded, .card, card.person.bytes)
        }
        let (after, fork) = before.merged(with: card)
        if let fork {
            try notice(.compromised, of: card.person, [fork.device], &turn)
        }
        guard after != before else { return }
        // To look for relays reads the cards of everybody: not for what is known.
        if hasMailboxes { courier.relayUpkeep.note(.findRelays) }
        let bytes = after.encoded
        guard bytes.count <= Limits.cardByteCountMax else { return try count(.card, turn.store) }
        try CardReader.keepName(from: before, to: after, turn.store)
        try turn.store.setValue(bytes, .card, card.person.bytes)
        try follow(from: before, to: after, &turn)
        guard after.identity != before.identity, card.person != identity.person,
            // Both were checked when they were merged.
            let old = try? IdentityLog(kept: before.identity),
            // As above.
            let new = try? IdentityLog(kept: after.identity)
        else { return }
        try changed(from: old, to: new, &turn)
    }

    /// The own identity log knows more than before.
    mutating func renew(_ log: IdentityLog, _ turn: inout some Turn) throws(StoreError) {
        let old = identity.log
        identity.log = log
        try NodeIdentity.keep(log, in: turn.store)
        courier.relayUpkeep.note(.showInviteCards)
        let card = Card(person: log.person, identity: log.encoded, parts: [])
        let known = try CardReader.kept(of: log.person, turn.store)
        let after = known?.merged(with: card).card ?? card
        if let known { try CardReader.keepName(from: known, to: after, turn.store) }
        try turn.store.setValue(after.encoded, .card, log.person.bytes)
        turn.emit(.commitFully)
        turn.emit(.renewIdentity(log.encoded))
        try changed(from: old, to: log, &turn)
        for id in peers.links.keys.sorted() where peers.links[id]?.session != nil {
            try introduce(on: id, invite: nil, &turn)
        }
        try dialDevices(of: log.person, &turn)
        watchDevices(&turn)
    }

    private mutating func changed(
        from old: IdentityLog, to new: IdentityLog, _ turn: inout some Turn
    ) throws(StoreError) {
        let before = Set(old.devices.map(\.device))
        let after = Set(new.devices.map(\.device))
        let gone = before.subtracting(after).union(new.revoked).sorted()
        for device in gone { peers.dialer.drop(device) }
        for id in peers.links.keys.sorted() {
            guard let peer = peers.links[id]?.peer, peer.person == new.person,
                gone.contains(peer.device)
            else { continue }
            try tellRevocation(on: id, peer, &turn)
            hangUp(id, .revoked, &turn)
        }
        let forked = Set(new.forked).subtracting(old.forked).sorted()
        if !forked.isEmpty {
            try notice(.compromised, of: new.person, forked, &turn)
        }
        guard before != after else { return }
        turn.emit(.changed([.devices(new.person), .contact(new.person)]))
        turn.emit(.linksChanged)
        guard try contact(new.person, turn.store)?.isVerified == true else { return }
        try notice(
            .devicesChanged, of: new.person, after.subtracting(before).sorted(),
            revoked: before.subtracting(after).sorted(), &turn)
    }

    private func notice(
        _ kind: Notice.Kind, of person: PersonID, _ devices: [DeviceID], revoked: [DeviceID] = [],
        _ turn: inout some Turn
    ) throws(StoreError) {
        // A device can fork again and again: it is reported as compromised once.
        if kind == .compromised {
            let known = try Notice.all(in: turn.store).filter {
                $0.kind == kind && $0.person == person
            }
            guard !Set(devices).isSubset(of: known.flatMap(\.added)) else { return }
        }
        let notice = Notice(
            person: person, kind: kind, time: turn.now.wall, added: devices, revoked: revoked)
        try turn.store.setValue(notice.value, .notice, notice.key)
        turn.emit(.changed([.contact(person)]))
    }

    /// Shows a device that its person revoked it: it may not have met one that knows. Nothing else
    /// of the person is shown.
    func tellRevocation(on id: LinkID, _ peer: LinkPeer, _ turn: inout some Turn) throws(StoreError)
    {
        guard let frame = try revocationFrame(of: peer.person, turn.store) else { return }
        turn.emit(.send(id, frame.encoded()))
    }

    /// Shows a peer what is known of their own devices and they did not show: another device of theirs did it, or
    /// somebody who has their recovery code.
    func tellOwnDevices(on id: LinkID, _ peer: LinkPeer, _ turn: inout some Turn) throws(StoreError)
    {
        guard peer.person != identity.person, peers.links[id]?.isEnding == false,
            let known = try CardReader.kept(of: peer.person, turn.store),
            !Set(known.identity).isSubset(of: peer.identity)
        else { return }
        try tellRevocation(on: id, peer, &turn)
    }

    /// Tells of a revocation by letter: where no link leads, nobody else may tell it.
    ///
    /// - Parameter part: where the device is; nothing is stored for a revoked one.
    mutating func tellRevocation(to part: CardPart, of person: PersonID, _ turn: inout some Turn)
        throws(StoreError)
    {
        guard let frame = try revocationFrame(of: person, turn.store) else { return }
        _ = try send([frame], to: part, of: person, &turn)
    }

    private func revocationFrame(
        of person: PersonID, _ store: some Store
    ) throws(StoreError) -> Frame? {
        guard let known = try CardReader.kept(of: person, store) else { return nil }
        let card = Card(person: person, identity: known.identity, parts: [])
        return .introduce(Introduction(card: card.encoded, redemption: nil))
    }

    /// Merges what a peer shows of this person's own devices. Returns whether it was that.
    mutating func learnOwn(from bytes: [UInt8], _ turn: inout some Turn) throws(StoreError) -> Bool
    {
        guard let card = CardReader.card(bytes, of: identity.person) else { return false }
        try learn(card.identity, of: identity.person, &turn)
        return true
    }

    /// Whether a device that proved its key is still its person's, by all that is known here.
    func isStanding(_ peer: LinkPeer, _ store: some Store) throws(StoreError) -> Bool {
        if peer.person == identity.person {
            return identity.log.certificate(of: peer.device) != nil
        }
        guard let log = try CardReader.identity(of: peer.person, store) else { return true }
        return log.certificate(of: peer.device) != nil
    }
}
