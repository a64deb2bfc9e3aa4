import ParleyConversation
public import ParleyLedger
import ParleyRoster
public import ParleySignalling
public import ParleyWire

// Who is there, and whom that is told: `Protocol/11-calls.md`, "Presence".
extension NodeCore {
    private static func privacyKey(_ person: PersonID?) -> [UInt8] {
        Array("presence".utf8) + (person?.bytes ?? [])
    }

    /// What a person is let know of when this one is there, as it was set for them; nil where
    /// nothing was.
    ///
    /// - Parameter person: nil for everybody of whom nothing else was said.
    public static func privacy(
        for person: PersonID?, in store: some NodeStore
    ) throws(StoreError) -> PresenceBook.Privacy? {
        let kept = try store.value(.profile, privacyKey(person))
        return kept?.first.flatMap { PresenceBook.Privacy(rawValue: $0) }
    }

    mutating func set(
        _ privacy: PresenceBook.Privacy, for person: PersonID?, at now: Instant,
        _ store: some Store, _ random: inout some RandomNumberGenerator,
        _ effects: inout [Effect]
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        if let person, try contact(person, store) == nil { return .failure(.unknownPerson) }
        try store.setValue([privacy.rawValue], .profile, Self.privacyKey(person))
        effects.append(.commitFully)
        for id in links.keys.sorted() {
            try tellPresence(on: id, isChange: true, at: now, store, &random, &effects)
        }
        return .success(.done)
    }

    /// The person is at this device, or is not.
    mutating func show(
        _ presence: Presence, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) {
        guard presence != desk.presence else { return }
        if desk.presence == .online || presence == .online { desk.lastOnline = now.wall }
        desk.presence = presence
        try tellPresence(at: now, store, &random, &effects)
        effects.append(.changed([.presence(identity.person)]))
    }

    /// Tells everybody who is linked, and again before they forget.
    mutating func tellPresence(
        at now: Instant, _ store: some Store, _ random: inout some RandomNumberGenerator,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        let again = now.monotonic + PresenceBook.lifetime / 2
        desk.presenceAgain = desk.presence == .offline ? nil : again
        for id in links.keys.sorted() {
            try tellPresence(on: id, isChange: true, at: now, store, &random, &effects)
        }
    }

    /// Tells the device at the end of a link.
    ///
    /// - Parameter isChange: whether the device may have been told something else before; where it
    ///   was not, that somebody is not there needs no word.
    mutating func tellPresence(
        on id: LinkID, isChange: Bool = false, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) {
        guard isChange || desk.presence != .offline, let link = links[id], link.session != nil,
            let privacy = try privacy(towards: link.peer.person, store),
            let space = try meetingPlace(with: link.peer, store)
        else { return }
        let lastSeen = desk.presence == .online ? now.wall : desk.lastOnline
        let word = PresenceBook.word(desk.presence, lastSeen: lastSeen, for: privacy)
        // Whoever is told nothing any more must not go on believing what was told before.
        guard isChange || word != nil else { return }
        try say(
            word ?? .presence(.offline, lastSeen: 0), in: space, to: .device(link.peer.device),
            at: now, store, &random, &effects)
    }

    /// What somebody is let know; nil for who is no contact.
    private func privacy(
        towards person: PersonID, _ store: some Store
    ) throws(StoreError) -> PresenceBook.Privacy? {
        if person == identity.person { return .everything }
        guard try isAccepted(person, store) else { return nil }
        if let privacy = try Self.privacy(for: person, in: store) { return privacy }
        return try Self.privacy(for: nil, in: store) ?? .everything
    }

    /// A space that both devices are in: presence is of no space, and has to be said in one.
    private mutating func meetingPlace(
        with peer: LinkPeer, _ store: some Store
    ) throws(StoreError) -> SpaceRecord? {
        for space in try store.spaces() {
            try prepare(space, store)
            guard let roster = judges[space.number]?.roster, belongs(to: roster),
                roster.member(with: peer.device)?.person == peer.person
            else { continue }
            return space
        }
        return nil
    }

    /// No link leads to a device any more: nobody is there as far as can be known.
    mutating func lostPresence(of peer: LinkPeer, _ effects: inout [Effect]) {
        guard !links.values.contains(where: { $0.peer.device == peer.device }) else { return }
        if desk.presences.lost(Participant(person: peer.person, device: peer.device)) {
            effects.append(.changed([.presence(peer.person)]))
        }
    }
}
