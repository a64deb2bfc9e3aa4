import ParleyConversation
import ParleyLedger
import ParleySealing
import ParleyWire

/// Relays that others' cards name: how much each person's word counts, and what it may cost.
/// Source: `Protocol/06-relay.md`, "Addresses".
extension NodeCore {
    /// Relays that are called because one person alone names them: as many as a person uses.
    static let relaysNamedByOneMax = relayCountMax
    /// Relays of others that are called at a time.
    static let namedRelayCountMax = 64
    /// Relays of others that a device reads whose person uses none, and of these those of one person.
    static let readRelayCountMax = 16
    static let readRelaysNamedByOneMax = 2

    /// Sees to it that a relay on a person's card can be called, by the addresses on that card among
    /// others. Returns false where that person has had their share, or names no host that is called.
    mutating func note(
        _ mailbox: CardMailbox, namedBy person: PersonID, at now: Instant, _ store: some Store
    ) throws(StoreError) -> Bool {
        try note(mailbox.relay, at: mailbox.addresses, namedBy: person, at: now, store)
    }

    /// The same for a relay named by a person who may have no card yet.
    mutating func note(
        _ relay: NoiseKey, at named: [String], namedBy person: PersonID, at now: Instant,
        _ store: some Store
    ) throws(StoreError) -> Bool {
        if courier.lines[relay]?.places.isOwn == true { return true }
        let trust = try trust(in: person, store)
        let addresses = named.filter { RelayHost(of: $0).mayBeCalled(trust) }
        guard courier.lines[relay] == nil else {
            if !addresses.isEmpty {
                courier.lines[relay]?.places.note(addresses, namedBy: person, trust)
            }
            return true
        }
        if let own = try ownRelays(store).first(where: {
            $0.relay == relay && $0.isRead(at: now.wall)
        }) {
            courier.lines[relay] = RelayLine(at: RelayPlaces(own: own.addresses), isReading: false)
            return true
        }
        guard !addresses.isEmpty,
            courier.lines.values.count(where: { $0.places.isNamed(onlyBy: person) })
                < Self.relaysNamedByOneMax, makeRoomForRelay(trust)
        else { return false }
        courier.lines[relay] = RelayLine(
            at: RelayPlaces(addresses, namedBy: person, trust), isReading: false)
        return true
    }

    /// Whether one more relay of others may be called. If a contact names it, one that only members
    /// name and nobody needs now is dropped.
    private mutating func makeRoomForRelay(_ trust: RelayPlaces.Trust) -> Bool {
        guard courier.lines.values.count(where: { !$0.places.isOwn }) >= Self.namedRelayCountMax
        else {
            return true
        }
        guard trust < .member,
            let idle = courier.lines.keys.sorted().first(where: {
                courier.lines[$0]?.isOfNoUse == true
            })
        else { return false }
        courier.lines[idle] = nil
        return true
    }

    func trust(
        in person: PersonID, _ store: some Store
    ) throws(StoreError) -> RelayPlaces.Trust {
        // A person whose invite was accepted, or who was asked, is trusted like a contact: the
        // person wants to meet them.
        if try isSought(person, store) { return .contact }
        return try isAccepted(person, store) ? .contact : .member
    }

    /// The relays that this device reads because its person uses none: those of contacts before those
    /// of members, the first of each person before the second.
    mutating func relaysOfOthers(
        at now: Instant, _ store: some Store
    ) throws(StoreError) -> [NoiseKey] {
        var named: [(trust: RelayPlaces.Trust, round: Int, person: PersonID, CardMailbox)] = []
        for (key, card) in try store.values(.card) {
            guard let person = PersonID(key), try mayLink(person, store) else { continue }
            let trust = try trust(in: person, store)
            var relays: [NoiseKey] = []
            let devices = CardReader.mailboxes(in: card).sorted { $0.key < $1.key }
            for (device, mailboxes) in devices where device != identity.device {
                for mailbox in mailboxes {
                    let round = relays.firstIndex(of: mailbox.relay) ?? relays.count
                    guard round < Self.readRelaysNamedByOneMax else { continue }
                    if round == relays.count { relays.append(mailbox.relay) }
                    named.append((trust, round, person, mailbox))
                }
            }
        }
        named.sort { ($0.trust, $0.round, $0.person) < ($1.trust, $1.round, $1.person) }
        var wanted: [NoiseKey] = []
        for (_, _, person, mailbox) in named {
            guard try note(mailbox, namedBy: person, at: now, store) else { continue }
            if !wanted.contains(mailbox.relay), wanted.count < Self.readRelayCountMax {
                wanted.append(mailbox.relay)
            }
        }
        return wanted
    }
}

extension RelayLine {
    /// Whether members alone name it, and nothing is read there, waits for it or is on its way.
    fileprivate var isOfNoUse: Bool {
        phase == .idle && !isInUse && letters.isEmpty && places.isNamedByMembersOnly
    }
}

extension RelayChoice {
    /// Whether the relay is read at this time, in Unix milliseconds.
    func isRead(at time: UInt64) -> Bool { until.map { time < $0 } ?? true }
}
