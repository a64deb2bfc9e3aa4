import ParleyConversation
import ParleyLedger
import ParleySealing
import ParleyWire

/// How it goes with reaching one device.
struct Dialing: Sendable {
    /// Whose device it is: where it can be reached stands on their card.
    let person: PersonID
    private(set) var failureCount: UInt64 = 0
    /// What it was when the link began that is there now.
    private var failureCountBefore: UInt64 = 0
    private(set) var isUnderway = false
    /// When it was last begun anew because the device said it is elsewhere, on the monotonic clock.
    private var movedAt: UInt64?

    init(_ person: PersonID) { self.person = person }

    mutating func begins() { isUnderway = true }

    mutating func fails() {
        isUnderway = false
        failureCount += 1
    }

    /// A link came about. One that ends before the peer has greeted counts as a failure, or a
    /// stranger would be dialled every second for ever.
    mutating func isLinked() {
        isUnderway = false
        failureCount += 1
    }

    /// The peer takes this node in.
    mutating func isWelcome() {
        failureCountBefore = failureCount
        failureCount = 0
    }

    /// The link lasts.
    mutating func isSettled() { failureCountBefore = 0 }

    /// The link ended because there was nothing to say: it would else be dialled every other second
    /// for ever.
    mutating func isTurnedAway() { failureCount = max(failureCount, failureCountBefore) }

    /// The device says it is elsewhere. Returns whether that is believed: else whoever says so all the
    /// time could have any address dialled all the time.
    mutating func moves(at time: UInt64) -> Bool {
        if let movedAt, time < movedAt + Self.moveInterval { return false }
        movedAt = time
        failureCount = 0
        return true
    }

    /// A device moves at most so often, in milliseconds.
    static let moveInterval: UInt64 = 60_000

    mutating func wasLost() { isUnderway = false }

    /// 1 s, 2 s, 4 s … 5 min, and up to a quarter more, so that two nodes do not keep step.
    func delay(using random: inout some RandomNumberGenerator) -> UInt64 {
        let base = min(300_000, UInt64(1_000) << min(failureCount, 9))
        return base + random.next() % (base / 4)
    }
}

extension NodeCore {
    /// Members who are no contacts are dialled while there are fewer links than this: in a group of
    /// a thousand, everybody would else have a thousand.
    static let memberLinkCountMax = 16

    /// Begins to look for everyone known.
    mutating func dialEveryone(_ turn: inout some Turn) throws(StoreError) {
        let cards = try turn.store.values(.card)
        if cards.contains(where: { !CardReader.mailboxes(in: $0.value).isEmpty }) {
            areRelaysStale = true
        }
        let invited = try PendingInvite.all(turn.store).map(\.invite.person)
        if !invited.isEmpty { areRelaysStale = true }
        let known = Set(cards.compactMap { PersonID($0.key) } + invited).sorted()
        // From oneself on and around: of many who know no more than each other, everybody begins
        // with others.
        let own = known.firstIndex { $0 > identity.person } ?? 0
        for person in known[own...] + known[..<own] {
            try dialDevices(of: person, &turn)
        }
    }

    /// Begins to look for the devices of one person, those that it is not looking for yet.
    mutating func dialDevices(of person: PersonID, _ turn: inout some Turn) throws(StoreError) {
        for target in try targets(of: person, turn.store) {
            // One that was not wanted for a while waits for nothing.
            let isIdle = dialing[target.device].map {
                !$0.isUnderway && !timers.isPending(.dial(target.device))
            }
            // How it went before is not forgotten while there is a link.
            guard isIdle ?? true, !isLinked(target.device) else { continue }
            guard try mayDial(person, turn.store) else { return }
            dialing[target.device] = Dialing(person)
            try dial(target.device, &turn)
        }
    }

    /// Dials a person's devices at once, however long it was in vain before: one wants to meet them.
    mutating func seek(_ person: PersonID, _ turn: inout some Turn) throws(StoreError) {
        for target in try targets(of: person, turn.store)
        where dialing[target.device]?.isUnderway != true {
            dialing[target.device] = Dialing(person)
            try dial(target.device, &turn)
        }
    }

