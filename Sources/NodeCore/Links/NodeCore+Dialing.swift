import ParleyConversation
import ParleyLedger
import ParleySealing
import ParleyWire

/// Devices of people one knows or wants to meet are dialled until they are linked.
extension NodeCore {
    /// Members who are no contacts are dialled while there are fewer links than this: otherwise
    /// everybody in a group of a thousand would have a thousand links.
    static let memberLinkCountMax = 16

    /// Begins to look for everyone known.
    mutating func dialEveryone(_ turn: inout some Turn) throws(StoreError) {
        let cards = try turn.store.values(.card)
        if cards.contains(where: { !CardReader.mailboxes(in: $0.value).isEmpty }) {
            courier.relayUpkeep.note(.findRelays)
        }
        let invited = try PendingInvite.all(turn.store).map(\.invite.person)
        if !invited.isEmpty { courier.relayUpkeep.note(.findRelays) }
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
            let isIdle =
                peers.dialer.person(of: target.device) == nil
                || !peers.dialer.isUnderway(target.device)
                    && !timers.isPending(.dial(target.device))
            // How it went before is not forgotten while there is a link.
            guard isIdle, !isLinked(target.device) else { continue }
            guard try mayDial(person, turn.store) else { return }
            peers.dialer.restart(target.device, of: person)
            try dial(target.device, &turn)
        }
    }

    /// Dials a person's devices at once, however long it was in vain before: one wants to meet them.
    mutating func seek(_ person: PersonID, _ turn: inout some Turn) throws(StoreError) {
        for target in try targets(of: person, turn.store)
        where !peers.dialer.isUnderway(target.device) {
            peers.dialer.restart(target.device, of: person)
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
                peers.dialer.move(part.device, at: turn.now.monotonic)
            else { continue }
            try dial(part.device, &turn)
        }
    }

    /// Whether one more device of a person may be dialled: always if they are a contact or needed;
    /// any other member only while there are few links.
    private func mayDial(_ person: PersonID, _ store: some Store) throws(StoreError) -> Bool {
        if peers.links.count + peers.dialer.underwayCount < Self.memberLinkCountMax { return true }
        if try isAccepted(person, store) { return true }
        return try isSought(person, store)
    }

    mutating func dial(_ device: DeviceID, _ turn: inout some Turn) throws(StoreError) {
        guard !peers.links.values.contains(where: { $0.peer.device == device && !$0.peer.isPiped }),
            let person = peers.dialer.person(of: device), !peers.dialer.isUnderway(device),
            var target = try targets(of: person, turn.store).first(where: {
                $0.device == device
            })
        else { return }
        if let address = peers.neighbours.address(of: device, at: turn.now.monotonic) {
            target.addresses = [address] + target.addresses.filter { $0 != address }
        }
        peers.neighbours.noteTry(of: device)
        // There is a link through a relay: only a direct one is sought.
        if isLinked(device) {
            guard !target.addresses.isEmpty else { return }
            target.mailboxes = []
        }
        guard try mayDial(person, turn.store) else { return peers.dialer.drop(device) }
        peers.dialer.note(.begun, of: device)
        turn.emit(.dial(target))
    }

    func isLinked(_ device: DeviceID) -> Bool {
        peers.links.values.contains { $0.peer.device == device }
    }

    /// Tries everyone again at once.
    mutating func dialAgain(_ turn: inout some Turn) throws(StoreError) {
        for device in peers.dialer.devices {
            guard let person = peers.dialer.person(of: device), !peers.dialer.isUnderway(device)
            else {
                continue
            }
            peers.dialer.restart(device, of: person)
            try dial(device, &turn)
        }
        try dialEveryone(&turn)
    }

    mutating func dialFailed(_ device: DeviceID, _ turn: inout some Turn) {
        peers.dialer.note(.failed, of: device)
        // Where it was seen elsewhere meanwhile, that counts for nothing.
        if peers.neighbours.isUntried(device), let person = peers.dialer.person(of: device) {
            peers.dialer.restart(device, of: person)
        }
        scheduleDial(device, &turn)
    }

    mutating func scheduleDial(_ device: DeviceID, _ turn: inout some Turn) {
        peers.dialer.note(.lost, of: device)
        guard let delay = peers.dialer.delay(before: device, using: &turn.random) else { return }
        timers.set(.dial(device), in: delay, &turn)
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
        var targets = CardReader.targets(of: card, orAmong: peers.neighbours)
            .filter { $0.device != identity.device }
            .map { withRelays(of: $0, namedBy: trust) }
        let invite = try pendingInvite(of: person, store)
        if let invite, try !mayLink(person, store),
            try contact(person, store)?.state != .requested,
            try pendingJoin(through: person, store) == nil
        {
            // Their other devices do not know the invite, and would take this one for a stranger.
            targets.removeAll { !invite.mayBeKnown(to: $0.device) }
        }
        if let invited = invite?.invite.target {
            if let index = targets.firstIndex(where: { $0.device == invited.device }) {
                // A contact may be elsewhere than their card says: that is why they gave an invite.
                let known = targets[index].addresses
                targets[index].addresses =
                    invited.addresses + known.filter { !invited.addresses.contains($0) }
            } else if !invited.addresses.isEmpty || peers.neighbours.wasSeen(invited.device) {
                targets.append(invited)
            }
        }
        return targets.sorted { $0.device < $1.device }
    }

    /// A device with the addresses of its relays at which this node would call them.
    private func withRelays(
        of target: DialTarget, namedBy trust: RelayPlaces.Trust
    ) -> DialTarget {
        var target = target
        target.mailboxes = target.mailboxes.map { mailbox in
            let own = courier.lines[mailbox.relay]?.places
            let addresses =
                own?.isOwn == true
                ? own?.addresses ?? []
                : mailbox.addresses.filter { RelayHost(of: $0).mayBeCalled(trust) }
            return mailbox.called(at: addresses)
        }
        return target
    }
}
