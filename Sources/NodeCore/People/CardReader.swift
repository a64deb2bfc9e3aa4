public import ParleySealing
public import ParleyLedger
public import ParleyWire

/// What the node needs of people's cards.
public enum CardReader {
    /// The card in these bytes, if it is this person's and every part of it is valid.
    static func card(_ bytes: [UInt8], of person: PersonID) -> Card? {
        guard let card = card(bytes), card.person == person,
            // Why a card does not hold is not told: who brought it is turned away, and counted.
            let identity = try? IdentityLog(operations: card.identity),
            identity.person == person
        else { return nil }
        // As above.
        return try? card.verified(by: identity)
    }

    /// The card in these bytes and the root of its person's identity, if every part is valid.
    static func verified(_ bytes: [UInt8]) -> (card: Card, root: Digest)? {
        guard let person = card(bytes)?.person, let card = card(bytes, of: person),
            // It was read a moment ago.
            let identity = try? IdentityLog(operations: card.identity)
        else { return nil }
        return (card, Digest(reinterpreting: identity.root))
    }

    /// The owner of this card, if every part is valid.
    public static func person(of bytes: [UInt8]) -> PersonID? { verified(bytes)?.card.person }

    /// The own card with the part of this device alone, or nil before there is one.
    public static func own(
        of identity: NodeIdentity, _ store: some NodeStore
    ) throws(StoreError) -> Card? {
        guard var card = try kept(of: identity.person, store) else { return nil }
        card.parts = card.parts.filter { $0.device == identity.device }
        return card.parts.isEmpty ? nil : card
    }

    /// The version of the own card's part of this device; zero before there is one.
    public static func version(
        of identity: NodeIdentity, _ store: some NodeStore
    ) throws(StoreError) -> CardVersion {
        try own(of: identity, store)?.parts.first?.version ?? .zero
    }

    /// The card in these bytes, whether or not it holds.
    private static func card(_ bytes: [UInt8]) -> Card? {
        // Bytes that are no card are nobody's card; why they are none helps no caller.
        try? Card(bytes: bytes)
    }

    /// The card in these bytes, of which nothing is proven.
    static func claimed(_ bytes: [UInt8]) -> Card? { card(bytes) }

    /// A person's identity log as stored with their card, or nil if there is none. It was verified
    /// before it was stored.
    static func identity(
        of person: PersonID, _ store: some NodeStore
    ) throws(StoreError) -> IdentityLog? {
        // It was checked when it was kept.
        try kept(of: person, store).flatMap { try? IdentityLog(kept: $0.identity) }
    }

    /// The identity operations of everybody whose card is kept, each of which was proven before.
    public static func provenOperations(
        _ store: some NodeStore
    ) throws(StoreError) -> [[UInt8]] {
        try store.values(.card).flatMap { card($0.value)?.identity ?? [] }
    }

    /// The stored card of a person; it was verified before.
    static func kept(of person: PersonID, _ store: some NodeStore) throws(StoreError) -> Card? {
        try store.value(.card, person.bytes).flatMap { card($0) }
    }

    /// The name that a person uses, or nothing if no card is known.
    public static func name(
        of person: PersonID, _ store: some NodeStore
    ) throws(StoreError) -> String {
        let card = try kept(of: person, store)
        if let name = card?.name, !name.isEmpty { return name }
        return try store.value(.profile, lastName(of: person)).map {
            String(decoding: $0, as: UTF8.self)
        } ?? ""
    }

    /// The name that a node's person uses, as others know it: what a device says that its person has revoked
    /// reaches nobody any more.
    public static func name(
        of identity: NodeIdentity, _ store: some NodeStore
    ) throws(StoreError) -> String {
        if identity.isRevoked, var card = try kept(of: identity.person, store) {
            card.parts.removeAll { identity.log.certificate(of: $0.device) == nil }
            if !card.name.isEmpty { return card.name }
        }
        return try name(of: identity.person, store)
    }

    /// Keeps the name of a person whose card changes: where none of the devices that said it is theirs
    /// any more, they are still called so, until another one says something.
    static func keepName(
        from before: Card, to after: Card, _ store: some NodeStore
    ) throws(StoreError) {
        guard after.parts.isEmpty, !before.name.isEmpty else { return }
        try store.setValue(Array(before.name.utf8), .profile, lastName(of: before.person))
    }

    private static func lastName(of person: PersonID) -> [UInt8] {
        Array("last name".utf8) + person.bytes
    }

    /// Where a person's devices were last known to be.
    public static func addresses(
        of person: PersonID, _ store: some NodeStore
    ) throws(StoreError) -> [String] {
        try kept(of: person, store)?.parts.flatMap(\.addresses) ?? []
    }

    /// What each of a person's devices says about itself, ascending by device.
    public static func parts(
        of person: PersonID, _ store: some NodeStore
    ) throws(StoreError) -> [CardPart] {
        try kept(of: person, store)?.parts ?? []
    }

    /// Where the devices of a card are.
    public static func targets(of card: Card) -> [DialTarget] {
        card.parts.map {
            DialTarget(
                device: $0.device, noiseKey: $0.noiseKey, addresses: $0.addresses,
                mailboxes: $0.mailboxes)
        }
    }

    /// Devices of a card that have an address, can be called through a relay, or are near.
    static func targets(
        of bytes: [UInt8], orAmong neighbours: Neighbours
    ) -> [DialTarget] {
        guard let card = card(bytes) else { return [] }
        return targets(of: card).filter {
            !$0.addresses.isEmpty || !$0.mailboxes.isEmpty || neighbours.wasSeen($0.device)
        }
    }

    /// The mailboxes that the card in these bytes names, by device.
    static func mailboxes(in bytes: [UInt8]) -> [DeviceID: [CardMailbox]] {
        var found: [DeviceID: [CardMailbox]] = [:]
        for part in card(bytes)?.parts ?? [] where !part.mailboxes.isEmpty {
            found[part.device] = part.mailboxes
        }
        return found
    }
}

extension CardReader {
    /// Whether these bytes are a person's card of which every part holds.
    public static func holds(_ bytes: [UInt8], of person: PersonID) -> Bool {
        card(bytes, of: person) != nil
    }
}

extension CardReader {
    /// The name that a person uses in the card in these bytes, or nothing.
    public static func name(in bytes: [UInt8]) -> String { card(bytes)?.name ?? "" }
}
