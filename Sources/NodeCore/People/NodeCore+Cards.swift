import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleySealing
import ParleyWire

// How members who are no contacts find each other: `Protocol/05-identity.md`, "Cards".
extension NodeCore {
    /// A card that changed goes into a space that has seen another at most so often, in milliseconds:
    /// a laptop that moves about all day must not fill it.
    static let cardInterval: UInt64 = 600_000
    /// One that newcomers were not given goes there again at most so often, in milliseconds.
    static let cardNewcomerInterval: UInt64 = 60_000
    /// A space that has not seen the card gets it at once.
    static let cardDelay: UInt64 = 1_000
    /// What could not be published yet is tried again after this long.
    static let cardRetry: UInt64 = 30_000
    /// In spaces of more devices nobody writes a card again for a newcomer alone: it is enough that
    /// some find them.
    static let cardDeviceCountMax = 64

    /// Shows the own card to the members of every space that was heard of, soon.
    mutating func shareCard(_ turn: inout some Turn) {
        for space in peers.confirmations.spaces { shareCard(in: space, &turn) }
    }

    /// Shows the own card to the members of a space, soon; once it is heard of.
    mutating func shareCard(in space: SpaceNumber, _ turn: inout some Turn) {
        guard peers.confirmations.isConfirmed(space) else { return }
        timers.set(.card(space), in: Self.cardDelay, &turn)
    }

    /// Writes the own card into a space whose members have not all seen it as it is now.
    mutating func writeCard(in number: SpaceNumber, _ turn: inout some Turn) throws(StoreError) {
        if rejoin != nil || ownHistory.hasGap(in: number) {
            return timers.set(.card(number), in: Self.cardRetry, &turn)
        }
        guard try mayWrite(turn.store), let space = try turn.store.space(number),
            let card = try CardReader.own(of: identity, turn.store), let part = card.parts.first,
            let roster = try roster(of: space, turn.store), belongs(to: roster),
            try hasReader(roster, turn.store),
            let pause = try pause(before: card, part, in: space, roster, turn.store)
        else { return }
        let due = people.cardsShared[number].map { $0 + pause } ?? 0
        guard turn.now.monotonic >= due else {
            // A newcomer may come meanwhile.
            let wait = min(due - turn.now.monotonic, Self.cardNewcomerInterval)
            return timers.set(.card(number), in: wait, &turn)
        }
        let isFirst =
            try Overview.sharedCard(of: identity.device, in: number, store: turn.store) == nil
        _ = try write([SharedCard(card: card.encoded).draft()], in: space, &turn)
        // The first card starts no pause: a newcomer who follows right after would not see it, and
        // the member who let both in may be gone before the pause is over.
        guard !isFirst else { return }
        people.cardsShared[number] = turn.now.monotonic
    }

    /// Whether anybody else in a space is not blocked: to others the card is no longer shown,
    /// neither the address nor the right to write.
    private func hasReader(_ roster: Roster, _ store: some Store) throws(StoreError) -> Bool {
        for member in roster.members {
            if member.person == identity.person {
                if member.devices.count > 1 { return true }
            } else if try contact(member.person, store)?.isBlocked != true {
                return true
            }
        }
        return false
    }

    /// How long after the last one a card goes into a space, or nil if everybody can have seen its
    /// content there.
    private func pause(
        before card: Card, _ part: CardPart, in space: SpaceRecord, _ roster: Roster,
        _ store: some Store
    ) throws(StoreError) -> UInt64? {
        let devices = roster.members.flatMap(\.devices)
        // Two devices tell each other on their link; a third is who else could tell.
        guard devices.count > (part.mailboxes.isEmpty ? 2 : 1) else { return nil }
        guard
            let shown = try Overview.sharedCard(of: identity.device, in: space.number, store: store)
        else {
            return part.addresses.isEmpty && part.mailboxes.isEmpty ? nil : Self.cardInterval
        }
        if shown.card.card != card.encoded { return Self.cardInterval }
        guard devices.count <= Self.cardDeviceCountMax else { return nil }
        // Who came later may be given nothing that was written before.
        let isHidden = devices.contains {
            $0.horizon.place(of: identity.device, .receipts).map { shown.sequence <= $0.sequence }
                ?? false
        }
        return isHidden ? Self.cardNewcomerInterval : nil
    }