    /// Dials those devices at once that are elsewhere than they were, by a card that came: how often
    /// one was not found where it was says nothing any more.
    mutating func follow(from before: Card, to after: Card, _ turn: inout some Turn)
        throws(StoreError)
    {
        for part in after.parts where !part.addresses.isEmpty {
            let former = before.parts.first { $0.device == part.device }
            guard former?.addresses != part.addresses,
                dialing[part.device]?.moves(at: turn.now.monotonic) == true
            else { continue }
            try dial(part.device, &turn)
        }
    }

    /// Whether one more device of a person may be dialled: always where they are a contact or asked
    /// for; a member who is neither only while links are few.
    private func mayDial(_ person: PersonID, _ store: some Store) throws(StoreError) -> Bool {
        let underway = dialing.values.count { $0.isUnderway }
        if links.count + underway < Self.memberLinkCountMax { return true }
        if try isAccepted(person, store) { return true }
        return try isSought(person, store)
    }

    mutating func dial(_ device: DeviceID, _ turn: inout some Turn) throws(StoreError) {
        guard !links.values.contains(where: { $0.peer.device == device && !$0.peer.isPiped }),
            let state = dialing[device], !state.isUnderway,
            var target = try targets(of: state.person, turn.store).first(where: {
                $0.device == device
            })
        else { return }
        if let address = nearbyAddress(of: device, at: turn.now) {
            target.addresses = [address] + target.addresses.filter { $0 != address }
        }
        nearby[device]?.isUntried = false
        // A link through a relay is there: only a better one is looked for.
        if isLinked(device) {
            guard !target.addresses.isEmpty else { return }
            target.mailboxes = []
        }
        guard try mayDial(state.person, turn.store) else {
            dialing[device] = nil
            return
        }
        dialing[device]?.begins()
        turn.emit(.dial(target))
    }

    func isLinked(_ device: DeviceID) -> Bool {
        links.values.contains { $0.peer.device == device }
    }

    /// Tries everyone again at once.
    mutating func dialAgain(_ turn: inout some Turn) throws(StoreError) {
        for device in dialing.keys.sorted() {
            guard let state = dialing[device], !state.isUnderway else { continue }
            dialing[device] = Dialing(state.person)
            try dial(device, &turn)
        }
        try dialEveryone(&turn)
    }

    mutating func dialFailed(_ device: DeviceID, _ turn: inout some Turn) {
        dialing[device]?.fails()
        forgiveIfSeen(device)
        scheduleDial(device, &turn)
    }

    mutating func scheduleDial(_ device: DeviceID, _ turn: inout some Turn) {
        guard var state = dialing[device] else { return }
        state.wasLost()
        dialing[device] = state
        timers.set(.dial(device), in: state.delay(using: &turn.random), &turn)
    }

    /// Whether one waits for a word of this person.
    func isSought(_ person: PersonID, _ store: some Store) throws(StoreError) -> Bool {
        if try pendingInvite(of: person, store) != nil { return true }
        if try pendingJoin(through: person, store) != nil { return true }
        return try contact(person, store)?.state == .requested
    }

    private func isWanted(_ person: PersonID, _ store: some Store) throws(StoreError) -> Bool {
        if try isSought(person, store) { return true }
        return try mayLink(person, store)
    }

    /// Devices of somebody one knows or wants to meet, that have an address; ascending.
    private func targets(
        of person: PersonID, _ store: some Store
    ) throws(StoreError) -> [DialTarget] {
        guard !identity.isRevoked, try isWanted(person, store) else { return [] }
        let trust = try trust(in: person, store)
        let card = try store.value(.card, person.bytes) ?? []
        var targets = CardReader.targets(of: card, orAmong: nearby)
            .filter { $0.device != identity.device }
            .map { withRelays(of: $0, namedBy: trust) }
        if let invited = try pendingInvite(of: person, store)?.invite.target,
            !targets.contains(where: { $0.device == invited.device }),
            !invited.addresses.isEmpty || nearby[invited.device] != nil
        {
            targets.append(invited)
        }
        return targets.sorted { $0.device < $1.device }
    }

    /// A device with the addresses of its relays at which this node would call them.
    private func withRelays(
        of target: DialTarget, namedBy trust: RelayPlaces.Trust
    ) -> DialTarget {
        var target = target
        target.mailboxes = target.mailboxes.map { mailbox in
            let own = lines[mailbox.relay]?.places
            let addresses =
                own?.isOwn == true
                ? own?.addresses ?? []
                : mailbox.addresses.filter { RelayHost(of: $0).mayBeCalled(trust) }
            return mailbox.called(at: addresses)
        }
        return target
    }
}
