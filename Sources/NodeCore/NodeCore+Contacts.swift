import ParleyReconciliation
import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleySealing
import ParleyWire

extension NodeCore {
    /// Whether a person may talk to this node: oneself, and accepted contacts.
    func isAccepted(_ person: PersonID, _ store: some Store) throws(StoreError) -> Bool {
        if person == identity.person { return true }
        return try contact(person, store)?.isAccepted ?? false
    }

    /// What is noted of a person, or nil.
    func contact(_ person: PersonID, _ store: some Store) throws(StoreError) -> Contact? {
        guard let ownSpace else { return nil }
        return try Overview.contact(person, ownSpace: ownSpace.number, in: store)
    }

    /// The secret of an invite of this person that was taken and not answered yet.
    func pendingInvite(
        of person: PersonID, _ store: some Store
    ) throws(StoreError) -> PendingInvite? {
        try store.value(.introduction, person.bytes).flatMap(PendingInvite.init)
    }

    /// Presents oneself on a link.
    func introduce(
        on id: LinkID, invite: PendingInvite?, _ store: some Store, _ effects: inout [Effect]
    ) throws(StoreError) {
        guard let link = links[id], let card = try store.value(.card, identity.person.bytes) else {
            return
        }
        var redemption: Introduction.Redemption?
        if let invite,
            let proof = Invite.proof(
                secret: invite.secret, handshakeHash: link.peer.handshakeHash,
                device: identity.device)
        {
            redemption = .init(invite: Invite.hash(of: invite.secret), proof: proof)
        }
        let frame = Frame.introduce(Introduction(card: card, redemption: redemption))
        effects.append(.send(id, frame.encoded()))
    }

    /// Somebody presents themself: a contact with news, somebody invited, or the inviter's answer.
    mutating func introduced(
        _ introduction: Introduction, on id: LinkID, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) {
        guard let link = links[id] else { return }
        let person = link.peer.person
        guard let card = CardReader.card(introduction.card, of: person) else {
            try count(.card, store)
            return hangUp(id, .stranger, &effects)
        }
        let isKnown = try isAccepted(person, store)
        if rejoin != nil, !isKnown {
            // Taking somebody in writes operations. They come again.
            return hangUp(id, .ended, &effects)
        }
        if let redemption = introduction.redemption, isKnown {
            // Our answer was lost with the last link. The invite must not stay open all the same.
            _ = try redeem(redemption, by: link.peer, at: now, store)
        } else if let redemption = introduction.redemption {
            guard try redeem(redemption, by: link.peer, at: now, store) else {
                try count(.invite, store)
                effects.append(.send(id, Frame.error(.inviteRefused).encoded()))
                return hangUp(id, .stranger, &effects)
            }
            try keep(card, at: now, store, &effects)
            try accept(link.peer, alias: "", at: now, store, &random, &effects)
            try store.setValue(nil, .introduction, person.bytes)
            try introduce(on: id, invite: nil, store, &effects)
            try admit(id, at: now, store, &random, &effects)
            return try meet(link.peer, at: now, store, &random, &effects)
        }
        if let invite = try pendingInvite(of: person, store) {
            try keep(card, at: now, store, &effects)
            if !isKnown {
                try accept(link.peer, alias: invite.alias, at: now, store, &random, &effects)
            }
            try store.setValue(nil, .introduction, person.bytes)
            return try admit(id, at: now, store, &random, &effects)
        }
        guard isKnown else {
            try count(.stranger, store)
            effects.append(.send(id, Frame.error(.stranger).encoded()))
            return hangUp(id, .stranger, &effects)
        }
        try keep(card, at: now, store, &effects)
        effects.append(.linksChanged)
        try dialDevices(of: person, at: now, store, &effects)
    }

