import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleySealing
import ParleyWire

// How members who are no contacts find each other: `Protocol/05-identity.md`, "Cards".
extension NodeCore {
    /// A card goes into spaces at most so often, in milliseconds: a laptop that moves about all day
    /// must not fill them.
    static let cardInterval: UInt64 = 600_000
    /// What changes about a card at a start is told at once.
    static let cardDelay: UInt64 = 1_000

    /// Shows the own card to the members of spaces, soon.
    mutating func shareCard(at now: Instant, _ effects: inout [Effect]) {
        let due = cardsShared.map { $0 + Self.cardInterval } ?? 0
        let delay = due > now.monotonic ? due - now.monotonic : Self.cardDelay
        set(.cards, in: max(delay, Self.cardDelay), at: now, &effects)
    }

    /// Writes the own card into each space that has not seen it as it is now.
    mutating func writeCards(
        at now: Instant, _ store: some Store, _ random: inout some RandomNumberGenerator,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        guard try mayWrite(store), let card = try CardReader.own(of: identity, store),
            let part = card.parts.first
        else { return }
        for space in try store.spaces() where heard.contains(space.number) {
            // Two devices tell each other on their link; a third is who else could tell.
            guard let roster = try roster(of: space, store), roster.contains(identity.device),
                roster.members.reduce(0, { $0 + $1.devices.count }) > 2
            else { continue }
            let shown = try Overview.sharedCard(
                of: identity.device, in: space.number, store: store)
            if shown?.card == card.encoded || (shown == nil && part.addresses.isEmpty) { continue }
            _ = try write(
                [SharedCard(card: card.encoded).draft()], in: space, at: now, store, &random,
                &effects)
            cardsShared = now.monotonic
        }
    }

    /// Follows what a step changed: who was noted, and which cards came.
    mutating func heedChanges(
        at now: Instant, _ store: some Store, _ random: inout some RandomNumberGenerator,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        var persons: Set<PersonID> = []
        var cards: [OperationNumber] = []
        var hasSpace = false
        var isJoinDue = false
        for case .changed(let changes) in effects {
            for change in changes {
                switch change {
                case .contact(let person): persons.insert(person)
                case .card(let number): cards.append(number)
                case .conversation: hasSpace = true
                case .membership:
                    hasSpace = true
                    isJoinDue = true
                case .message, .receipts, .devices, .refolded: break
                }
            }
        }
        for number in cards { try learn(number, at: now, store, &effects) }
        for person in persons.sorted() { try heed(person, at: now, store, &random, &effects) }
        if isJoinDue { try settleJoins(store, &effects) }
        if hasSpace { shareCard(at: now, &effects) }
    }

    /// Takes in a card that a member showed, if it is theirs and holds.
    private mutating func learn(
        _ number: OperationNumber, at now: Instant, _ store: some Store,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        guard let stored = try store.operation(number), let log = try store.log(stored.log),
            log.device != identity.device, let space = try store.space(log.space),
            let person = try roster(of: space, store)?.member(with: log.device)?.person,
            let shared = stored.operation.payload.flatMap(SharedCard.init)
        else { return }
        guard let card = CardReader.card(shared.card, of: person),
            card.parts.map(\.device) == [log.device]
        else { return try count(.card, store) }
        try keep(card, at: now, store, &effects)
        try dialDevices(of: person, at: now, store, &effects)
    }
}