    /// Follows up the changes of a step: persons that were noted, and cards that arrived.
    mutating func heedChanges(_ turn: inout some Turn) throws(StoreError) {
        var persons: Set<PersonID> = []
        var cards: [OperationNumber] = []
        var spaces: Set<SpaceNumber> = []
        var (isJoinDue, isRelayDue) = (false, false)
        var areInvitationsDue = false
        var preferences: Set<PreferenceKey> = []
        var memberships: Set<SpaceNumber> = []
        for case .changed(let changes) in turn.effects {
            for change in changes {
                switch change {
                case .contact(let person):
                    persons.insert(person)
                    people.contactRoots = nil
                case .card(let number): cards.append(number)
                case .conversation(let number): spaces.insert(number)
                case .disappearing(let space, let number):
                    try noteDisappearing(number, in: space, &turn)
                case .membership(let number):
                    spaces.insert(number)
                    memberships.insert(number)
                    isJoinDue = true
                case .relays: isRelayDue = true
                case .refolded(let number):
                    guard number == ownSpace?.number else { break }
                    people.contactRoots = nil
                    preferences.formUnion(PreferenceKey.all)
                case .additionPolicy: areInvitationsDue = true
                case .preference(let key): preferences.insert(key)
                // Somebody may have said that they hold a file.
                case .receipts: heedReceipts(&turn)
                case .message, .mention, .files, .devices, .typing, .presence, .calls,
                    .invitation, .together, .reminder, .notSent, .clocks:
                    break
                }
            }
        }
        for number in cards {
            try learn(number, &turn)
            try takeOwnCardBack(number, &turn)
        }
        for person in persons.sorted() { try heed(person, &turn) }
        if isJoinDue { try settleJoins(&turn) }
        for number in memberships.sorted() {
            try heedInvitation(to: number, &turn)
        }
        if areInvitationsDue { try awaitInvitations(&turn) }
        if !preferences.isEmpty {
            try heed(preferences, &turn)
        }
        if !persons.isEmpty || !memberships.isEmpty || preferences.contains(.deleted) {
            try noteReturns(&turn)
        }
        for space in spaces.sorted() { shareCard(in: space, &turn) }
        if isRelayDue { try showRelays(&turn) }
        // Last: the work just done may have changed what counts.
        try heedFiles(&turn)
    }

    /// Somebody said what they have received or read.
    private mutating func heedReceipts(_ turn: inout some Turn) {
        lookAtShelves(in: Self.shelfDelay, &turn)
        hastenDisappearing(&turn)
    }

    /// Takes in what devices have shown of themselves that are in a space only now, or again: while
    /// they were not, nobody took their word.
    mutating func learnCards(
        of roster: Roster, instead former: Roster, in space: SpaceRecord, _ turn: inout some Turn
    ) throws(StoreError) {
        let fresh = roster.members.flatMap(\.devices).map(\.device).filter {
            !former.contains($0) && $0 != identity.device
        }
        guard !fresh.isEmpty else { return }
        for number in try Overview.sharedCards(of: fresh, in: space.number, store: turn.store) {
            try learn(number, &turn)
        }
    }

    /// Whether a newer part of this device's card is known to have been signed than the one that is kept.
    func isCardBehind(_ store: some Store) throws(StoreError) -> Bool {
        try CardReader.version(of: identity, store) < people.cardVersionMin
    }

    /// A card that this device wrote into a space came back from others. Where it is newer than the one
    /// that is kept, the store was set back, and others keep the newer one: the next goes above it, with a
    /// prekey that is here.
    private mutating func takeOwnCardBack(_ number: OperationNumber, _ turn: inout some Turn)
        throws(StoreError)
    {
        guard let stored = try turn.store.operation(number),
            try turn.store.log(stored.log)?.device == identity.device,
            let shared = stored.operation.payload.flatMap(SharedCard.init),
            let card = CardReader.card(shared.card, of: identity.person),
            let part = card.parts.first(where: { $0.device == identity.device })
        else { return }
        people.cardVersionMin = max(people.cardVersionMin, part.version)
        guard try isCardBehind(turn.store) else { return }
        try drawPrekey(&turn)
        shareCard(&turn)
    }

    /// Takes in a card that a member showed, if it is theirs and holds.
    private mutating func learn(_ number: OperationNumber, _ turn: inout some Turn)
        throws(StoreError)
    {
        guard let stored = try turn.store.operation(number),
            let log = try turn.store.log(stored.log),
            log.device != identity.device, let space = try turn.store.space(log.space),
            let person = try roster(of: space, turn.store)?.member(with: log.device)?.person,
            let shared = stored.operation.payload.flatMap(SharedCard.init)
        else { return }
        guard let card = CardReader.card(shared.card, of: person),
            card.parts.map(\.device) == [log.device]
        else { return try count(.card, turn.store) }
        try keep(card, &turn)
        try dialDevices(of: person, &turn)
    }
}
