import ParleyConversation
import ParleyLedger
public import ParleySealing
public import ParleyWire

/// The inviter's card, which is on the relay that the invite names: put there and renewed by the
/// inviter, looked for by the guest.
/// Source: `Protocol/05-identity.md`, "Invites".
extension NodeCore {
    /// An expired invite may still be valid by its opener's clock: the card is looked for this much
    /// longer, in milliseconds.
    private static let lateCardTime: UInt64 = day

    // MARK: Who invites

    /// The relay that a new invite names, with its addresses: one of the person's that this device
    /// has reached and has room on; of several a connected one. Nil if there is none.
    func relayForInvite(
        at now: Instant, _ store: some Store
    ) throws(StoreError) -> (relay: NoiseKey, addresses: [String])? {
        var found: [RelayChoice] = []
        for choice in try ownRelays(store) where choice.until == nil && !choice.addresses.isEmpty {
            guard try store.value(.relay, choice.relay.bytes) != nil,
                try mayPutCard(on: choice.relay, store)
            else { continue }
            found.append(choice)
        }
        let best = found.first { courier.lines[$0.relay]?.phase == .open } ?? found.first
        return best.map {
            ($0.relay, Array($0.addresses.prefix(Invite.relayAddressCountMax)))
        }
    }

    /// Puts the own card where open invites say that it lies, unless it lies there already.
    mutating func showCards(on relay: NoiseKey, _ turn: inout some Turn) throws(StoreError) {
        guard let line = courier.lines[relay], line.phase == .open,
            !line.pace.isBusy(at: turn.now.monotonic),
            !identity.isRevoked, let card = try CardReader.own(of: identity, turn.store)?.encoded
        else { return }
        let hash: Digest = digest(.inviteCard, card)
        for invite in try OpenInvite.kept(turn.store)
        where invite.relay == relay && invite.isOpen(at: turn.now.wall) && invite.shown != hash {
            let question = RelayQuestion.inviteCard(invite.number, hash)
            guard !line.questions.contains(question) else { continue }
            let mailbox = InviteMailbox(secret: invite.secret, relay: relay)
            let opening = Opening(key: mailbox.key, writers: nil, use: .invite)
            open(mailbox.id, opening, on: relay, &turn)
            if line.needsTicket, !line.paid.contains(mailbox.id) { continue }
            ask(
                .put(envelope: mailbox.sealed(card, using: &turn.random)), of: mailbox.id,
                as: mailbox.key, on: relay, for: question, &turn)
        }
    }

    /// A relay has the card of an invite.
    func cardIsShown(of number: UInt64, _ card: Digest, _ turn: inout some Turn) throws(StoreError)
    {
        let key = OpenInvite.key(number)
        guard var invite = try turn.store.value(.invite, key).flatMap(OpenInvite.init) else {
            return
        }
        invite.shown = card
        try turn.store.setValue(invite.bytes, .invite, key)
        turn.emit(.linksChanged)
    }

    /// A relay has lost its store: cards are put there again.
    func forgetShownCards(on relay: NoiseKey, _ store: some Store) throws(StoreError) {
        for var invite in try OpenInvite.kept(store)
        where invite.relay == relay && invite.shown != nil {
            invite.shown = nil
            try store.setValue(invite.bytes, .invite, OpenInvite.key(invite.number))
        }
    }

    // MARK: Who was invited

    /// Calls the relays on which the cards lie of those whose invites were taken.
    mutating func callForCards(_ turn: inout some Turn) throws(StoreError) {
        var awaited: Set<NoiseKey> = []
        for pending in try PendingInvite.all(turn.store) {
            guard let relay = pending.relayToAsk, isLookedFor(pending.invite, at: turn.now),
                case .relay(_, let addresses) = pending.invite.place,
                try note(
                    relay, at: addresses, namedBy: pending.invite.person, at: turn.now, turn.store)
            else { continue }
            awaited.insert(relay)
        }
        for relay in courier.lines.keys.sorted() {
            courier.lines[relay]?.awaitsCard = awaited.contains(relay)
        }
        for relay in awaited.sorted() {
            call(relay, &turn)
            try lookForCards(on: relay, &turn)
        }
    }

    private func isLookedFor(_ invite: Invite, at now: Instant) -> Bool {
        now.wall < invite.expires + min(Self.lateCardTime, .max - invite.expires)
    }

    /// Asks a relay for the cards that are to lie there, once on a connection; and to push those that
    /// come later.
    mutating func lookForCards(on relay: NoiseKey, _ turn: inout some Turn) throws(StoreError) {
        guard courier.lines[relay]?.phase == .open, courier.lines[relay]?.awaitsCard == true else {
            return
        }
        for pending in try PendingInvite.all(turn.store)
        where pending.relayToAsk == relay && isLookedFor(pending.invite, at: turn.now) {
            let mailbox = InviteMailbox(secret: pending.invite.secret, relay: relay)
            guard courier.lines[relay]?.cards[mailbox.id] == nil else { continue }
            courier.lines[relay]?.cards[mailbox.id] = pending.invite.person
            ask(
                .subscribe, of: mailbox.id, as: mailbox.key, on: relay, for: .card(mailbox.id),
                &turn)
            askForCard(in: mailbox, on: relay, &turn)
        }
    }

