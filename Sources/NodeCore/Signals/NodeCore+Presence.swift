import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleySealing
import ParleySignalling
import ParleyWire

// Who is there, and who is told: `Protocol/11-calls.md`, "Presence".
extension NodeCore {
    /// The setting of what others may see changed.
    mutating func tellPresenceAnew(_ turn: inout some Turn) throws(StoreError) {
        try tellLinked(&turn)
        // A contact who was told more than they may know now must not go on believing it.
        tellLater(desk.told.keys.sorted())
        try tellReaders(of: nil, turn.store)
    }

    /// The person is at this device, or is not.
    mutating func show(_ presence: Presence, _ turn: inout some Turn) throws(StoreError) {
        guard presence != desk.presence else { return }
        if desk.presence == .online || presence == .online { desk.lastOnline = turn.now.wall }
        desk.presence = presence
        // The first are told in this very step: there may be no other one.
        desk.toldNext = turn.now.monotonic
        try tellPresence(&turn)
        try tellReaders(of: nil, turn.store)
        turn.emit(.changed([.presence(identity.person)]))
    }

    /// Tells everybody who is linked or there, and again before they forget.
    mutating func tellPresence(_ turn: inout some Turn) throws(StoreError) {
        let again = turn.now.monotonic + PresenceBook.lifetime / 2
        desk.presenceAgain = desk.presence == .offline ? nil : again
        try tellLinked(&turn)
        tellLater(desk.presences.devices)
    }

    private mutating func tellLinked(_ turn: inout some Turn) throws(StoreError) {
        for id in peers.links.keys.sorted() {
            try tellPresence(on: id, &turn)
        }
    }

    /// Tells the device at the end of a link.
    mutating func tellPresence(on id: LinkID, _ turn: inout some Turn) throws(StoreError) {
        guard let link = peers.links[id], link.session != nil else { return }
        try tellPresence(to: Participant(person: link.peer.person, device: link.peer.device), &turn)
    }

    /// Tells a device, over its link or else through its relays.
    mutating func tellPresence(to device: Participant, _ turn: inout some Turn) throws(StoreError) {
        let nothing = SignalBody.presence(.offline, lastSeen: 0)
        let lastSeen = desk.presence == .online ? turn.now.wall : desk.lastOnline
        let word = try privacy(towards: device.person, turn.store).flatMap {
            PresenceBook.word(desk.presence, lastSeen: lastSeen, for: $0)
        }
        // That somebody is not there is news to those alone who were told something else: others
        // would learn from it when that person comes and goes.
        let told = desk.told[device]
        if case .presence(.offline, _) = word ?? nothing, told == nil || told == word { return }
        guard let space = try meetingPlace(with: device, turn.store) else { return }
        desk.told[device] = word == nothing ? nil : word
        try say(word ?? nothing, in: space, to: .device(device.device), &turn)
    }

    /// What a person may see; nil if they are no contact.
    private func privacy(
        towards person: PersonID, _ store: some Store
    ) throws(StoreError) -> PresenceBook.Privacy? {
        if person == identity.person { return .everything }
        guard let ownSpace, try isAccepted(person, store) else { return nil }
        for subject in [person, nil] {
            let said = try Self.privacy(for: subject, ownSpace: ownSpace.number, in: store)
            if let said { return said }
        }
        return try Self.privacyUnsaid(for: person, in: store)
    }

    /// A space that both devices are in: presence is of no space, and has to be said in one.
    private mutating func meetingPlace(
        with peer: Participant, _ store: some Store
    ) throws(StoreError) -> SpaceRecord? {
        for space in try spaces(naming: peer.person, store) {
            try prepare(space, store)
            guard let roster = rosters.judges[space.number]?.roster, belongs(to: roster),
                roster.member(with: peer.device)?.person == peer.person
            else { continue }
            return space
        }
        return nil
    }

    /// No link leads to a device any more: nobody is there, unless they say so through a relay, as
    /// this device does.
    mutating func lostPresence(of peer: LinkPeer, _ turn: inout some Turn) throws(StoreError) {
        guard !isLinked(peer.device) else { return }
        let device = Participant(person: peer.person, device: peer.device)
        if desk.presences.lost(device) { turn.emit(.changed([.presence(peer.person)])) }
        let part = try CardReader.parts(of: peer.person, turn.store).first {
            $0.device == peer.device
        }
        if isReader(part?.mailboxes ?? [], of: nil) { tellLater([device]) }
    }
}

// MARK: - Through relays

/// Devices that are not linked are told through relays that they read: first those that are there,
/// which answer when they hear of somebody, and then those whose relay is connected in any case. So
/// a device that comes online is told who is here, and absent devices are not told again and again.
extension NodeCore {
    /// How many devices are told at a time: not more than relays accept during calls.
    static let presenceCountMax = 16
    /// How long the next ones wait, in milliseconds.
    static let presencePause: UInt64 = 1_000

    /// A person reported their presence, and is told this person's if they were not there before.
    mutating func answerPresence(_ presence: Presence, of device: Participant) {
        guard presence != .offline, !desk.presences.isThere(device), !isLinked(device.device)
        else { return }
        tellLater([device])
    }

    /// Has those told, in their turn, who read at a relay that is connected.
    ///
    /// - Parameter relay: nil for any.
    mutating func tellReaders(of relay: NoiseKey?, _ store: some Store) throws(StoreError) {
        guard !courier.lines.isEmpty, desk.presence != .offline || !desk.told.isEmpty else {
            return
        }
        var readers: [Participant] = []
        // A relay can connect as often as it likes, and of those who are no contacts there are more.
        guard let ownSpace else { return }
        let contacts = try Overview.contacts(ownSpace: ownSpace.number, in: store)
        for person in [identity.person] + contacts.filter(\.isAccepted).map(\.person) {
            guard let card = try store.value(.card, person.bytes) else { continue }
            for (device, mailboxes) in CardReader.mailboxes(in: card)
            where device != identity.device && isReader(mailboxes, of: relay) {
                readers.append(Participant(person: person, device: device))
            }
        }
        tellLater(readers.sorted())
    }

    private func isReader(_ mailboxes: [CardMailbox], of relay: NoiseKey?) -> Bool {
        mailboxes.contains {
            (relay == nil || $0.relay == relay) && courier.lines[$0.relay]?.phase == .open
        }
    }

    /// Devices beyond this many are not told: presence is said again before others forget it.
    private static let untoldCountMax = 4_096

    private mutating func tellLater(_ devices: [Participant]) {
        let known = Set(desk.untold)
        let new = devices.filter { !known.contains($0) && !isLinked($0.device) }
        desk.untold.append(contentsOf: new.prefix(Self.untoldCountMax - desk.untold.count))
    }

    /// Tells the next of the devices that are to be told.
    mutating func tellNext(_ turn: inout some Turn) throws(StoreError) {
        guard !desk.untold.isEmpty, desk.toldNext <= turn.now.monotonic else { return }
        desk.toldNext = turn.now.monotonic + Self.presencePause
        let next = Array(desk.untold.prefix(Self.presenceCountMax))
        desk.untold.dropOldest(next.count)
        for device in next where !isLinked(device.device) {
            try tellPresence(to: device, &turn)
        }
    }
}
