import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleySealing
import ParleyWire

/// What a person decides about another.
public enum ContactAnswer: String, CaseIterable, Sendable {
    /// Takes up a request.
    case accept
    /// Lets a request come to nothing; who asked is not told.
    case decline
    /// Keeps the person away: no links, no requests.
    case block
    /// Ends that: things are as they were before.
    case unblock
}

// How persons come to know each other: `Protocol/05-identity.md`, "Contacts".
extension NodeCore {
    /// Whether a link to this person is wanted: contacts, and who is in a space with oneself.
    func mayLink(_ person: PersonID, _ store: some Store) throws(StoreError) -> Bool {
        if person == identity.person { return true }
        let contact = try contact(person, store)
        if contact?.isBlocked == true { return false }
        if contact?.state == .accepted { return true }
        return try sharesSpace(with: person, store)
    }

    /// Presents oneself on a link.
    func introduce(
        on id: LinkID, invite: PendingInvite? = nil, _ store: some Store,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        guard let link = links[id], let card = try store.value(.card, identity.person.bytes) else {
            return
        }
        var redemption: Introduction.Redemption?
        if let invite,
            let proof = Invite.proof(
                secret: invite.invite.secret, handshakeHash: link.peer.handshakeHash,
                device: identity.device)
        {
            redemption = .init(invite: Invite.hash(of: invite.invite.secret), proof: proof)
        }
        let state = try contact(link.peer.person, store)?.state
        let frame = Frame.introduce(
            Introduction(
                card: card, redemption: redemption,
                join: try wish(through: link.peer.person, store),
                isRequest: state == .requested, isContact: state == .accepted))
        effects.append(.send(id, frame.encoded()))
    }

    /// Says at the beginning of a link who one is, to whom one wants to be known.
    mutating func greet(
        _ id: LinkID, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) {
        guard let peer = links[id]?.peer else { return }
        let person = peer.person
        let contact = try contact(person, store)
        if contact?.isBlocked == true { return }
        if let invite = try pendingInvite(of: person, store) {
            return try introduce(on: id, invite: invite, store, &effects)
        }
        let mayLink = try mayTalk(peer, store)
        if mayLink || contact?.state == .requested {
            try introduce(on: id, store, &effects)
        }
        if mayLink { try admit(id, at: now, store, &random, &effects) }
    }

    /// Somebody presents themself: a contact with news, somebody invited, somebody who asks, or the
    /// answer to one's own invite or request.
    mutating func introduced(
        _ introduction: Introduction, on id: LinkID, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) {
        guard let link = links[id] else { return }
        let person = link.peer.person
        if person != identity.person,
            try learnOwn(from: introduction.card, at: now, store, &effects)
        {
            return
        }
        guard let card = CardReader.card(introduction.card, of: person) else {
            try count(.card, store)
            return hangUp(id, .stranger, &effects)
        }
        let known = try contact(person, store)
        if known?.isBlocked == true { return turnAway(id, &effects) }
        let isKnown = try isAccepted(person, store)
        if rejoin != nil, !isKnown {
            // Taking somebody in writes operations: they come again. Who is in a space with oneself may
            // hold what the store lacks, and be the only one who does.
            guard try mayTalk(link.peer, store) else { return hangUp(id, .ended, &effects) }
            return try talk(on: id, to: card, at: now, store, &random, &effects)
        }
        if let redemption = introduction.redemption,
            try invited(redemption, card, on: id, at: now, store, &random, &effects)
        {
            return
        }
        if let join = introduction.join {
            let outcome = try sponsor(join, card, on: id, at: now, store, &random, &effects)
            if outcome == .refused {
                try count(.invite, store)
                effects.append(.send(id, Frame.error(.joinRefused).encoded()))
            }
        }
        let wantsContact = introduction.isRequest || introduction.isContact
        let isAwaited = try pendingInvite(of: person, store) != nil || known?.state == .requested
        if wantsContact, isAwaited {
            return try answered(introduction, card, on: id, at: now, store, &random, &effects)
        }
        if wantsContact, !isKnown {
            try ask(card, root: link.peer.root, at: now, store, &random, &effects)
            // Who is in a space with oneself goes on talking about that.
            guard links[id]?.session == nil else { return }
            return turnAway(id, &effects)
        }
        guard try mayTalk(link.peer, store) else {
            if introduction.join != nil { return turnAway(id, &effects) }
            try count(.stranger, store)
            effects.append(.send(id, Frame.error(.stranger).encoded()))
            return hangUp(id, .stranger, &effects)
        }
        try talk(on: id, to: card, at: now, store, &random, &effects)
    }

