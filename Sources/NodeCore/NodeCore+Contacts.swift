import ParleyReconciliation
import ParleyConversation
public import ParleyLedger
import ParleyRoster
import ParleySealing
public import ParleyWire

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
        guard let card = CardReader.card(introduction.card, of: link.peer) else {
            try count(.card, store)
            return hangUp(id, .stranger, &effects)
        }
        if let redemption = introduction.redemption {
            guard try redeem(redemption, by: link.peer, at: now, store) else {
                try count(.invite, store)
                effects.append(.send(id, Frame.error(.inviteRefused).encoded()))
                return hangUp(id, .stranger, &effects)
            }
            try CardReader.keep(card, store)
            try accept(link.peer, alias: "", at: now, store, &random, &effects)
            try introduce(on: id, invite: nil, store, &effects)
            try admit(id, at: now, store, &random, &effects)
            return try meet(link.peer, at: now, store, &random, &effects)
        }
        if let invite = try pendingInvite(of: person, store) {
            try CardReader.keep(card, store)
            try accept(link.peer, alias: invite.alias, at: now, store, &random, &effects)
            try store.setValue(nil, .introduction, person.bytes)
            return try admit(id, at: now, store, &random, &effects)
        }
        guard try isAccepted(person, store) else {
            try count(.stranger, store)
            effects.append(.send(id, Frame.error(.stranger).encoded()))
            return hangUp(id, .stranger, &effects)
        }
        try CardReader.keep(card, store)
        effects.append(.linksChanged)
        try dialEveryone(at: now, store, &effects)
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
        dialing[peer.device] = Dialing()
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

    /// A new space with these persons and oneself as its owner.
    mutating func createSpace(
        _ kind: SpaceKind, with others: [Founder], at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) -> SpaceRecord {
        let own = Founder(
            person: identity.person, role: .owner,
            name: try CardReader.name(of: identity.person, store), identity: identity.operations)
        let genesis = Genesis(
            kind: kind, creator: identity.device, random: random.bytes(16),
            founders: others + [own])
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

/// What the node needs of people's cards.
public enum CardReader {
    /// The card in these bytes, if it is the peer's and every part of it holds.
    static func card(_ bytes: [UInt8], of peer: LinkPeer) -> Card? {
        // Why a card does not hold is not told: the link ends, and the refusal is counted.
        guard let card = try? Card(bytes: bytes), card.person == peer.person,
            let identity = try? IdentityLog(operations: card.identity),
            identity.person == peer.person
        else { return nil }
        return try? card.verified(by: identity)
    }

    /// Merges a card that holds into what is known of the person.
    static func keep(_ card: Card, _ store: some NodeStore) throws(StoreError) {
        var merged = card
        if let bytes = try store.value(.card, card.person.bytes),
            let known = try? Card(bytes: bytes)
        {
            merged = known.merged(with: card).card
        }
        try store.setValue(merged.encoded, .card, card.person.bytes)
    }

    /// What a person calls themself, or nothing where no card is known.
    public static func name(
        of person: PersonID, _ store: some NodeStore
    ) throws(StoreError) -> String {
        try store.value(.card, person.bytes).flatMap { try? Card(bytes: $0) }?.name ?? ""
    }

    /// Where a person's devices were last known to be.
    public static func addresses(
        of person: PersonID, _ store: some NodeStore
    ) throws(StoreError) -> [String] {
        let card = try store.value(.card, person.bytes).flatMap { try? Card(bytes: $0) }
        return card?.parts.flatMap(\.addresses) ?? []
    }

    /// Devices of a card that have an address.
    static func targets(of bytes: [UInt8]) -> [DialTarget] {
        guard let card = try? Card(bytes: bytes) else { return [] }
        return card.parts.filter { !$0.addresses.isEmpty }.map {
            DialTarget(device: $0.device, noiseKey: $0.noiseKey, addresses: $0.addresses)
        }
    }
}
