import ParleyConversation
import ParleyLedger
import ParleySealing
import ParleyWire

/// What people's devices are: learnt from every handshake and every card, kept, and acted upon.
///
/// An identity log only grows, and a revocation is for good: whatever the order in which nodes
/// learn of it, they end with the same devices. Source: `Protocol/05-identity.md`, "Identity log".
extension NodeCore {
    /// Takes in what somebody shows of a person's devices. What is known already costs nothing.
    mutating func learn(
        _ operations: [[UInt8]], of person: PersonID, at now: Instant, _ store: some Store,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        let isOwn = person == identity.person
        let card = try CardReader.kept(of: person, store)
        let known = isOwn ? identity.operations : card?.identity ?? []
        let fresh = Set(operations).subtracting(known)
        // Of a person without a card nothing is kept: they are no one's contact.
        guard !fresh.isEmpty, isOwn || card != nil else { return }
        guard let log = merged(known, operations), log.person == person else {
            return try count(.identity, store)
        }
        if isOwn { return try renew(log, at: now, store, &effects) }
        try keep(Card(person: person, identity: log.encoded, parts: []), at: now, store, &effects)
    }

    private func merged(_ known: [[UInt8]], _ others: [[UInt8]]) -> IdentityLog? {
        let held = Set(known)
        // What does not fit together changes nothing, whatever is wrong with it.
        return try? IdentityLog(operations: known + others.filter { !held.contains($0) })
    }

    /// Keeps what a card says that holds, and acts on what it tells of the person's devices.
    mutating func keep(
        _ card: Card, at now: Instant, _ store: some Store, _ effects: inout [Effect]
    ) throws(StoreError) {
        if card.parts.contains(where: { !$0.mailboxes.isEmpty }) { areRelaysStale = true }
        if card.person == identity.person {
            try learn(card.identity, of: card.person, at: now, store, &effects)
            invites.areCardsDue = true
        }
        guard let before = try CardReader.kept(of: card.person, store) else {
            return try store.setValue(card.encoded, .card, card.person.bytes)
        }
        let (after, fork) = before.merged(with: card)
        if let fork {
            try notice(.compromised, of: card.person, [fork.device], at: now, store, &effects)
        }
        guard after != before else { return }
        let bytes = after.encoded
        guard bytes.count <= Limits.cardByteCountMax else { return try count(.card, store) }
        try CardReader.keepName(from: before, to: after, store)
        try store.setValue(bytes, .card, card.person.bytes)
        try follow(from: before, to: after, at: now, store, &effects)
        guard after.identity != before.identity, card.person != identity.person,
            // Both were checked when they were merged.
            let old = try? IdentityLog(kept: before.identity),
            // As above.
            let new = try? IdentityLog(kept: after.identity)
        else { return }
        try changed(from: old, to: new, at: now, store, &effects)
    }

    /// The own identity log knows more than before.
    mutating func renew(
        _ log: IdentityLog, at now: Instant, _ store: some Store, _ effects: inout [Effect]
    ) throws(StoreError) {
        let old = identity.log
        identity.log = log
        try NodeIdentity.keep(log, in: store)
        invites.areCardsDue = true
        let card = Card(person: log.person, identity: log.encoded, parts: [])
        let known = try CardReader.kept(of: log.person, store)
        let after = known?.merged(with: card).card ?? card
        if let known { try CardReader.keepName(from: known, to: after, store) }
        try store.setValue(after.encoded, .card, log.person.bytes)
        effects.append(.commitFully)
        effects.append(.renewIdentity(log.encoded))
        try changed(from: old, to: log, at: now, store, &effects)
        for id in links.keys.sorted() where links[id]?.session != nil {
            try introduce(on: id, invite: nil, store, &effects)
        }
        try dialDevices(of: log.person, at: now, store, &effects)
        watchDevices(at: now, &effects)
    }

    private mutating func changed(
        from old: IdentityLog, to new: IdentityLog, at now: Instant, _ store: some Store,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        let before = Set(old.devices.map(\.device))
        let after = Set(new.devices.map(\.device))
        let gone = before.subtracting(after).union(new.revoked).sorted()
        for device in gone { dialing[device] = nil }
        for id in links.keys.sorted() {
            guard let peer = links[id]?.peer, peer.person == new.person,
                gone.contains(peer.device)
            else { continue }
            try tellRevocation(on: id, peer, store, &effects)
            hangUp(id, .revoked, &effects)
        }
        let forked = Set(new.forked).subtracting(old.forked).sorted()
        if !forked.isEmpty {
            try notice(.compromised, of: new.person, forked, at: now, store, &effects)
        }
        guard before != after else { return }
        effects.append(.changed([.devices(new.person), .contact(new.person)]))
        effects.append(.linksChanged)
        guard try contact(new.person, store)?.isVerified == true else { return }
        try notice(
            .devicesChanged, of: new.person, after.subtracting(before).sorted(),
            revoked: before.subtracting(after).sorted(), at: now, store, &effects)
    }

    private func notice(
        _ kind: Notice.Kind, of person: PersonID, _ devices: [DeviceID],
        revoked: [DeviceID] = [], at now: Instant, _ store: some Store,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        // Whoever forks once can fork for ever: a device is compromised once.
        if kind == .compromised {
            let known = try Notice.all(in: store).filter { $0.kind == kind && $0.person == person }
            guard !Set(devices).isSubset(of: known.flatMap(\.added)) else { return }
        }
        let notice = Notice(
            person: person, kind: kind, time: now.wall, added: devices, revoked: revoked)
        try store.setValue(notice.value, .notice, notice.key)
        effects.append(.changed([.contact(person)]))
    }

    /// Shows a device that its person revoked it: it may not have met one that knows. Nothing else
    /// of the person is shown.
    func tellRevocation(
        on id: LinkID, _ peer: LinkPeer, _ store: some Store, _ effects: inout [Effect]
    ) throws(StoreError) {
        guard let frame = try revocationFrame(of: peer.person, store) else { return }
        effects.append(.send(id, frame.encoded()))
    }

    /// As above, by letter: where no link leads, nobody else may tell it.
    ///
    /// - Parameter part: where the device is; of who is revoked nothing is kept.
    mutating func tellRevocation(
        to part: CardPart, of person: PersonID, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) {
        guard let frame = try revocationFrame(of: person, store) else { return }
        _ = try send([frame], to: part, of: person, at: now, store, &random, &effects)
    }

    private func revocationFrame(
        of person: PersonID, _ store: some Store
    ) throws(StoreError) -> Frame? {
        guard let known = try CardReader.kept(of: person, store) else { return nil }
        let card = Card(person: person, identity: known.identity, parts: [])
        return .introduce(Introduction(card: card.encoded, redemption: nil))
    }

    /// Takes in what a peer shows of this person's own devices. Returns whether it was that.
    mutating func learnOwn(
        from bytes: [UInt8], at now: Instant, _ store: some Store, _ effects: inout [Effect]
    ) throws(StoreError) -> Bool {
        guard let card = CardReader.card(bytes, of: identity.person) else { return false }
        try learn(card.identity, of: identity.person, at: now, store, &effects)
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