    /// An inbox refuses this device. Where its owner's invite was taken and they have not answered, they
    /// may have withdrawn the right to write that their card gave then: a newer one lies with the invite.
    mutating func lookForCardAgain(of inbox: MailboxID, _ turn: inout some Turn)
        throws(StoreError)
    {
        for var pending in try PendingInvite.all(turn.store) where pending.hasCard {
            let person = pending.invite.person
            guard
                try CardReader.parts(of: person, turn.store)
                    .contains(where: { $0.mailboxes.contains { $0.inbox == inbox } })
            else { continue }
            pending.hasCard = false
            try turn.store.setValue(pending.bytes, .introduction, person.bytes)
            courier.relayUpkeep.note(.findRelays)
        }
    }

    private mutating func askForCard(
        in mailbox: InviteMailbox, on relay: NoiseKey, _ turn: inout some Turn
    ) {
        ask(
            Invite.cardQuestion, of: mailbox.id, as: mailbox.key, on: relay,
            for: .card(mailbox.id), &turn)
    }

    /// The content of an invite's mailbox arrived. Every holder of the invite may have put anything
    /// there: the newest valid card of the inviter is accepted.
    mutating func tookCards(
        _ entries: [RelayEntry], in id: MailboxID, on relay: NoiseKey, _ turn: inout some Turn
    ) throws(StoreError) {
        guard let person = courier.lines[relay]?.cards[id],
            var pending = try pendingInvite(of: person, turn.store), pending.relayToAsk == relay
        else { return }
        let mailbox = InviteMailbox(secret: pending.invite.secret, relay: relay)
        guard mailbox.id == id else { return }
        for entry in entries.sorted(by: { $0.counter > $1.counter }) {
            guard let bytes = mailbox.card(in: entry.envelope) else {
                try count(.envelope, turn.store)
                continue
            }
            guard courier.letters.takeProof(from: relay, at: turn.now.monotonic) else {
                return try count(.tooManyFrames, turn.store)
            }
            guard let card = CardReader.card(bytes, of: person) else {
                try count(.card, turn.store)
                continue
            }
            pending.hasCard = true
            // The device that opened the invite puts its own part there, and no other.
            if card.parts.count == 1 { pending.cardDevice = card.parts[0].device }
            try turn.store.setValue(pending.bytes, .introduction, person.bytes)
            courier.lines[relay]?.cards[id] = nil
            ask(.unsubscribe, of: id, as: mailbox.key, on: relay, for: .whatever, &turn)
            try keep(card, &turn)
            for mailbox in card.parts.flatMap(\.mailboxes) {
                courier.lines[mailbox.relay]?.absent[mailbox.inbox] = nil
            }
            courier.relayUpkeep.note(.findRelays)
            turn.emit(.changed([.contact(person)]))
            try beginConversations(&turn)
            return try seek(person, &turn)
        }
    }

    /// Creates the direct conversations with inviters whose cards are known: messages there go to
    /// them by letter, with a proof of the invitation.
    mutating func beginConversations(_ turn: inout some Turn) throws(StoreError) {
        guard try mayWrite(turn.store) else { return }
        for pending in try PendingInvite.all(turn.store) where pending.hasCard {
            let person = pending.invite.person
            guard let card = try CardReader.kept(of: person, turn.store),
                card.parts.contains(where: { !$0.prekeys.isEmpty })
            else { continue }
            try meet(person, card.identity, &turn)
        }
    }

    /// Something came into the mailbox of an invite that was not told.
    mutating func missedCard(in id: MailboxID, on relay: NoiseKey, _ turn: inout some Turn)
        throws(StoreError)
    {
        guard let person = courier.lines[relay]?.cards[id],
            let pending = try pendingInvite(of: person, turn.store)
        else { return }
        askForCard(in: InviteMailbox(secret: pending.invite.secret, relay: relay), on: relay, &turn)
    }
}

// The same for a guest who has no node yet, and looks on their own.
extension Invite {
    /// The request to a mailbox: the newest card, and what other holders of the invite put there.
    static let cardQuestion = RelayAction.get(
        RelayRange(after: 0, isNewestFirst: true, byteCountMax: 64 << 10))

    private var mailbox: InviteMailbox? {
        guard case .relay(let relay, _) = place else { return nil }
        return InviteMailbox(secret: secret, relay: relay)
    }

    /// What asks the relay for the card; nil where the invite names none.
    public func cardRequest(number: UInt64) -> MailboxRequest? {
        mailbox.map {
            MailboxRequest(
                number: number, action: Self.cardQuestion, mailbox: $0.id, key: $0.key)
        }
    }

    /// The newest valid card of the inviter in a relay's answer; nil if none is valid.
    public func card(in entries: [RelayEntry]) -> Card? {
        for entry in entries.sorted(by: { $0.counter > $1.counter }) {
            if let bytes = mailbox?.card(in: entry.envelope),
                let card = CardReader.card(bytes, of: person)
            {
                return card
            }
        }
        return nil
    }
}