    /// Goes on with somebody who may be talked to, and has presented themself.
    private mutating func talk(
        on id: LinkID, to card: Card, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) {
        try keep(card, at: now, store, &effects)
        effects.append(.linksChanged)
        if links[id]?.session == nil {
            // Who came into a space a moment ago is talked to from now on.
            try introduce(on: id, store, &effects)
            try admit(id, at: now, store, &random, &effects)
        }
        try dialDevices(of: card.person, at: now, store, &effects)
    }

    /// Somebody shows that they know an invite's secret. Returns whether that is all.
    private mutating func invited(
        _ redemption: Introduction.Redemption, _ card: Card, on id: LinkID, at now: Instant,
        _ store: some Store, _ random: inout some RandomNumberGenerator,
        _ effects: inout [Effect]
    ) throws(StoreError) -> Bool {
        guard let peer = links[id]?.peer else { return true }
        // Where one is known already, our answer was lost with the last link: the invite must not
        // stay open all the same.
        let isInvited = try redeem(redemption, by: peer, at: now, store)
        if try isAccepted(peer.person, store) { return false }
        guard isInvited else {
            try count(.invite, store)
            effects.append(.send(id, Frame.error(.inviteRefused).encoded()))
            hangUp(id, .stranger, &effects)
            return true
        }
        // Who took the invite makes the conversation; where both took one, the lesser does.
        let isMutual = try pendingInvite(of: peer.person, store) != nil
        try accept(peer, card, at: now, store, &random, &effects)
        try introduce(on: id, store, &effects)
        try admit(id, at: now, store, &random, &effects)
        guard isMutual, identity.person < peer.person else { return true }
        try meet(peer.person, peer.identity, at: now, store, &random, &effects)
        return true
    }

    /// Ends a link without a word why: who waits, who was declined and who is blocked hear the same.
    private mutating func turnAway(_ id: LinkID, _ effects: inout [Effect]) {
        effects.append(.send(id, Frame.bye.encoded()))
        hangUp(id, .ended, &effects)
    }

    /// The person whose invite was taken, or who was asked, presents themself: the two are contacts.
    private mutating func answered(
        _ introduction: Introduction, _ card: Card, on id: LinkID, at now: Instant,
        _ store: some Store, _ random: inout some RandomNumberGenerator,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        guard let peer = links[id]?.peer else { return }
        let isMutual = introduction.isRequest
        let wasInvited = try pendingInvite(of: peer.person, store) != nil
        try accept(peer, card, at: now, store, &random, &effects)
        try admit(id, at: now, store, &random, &effects)
        // Who took an invite makes the conversation. Where both asked, neither makes it for having
        // been asked: the lesser does.
        guard wasInvited || isMutual && identity.person < peer.person else { return }
        try meet(peer.person, peer.identity, at: now, store, &random, &effects)
    }

    /// Notes that somebody asks to be a contact, and nothing else of them.
    mutating func ask(
        _ card: Card, root: Digest, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) {
        guard let ownSpace else { return }
        var contact =
            try contact(card.person, store)
            ?? Contact(person: card.person, root: root, state: .none)
        // Once is enough: they come again and again until they are answered.
        guard contact.state == .none, try !hasOwnFork(store) else { return }
        let waiting = try Overview.contacts(ownSpace: ownSpace.number, in: store)
            .count { $0.state == .pending }
        guard waiting < Limits.pendingContactCountMax else { return try count(.request, store) }
        contact.state = .pending
        contact.card = card.encoded
        _ = try write([contact.draft()], in: ownSpace, at: now, store, &random, &effects)
    }

    /// Makes a peer a contact.
    private mutating func accept(
        _ peer: LinkPeer, _ card: Card, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) {
        try accept(card, root: peer.root, at: now, store, &random, &effects)
        dialing[peer.device] = Dialing(peer.person)
    }

    /// Makes the person of a card that holds a contact.
    mutating func accept(
        _ card: Card, root: Digest, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) {
        guard let ownSpace else { return }
        let person = card.person
        try keep(card, at: now, store, &effects)
        let invite = try pendingInvite(of: person, store)
        try store.setValue(nil, .introduction, person.bytes)
        if try isAccepted(person, store) { return }
        var contact = try contact(person, store) ?? Contact(person: person, root: root)
        contact.state = .accepted
        contact.card = card.encoded
        if let alias = invite?.alias, !alias.isEmpty { contact.alias = alias }
        _ = try write([contact.draft()], in: ownSpace, at: now, store, &random, &effects)
    }

    // MARK: What a person decides