    /// Whether the peer knows the secret of an open invite; the invite is then used up.
    private func redeem(
        _ redemption: Introduction.Redemption, by peer: LinkPeer, at now: Instant,
        _ store: some Store
    ) throws(StoreError) -> Bool {
        let key = OpenInvite.key(redemption.invite)
        guard let invite = try store.value(.invite, key).flatMap(OpenInvite.init),
            now.wall < invite.expires,
            let proof = Invite.proof(
                secret: invite.secret, handshakeHash: peer.handshakeHash, device: peer.device),
            proof == redemption.proof
        else { return false }
        try store.setValue(nil, .invite, key)
        return true
    }

    private mutating func accept(
        _ peer: LinkPeer, alias: String, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) {
        guard let ownSpace else { return }
        let contact = Contact(person: peer.person, root: peer.root, alias: alias)
        _ = try write([contact.draft()], in: ownSpace, at: now, store, &random, &effects)
        dialing[peer.device] = Dialing(peer.person)
    }

    /// The inviter makes the direct conversation, so that there is one and not two.
    private mutating func meet(
        _ peer: LinkPeer, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) {
        for space in try store.spaces() where space.kind == .direct {
            if try roster(of: space, store)?.member(peer.person) != nil { return }
        }
        _ = try createSpace(
            .direct,
            with: [
                Founder(
                    person: peer.person, role: .owner,
                    name: try CardReader.name(of: peer.person, store), identity: peer.identity)
            ], at: now, store, &random, &effects)
    }

    func ownFounder(_ store: some Store) throws(StoreError) -> Founder {
        Founder(
            person: identity.person, role: .owner,
            name: try CardReader.name(of: identity.person, store), identity: identity.operations)
    }

    /// A new space with these persons and oneself as its owner.
    mutating func createSpace(
        _ kind: SpaceKind, with others: [Founder], at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) -> SpaceRecord {
        let genesis = Genesis(
            kind: kind, creator: identity.device, random: random.bytes(16),
            founders: others + [try ownFounder(store)])
        let space = try store.addSpace(genesis.space, kind: kind)
        let author = LogAuthor(
            key: identity.key, space: space, authority: 0, wallClock: now.wall)
        let applied = try author.append([genesis.draft()], to: store, using: &random)
        effects.append(.commitFully)
        effects.append(.changed([.conversation(space.number)]))
        guard let roster = try roster(of: space, store) else {
            preconditionFailure("a genesis that was just written makes a roster")
        }
        for id in links.keys.sorted() {
            guard let peer = links[id]?.peer, roster.contains(peer.device) else { continue }
            _ = try links[id]?.session?.share(space, store: store)
            try links[id]?.session?.assumeMissing(space.number, store: store)
        }
        precondition(applied.count == 1, "a genesis is one operation")
        return space
    }
}

/// An invite that this node gave out.
struct OpenInvite {
    let secret: [UInt8]
    let expires: UInt64

    init(secret: [UInt8], expires: UInt64) {
        self.secret = secret
        self.expires = expires
    }

    init?(_ bytes: [UInt8]) {
        guard bytes.count == Invite.secretByteCount + 8 else { return nil }
        secret = Array(bytes.prefix(Invite.secretByteCount))
        expires = bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.raw(secret)
        writer.uint64(expires)
        return writer.bytes
    }

    static func key(_ hash: UInt64) -> [UInt8] {
        var writer = ByteWriter()
        writer.uint64(hash)
        return writer.bytes
    }
}

/// An invite of somebody else that this node has taken and not yet presented.
struct PendingInvite {
    let secret: [UInt8]
    let alias: String

    init(secret: [UInt8], alias: String) {
        self.secret = secret
        self.alias = alias
    }

    init?(_ bytes: [UInt8]) {
        guard bytes.count >= Invite.secretByteCount else { return nil }
        secret = Array(bytes.prefix(Invite.secretByteCount))
        alias = String(decoding: bytes.dropFirst(Invite.secretByteCount), as: UTF8.self)
    }

    var bytes: [UInt8] { secret + alias.utf8 }
}
