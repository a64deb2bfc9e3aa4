import ParleyConversation
import ParleyLedger
import ParleyReconciliation
import ParleyRoster
import ParleySealing
import ParleyWire

/// Decisions of a person about another.
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
    /// Whether a link to this person is wanted: contacts, and members of a common space.
    func mayLink(_ person: PersonID, _ store: some Store) throws(StoreError) -> Bool {
        if person == identity.person { return true }
        let contact = try contact(person, store)
        if contact?.isBlocked == true { return false }
        if contact?.state == .accepted { return true }
        return try sharesSpace(with: person, store)
    }

    /// Presents oneself on a link.
    func introduce(on id: LinkID, invite: PendingInvite? = nil, _ turn: inout some Turn)
        throws(StoreError)
    {
        guard let link = peers.links[id],
            let card = try turn.store.value(.card, identity.person.bytes)
        else {
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
        let state = try contact(link.peer.person, turn.store)?.state
        let frame = Frame.introduce(
            Introduction(
                card: card, redemption: redemption,
                join: try wish(through: link.peer.person, turn.store),
                isRequest: state == .requested, isContact: state == .accepted))
        turn.emit(.send(id, frame.encoded()))
    }

    /// Introduces this person at the beginning of a link, to peers that may know them.
    mutating func greet(_ id: LinkID, _ turn: inout some Turn) throws(StoreError) {
        guard let peer = peers.links[id]?.peer else { return }
        let person = peer.person
        let contact = try contact(person, turn.store)
        if contact?.isBlocked == true { return }
        if let invite = try pendingInvite(of: person, turn.store),
            invite.mayBeKnown(to: peer.device)
        {
            return try introduce(on: id, invite: invite, &turn)
        }
        let mayLink = try mayTalk(peer, turn.store)
        if mayLink || contact?.state == .requested {
            try introduce(on: id, &turn)
        }
        if mayLink { try admit(id, &turn) }
    }

    /// A peer presents themselves: a contact with news, an invited person, a contact request, or
    /// the answer to an own invite or request.
    mutating func introduced(_ introduction: Introduction, on id: LinkID, _ turn: inout some Turn)
        throws(StoreError)
    {
        guard let link = peers.links[id] else { return }
        let person = link.peer.person
        if person != identity.person,
            try learnOwn(from: introduction.card, &turn)
        {
            return
        }
        guard let card = CardReader.card(introduction.card, of: person) else {
            try count(.card, turn.store)
            return hangUp(id, .stranger, &turn)
        }
        let known = try contact(person, turn.store)
        if known?.isBlocked == true { return endQuietly(id, &turn) }
        let isKnown = try isAccepted(person, turn.store)
        if rejoin != nil, !isKnown {
            // Accepting a person writes operations: they come again. A member of a common space may
            // hold what the store lacks, and be the only one who does.
            guard try mayTalk(link.peer, turn.store) else { return hangUp(id, .ended, &turn) }
            return try talk(on: id, to: card, isContact: introduction.isContact, &turn)
        }
        if let redemption = introduction.redemption,
            try invited(redemption, card, on: id, &turn)
        {
            return
        }
        if let join = introduction.join {
            let outcome = try sponsor(join, card, on: id, &turn)
            if outcome == .refused {
                try count(.invite, turn.store)
                turn.emit(.send(id, Frame.error(.joinRefused).encoded()))
            }
        }
        let wantsContact = introduction.isRequest || introduction.isContact
        let isAwaited =
            try pendingInvite(of: person, turn.store) != nil || known?.state == .requested
        if wantsContact, isAwaited {
            return try answered(introduction, card, on: id, &turn)
        }
        if wantsContact, !isKnown {
            try ask(card, root: link.peer.root, &turn)
            // A member of a common space continues to talk about that.
            guard peers.links[id]?.session == nil else { return }
            return endQuietly(id, &turn)
        }
        guard try mayTalk(link.peer, turn.store) else {
            if introduction.join != nil { return endQuietly(id, &turn) }
            try count(.stranger, turn.store)
            turn.emit(.send(id, Frame.error(.stranger).encoded()))
            return hangUp(id, .stranger, &turn)
        }
        try talk(on: id, to: card, isContact: introduction.isContact, &turn)
    }

    /// Continues with a peer that may be served, and has presented themselves.
    ///
    /// - Parameter isContact: whether one is a contact of theirs.
    private mutating func talk(
        on id: LinkID, to card: Card, isContact: Bool, _ turn: inout some Turn
    ) throws(StoreError) {
        try keep(card, &turn)
        turn.emit(.linksChanged)
        if peers.links[id]?.session == nil {
            // Who came into a space a moment ago is talked to from now on.
            try introduce(on: id, &turn)
            try admit(id, &turn)
        }
        try perform(peers.links[id]?.session?.hear(isContact: isContact) ?? [], on: id, &turn)
        try dialDevices(of: card.person, &turn)
    }

    /// Somebody shows that they know an invite's secret. Returns whether that is all.
    private mutating func invited(
        _ redemption: Introduction.Redemption, _ card: Card, on id: LinkID, _ turn: inout some Turn
    ) throws(StoreError) -> Bool {
        guard let peer = peers.links[id]?.peer else { return true }
        // Where one is known already, our answer was lost with the last link: the invite must not
        // stay open all the same.
        let isInvited = try redeem(redemption, by: peer, at: turn.now, turn.store)
        if try isAccepted(peer.person, turn.store) { return false }
        guard isInvited else {
            try count(.invite, turn.store)
            turn.emit(.send(id, Frame.error(.inviteRefused).encoded()))
            hangUp(id, .stranger, &turn)
            return true
        }
        // The guest of the invite creates the conversation; if both used one, the person with the
        // smaller identifier does.
        let isMutual = try pendingInvite(of: peer.person, turn.store) != nil
        try accept(peer, card, &turn)
        try introduce(on: id, &turn)
        try admit(id, &turn)
        guard isMutual, identity.person < peer.person else { return true }
        try meet(peer.person, peer.identity, &turn)
        return true
    }

    /// Ends a link without a reason: pending, declined and blocked persons get the same answer.
    private mutating func endQuietly(_ id: LinkID, _ turn: inout some Turn) {
        turn.emit(.send(id, Frame.bye.encoded()))
        hangUp(id, .ended, &turn)
    }

    /// The person whose invite was accepted, or who was asked, presents themselves: the two are
    /// contacts.
    private mutating func answered(
        _ introduction: Introduction, _ card: Card, on id: LinkID, _ turn: inout some Turn
    ) throws(StoreError) {
        guard let peer = peers.links[id]?.peer else { return }
        let isMutual = introduction.isRequest
        let wasInvited = try pendingInvite(of: peer.person, turn.store) != nil
        try accept(peer, card, &turn)
        try admit(id, &turn)
        // The guest of an invite creates the conversation. If both asked, having asked does not
        // decide: the person with the smaller identifier does.
        guard wasInvited || isMutual && identity.person < peer.person else { return }
        try meet(peer.person, peer.identity, &turn)
    }

    /// Notes that somebody asks to be a contact, and nothing else of them.
    mutating func ask(_ card: Card, root: Digest, _ turn: inout some Turn) throws(StoreError) {
        guard let ownSpace else { return }
        let known = try contact(card.person, turn.store)
        // Once is enough: they come again and again until they are answered.
        guard known == nil || known?.state == ContactState.none, try !hasOwnFork(turn.store) else {
            return
        }
        let waiting = try Overview.contacts(ownSpace: ownSpace.number, in: turn.store)
            .count { $0.state == .pending }
        guard waiting < Limits.pendingContactCountMax else {
            return try count(.request, turn.store)
        }
        let asks = Contact.askingDraft(card.person, root: root, card: card.encoded)
        _ = try write([asks], in: ownSpace, &turn)
    }

    /// Makes a peer a contact.
    private mutating func accept(_ peer: LinkPeer, _ card: Card, _ turn: inout some Turn)
        throws(StoreError)
    {
        try accept(card, root: peer.root, &turn)
        peers.dialer.restart(peer.device, of: peer.person)
    }

    /// Makes the person of a card that holds a contact.
    mutating func accept(_ card: Card, root: Digest, _ turn: inout some Turn) throws(StoreError) {
        guard let ownSpace else { return }
        let person = card.person
        try keep(card, &turn)
        let invite = try pendingInvite(of: person, turn.store)
        try turn.store.setValue(nil, .introduction, person.bytes)
        if try isAccepted(person, turn.store) { return }
        var contact = try contact(person, turn.store) ?? Contact(person: person, root: root)
        contact.state = .accepted
        contact.card = card.encoded
        if let alias = invite?.alias, !alias.isEmpty { contact.alias = alias }
        _ = try write([contact.draft()], in: ownSpace, &turn)
    }

    // MARK: What a person decides

    /// Asks somebody to be a contact; they may take their time.
    mutating func request(_ bytes: [UInt8], _ alias: String, _ turn: inout some Turn)
        throws(StoreError) -> Result<CommandReply, CommandRefusal>
    {
        if let refusal = Self.refusal(alias: alias) { return .failure(refusal) }
        guard let ownSpace, let (card, root) = CardReader.verified(bytes) else {
            return .failure(.unknownPerson)
        }
        guard card.person != identity.person else { return .failure(.ownInvite) }
        var contact =
            try contact(card.person, turn.store)
            ?? Contact(person: card.person, root: root, state: .none)
        if contact.isBlocked { return .failure(.blocked) }
        if !alias.isEmpty { contact.alias = alias }
        switch contact.state {
        case .accepted, .requested:
            // They may be elsewhere by now, with another device.
            try keep(card, &turn)
            courier.relayUpkeep.note(.findRelays)
            try seek(card.person, &turn)
            return try alias.isEmpty
                ? .success(.done)
                : setAlias(alias, of: card.person, &turn)
        case .pending:
            if !alias.isEmpty {
                _ = try setAlias(alias, of: card.person, &turn)
            }
            return try answer(card.person, .accept, &turn)
        case .none, .declined: break
        }
        try keep(card, &turn)
        contact.state = .requested
        contact.card = card.encoded
        _ = try write([contact.draft()], in: ownSpace, &turn)
        try forgetRequests(of: card.person, turn.store)
        // Who can be written to while they are away gets the first words with the request.
        if card.parts.contains(where: { !$0.mailboxes.isEmpty && !$0.prekeys.isEmpty }) {
            try meet(card.person, card.identity, &turn)
        }
        // They may be away: what asks them waits for them where they read.
        courier.relayUpkeep.note(.findRelays)
        for relay in courier.lines.keys.sorted() {
            try sendRequests(to: relay, &turn)
        }
        try seek(card.person, &turn)
        return .success(.done)
    }

    /// Decides about a person.
    mutating func answer(_ person: PersonID, _ answer: ContactAnswer, _ turn: inout some Turn)
        throws(StoreError) -> Result<CommandReply, CommandRefusal>
    {
        guard let ownSpace, let before = try noted(person, turn.store) else {
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
        _ = try write([contact.draft()], in: ownSpace, &turn)
        if before.isBlocked, !contact.isBlocked {
            try askAgain(person, &turn)
        }
        if contact.isAccepted, before.state != .accepted,
            let card = CardReader.card(contact.card, of: person)
        {
            try keep(card, &turn)
            // They may have begun the conversation.
            try readHeldLetters(of: person, &turn)
            try meet(person, card.identity, &turn)
        }
        return .success(.done)
    }

    /// The note about a person, or what can be noted about somebody whose card is known.
    func noted(_ person: PersonID, _ store: some Store) throws(StoreError) -> Contact? {
        guard person != identity.person else { return nil }
        if let contact = try contact(person, store) { return contact }
        guard let bytes = try store.value(.card, person.bytes),
            let (card, root) = CardReader.verified(bytes), card.person == person
        else { return nil }
        return Contact(person: person, root: root, state: .none, card: bytes)
    }

    mutating func markVerified(_ person: PersonID, _ turn: inout some Turn) throws(StoreError)
        -> Result<CommandReply, CommandRefusal>
    {
        guard let ownSpace, var contact = try noted(person, turn.store) else {
            return .failure(.unknownPerson)
        }
        contact.isVerified = true
        _ = try write([contact.draft()], in: ownSpace, &turn)
        // A person who compares again has read what happened to the devices since.
        for notice in try Notice.all(in: turn.store)
        where notice.person == person && notice.kind == .devicesChanged {
            try turn.store.setValue(nil, .notice, notice.key)
        }
        return .success(.done)
    }
}

extension NodeCore {
    /// Applies what the own space says about a person, whichever of the own devices wrote it.
    mutating func heed(_ person: PersonID, _ turn: inout some Turn) throws(StoreError) {
        guard let contact = try contact(person, turn.store) else { return }
        guard !contact.isBlocked else {
            peers.dialer.dropDevices(of: person)
            desk.depart(person)
            try readHeldLetters(of: person, &turn)
            courier.relayUpkeep.note(.retireWriters)
            try shut(person, &turn)
            for id in peers.links.keys.sorted()
            where peers.links[id]?.peer.person == person && peers.links[id]?.isEnding == false {
                hangUp(id, .ended, &turn)
            }
            return
        }
        try unshut(person, turn.store)
        if let card = CardReader.card(contact.card, of: person) {
            try keep(card, &turn)
        }
        try readHeldLetters(of: person, &turn)
        for id in peers.links.keys.sorted()
        where peers.links[id]?.peer.person == person && peers.links[id]?.isEnding == false {
            if peers.links[id]?.session == nil {
                try greet(id, &turn)
            } else {
                // They hear of it, and may have waited for it.
                try introduce(on: id, &turn)
            }
        }
        // They were blocked a moment ago, and the link of before is about to end: they are dialled then.
        for link in peers.links.values where link.peer.person == person && link.isEnding {
            if peers.dialer.person(of: link.peer.device) == nil {
                peers.dialer.restart(link.peer.device, of: person)
            }
        }
        try dialDevices(of: person, &turn)
    }
}