    /// Asks somebody to be a contact; they may take their time.
    mutating func request(
        _ bytes: [UInt8], _ alias: String, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        if let refusal = Self.refusal(alias: alias) { return .failure(refusal) }
        guard let ownSpace, let (card, root) = CardReader.verified(bytes) else {
            return .failure(.unknownPerson)
        }
        guard card.person != identity.person else { return .failure(.ownInvite) }
        var contact =
            try contact(card.person, store)
            ?? Contact(person: card.person, root: root, state: .none)
        if contact.isBlocked { return .failure(.blocked) }
        if !alias.isEmpty { contact.alias = alias }
        switch contact.state {
        case .accepted, .requested:
            // They may be elsewhere by now, with another device.
            try keep(card, at: now, store, &effects)
            areRelaysStale = true
            try seek(card.person, at: now, store, &effects)
            return try alias.isEmpty
                ? .success(.done)
                : setAlias(alias, of: card.person, at: now, store, &random, &effects)
        case .pending:
            if !alias.isEmpty {
                _ = try setAlias(alias, of: card.person, at: now, store, &random, &effects)
            }
            return try answer(card.person, .accept, at: now, store, &random, &effects)
        case .none, .declined: break
        }
        try keep(card, at: now, store, &effects)
        contact.state = .requested
        contact.card = card.encoded
        _ = try write([contact.draft()], in: ownSpace, at: now, store, &random, &effects)
        try forgetRequests(of: card.person, store)
        // They may be away: what asks them waits for them where they read.
        areRelaysStale = true
        for relay in lines.keys.sorted() {
            try sendRequests(to: relay, at: now, store, &random, &effects)
        }
        try seek(card.person, at: now, store, &effects)
        return .success(.done)
    }

    /// Decides about a person.
    mutating func answer(
        _ person: PersonID, _ answer: ContactAnswer, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        guard let ownSpace, let before = try noted(person, store) else {
            return .failure(.unknownPerson)
        }
        var contact = before
        switch answer {
        case .accept:
            if contact.isBlocked { return .failure(.blocked) }
            guard [.pending, .declined, .accepted].contains(contact.state) else {
                return .failure(.notAsked)
            }
            contact.state = .accepted
        case .decline:
            guard [.pending, .declined].contains(contact.state) else { return .failure(.notAsked) }
            contact.state = .declined
        case .block: contact.isBlocked = true
        case .unblock: contact.isBlocked = false
        }
        guard contact != before else { return .success(.done) }
        _ = try write([contact.draft()], in: ownSpace, at: now, store, &random, &effects)
        if before.isBlocked, !contact.isBlocked {
            try askAgain(person, at: now, store, &effects)
        }
        if contact.isAccepted, before.state != .accepted,
            let card = CardReader.card(contact.card, of: person)
        {
            try keep(card, at: now, store, &effects)
            try meet(person, card.identity, at: now, store, &random, &effects)
        }
        return .success(.done)
    }

    /// What is noted of a person, or what can be noted of somebody whose card is known.
    func noted(_ person: PersonID, _ store: some Store) throws(StoreError) -> Contact? {
        guard person != identity.person else { return nil }
        if let contact = try contact(person, store) { return contact }
        guard let bytes = try store.value(.card, person.bytes),
            let (card, root) = CardReader.verified(bytes), card.person == person
        else { return nil }
        return Contact(person: person, root: root, state: .none, card: bytes)
    }

    mutating func markVerified(
        _ person: PersonID, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        guard let ownSpace, var contact = try noted(person, store) else {
            return .failure(.unknownPerson)
        }
        contact.isVerified = true
        _ = try write([contact.draft()], in: ownSpace, at: now, store, &random, &effects)
        // Whoever compares again has read what happened to their devices since.
        for notice in try Notice.all(in: store)
        where notice.person == person && notice.kind == .devicesChanged {
            try store.setValue(nil, .notice, notice.key)
        }
        return .success(.done)
    }
}

extension NodeCore {
    /// Follows what the own space says of a person, whichever of the own devices said it.
    mutating func heed(
        _ person: PersonID, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) {
        guard let contact = try contact(person, store) else { return }
        guard !contact.isBlocked else {
            for (device, state) in dialing where state.person == person { dialing[device] = nil }
            desk.depart(person)
            inboxes.hasBlocked = true
            try shut(person, at: now, store, &effects)
            for id in links.keys.sorted()
            where links[id]?.peer.person == person && links[id]?.isEnding == false {
                hangUp(id, .ended, &effects)
            }
            return
        }
        try unshut(person, store)
        if let card = CardReader.card(contact.card, of: person) {
            try keep(card, at: now, store, &effects)
        }
        for id in links.keys.sorted()
        where links[id]?.peer.person == person && links[id]?.isEnding == false {
            if links[id]?.session == nil {
                try greet(id, at: now, store, &random, &effects)
            } else {
                // One hears of it, and may have waited for it.
                try introduce(on: id, store, &effects)
            }
        }
        try dialDevices(of: person, at: now, store, &effects)
    }
}
