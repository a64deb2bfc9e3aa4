public import ParleyLedger
import ParleySealing
public import ParleyWire

/// An invite that this node gave out.
public struct OpenInvite: Equatable, Sendable {
    /// What the link holds and nobody else knows.
    public let secret: [UInt8]
    /// When it was opened, in Unix milliseconds.
    public let opened: UInt64
    /// When it ends, in Unix milliseconds.
    public let expires: UInt64
    /// How many persons may take it.
    public let useCountMax: Int
    /// The relay that the link names, where it names one, and where that is.
    public let relay: NoiseKey?
    /// As above.
    public let addresses: [String]
    /// Who used it. A person who comes again, because the answer was lost, uses nothing more.
    public internal(set) var guests: [PersonID] = []
    /// Which card the relay answered that it has, as a hash; nil as long as it has none.
    public internal(set) var shown: Digest?

    /// An invite that nobody took yet.
    init(
        secret: [UInt8], opened: UInt64, expires: UInt64, useCountMax: Int,
        relay: NoiseKey? = nil, addresses: [String] = []
    ) {
        self.secret = secret
        self.opened = opened
        self.expires = expires
        self.useCountMax = useCountMax
        self.relay = relay
        self.addresses = addresses
    }

    /// Its name among those of this node: the first bytes of a hash of its secret.
    public var number: UInt64 { Invite.hash(of: secret) }

    /// Whether one more person may take it.
    func isOpen(at wall: UInt64) -> Bool { wall < expires && guests.count < useCountMax }

    /// Whether a letter may yet come that somebody wrote in time: relays keep them for 30 days.
    func mayBeTakenLate(at wall: UInt64) -> Bool {
        let patience = 30 * NodeCore.day
        return relay != nil && wall < expires + min(patience, .max - expires)
    }

    /// When a letter was written, as far as the invite's expiry is concerned: when the relay got
    /// it, by its clock, if that is possible; else when it is read. So an opener who was away for
    /// the last days of an invite admits guests who came in time.
    func moment(of letter: ArrivedLetter, readAt now: UInt64) -> UInt64 {
        let slack = NodeCore.day
        return letter.came <= now && letter.came + slack >= opened ? letter.came : now
    }

    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        do {
            secret = Array(try reader.slice(Invite.secretByteCount))
            opened = try reader.uint64()
            expires = try reader.uint64()
            useCountMax = try reader.count("uses", atMost: Limits.inviteUseCountMax)
            for _ in 0..<(try reader.count("guests", atMost: Limits.inviteUseCountMax)) {
                guests.append(try reader.identifier())
            }
            relay = try reader.byte() == 1 ? try reader.identifier() : nil
            var addresses: [String] = []
            for _ in 0..<(try reader.count("addresses", atMost: Invite.relayAddressCountMax)) {
                let count = try reader.count("address", atMost: 256)
                addresses.append(String(decoding: try reader.slice(count), as: UTF8.self))
            }
            self.addresses = addresses
            shown = try reader.byte() == 1 ? try reader.identifier() : nil
            try reader.finish()
        } catch {
            return nil
        }
    }

    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.raw(secret)
        writer.uint64(opened)
        writer.uint64(expires)
        writer.number(UInt64(useCountMax))
        writer.number(UInt64(guests.count))
        for guest in guests { writer.identifier(guest) }
        writer.byte(relay == nil ? 0 : 1)
        if let relay { writer.identifier(relay) }
        writer.number(UInt64(addresses.count))
        for address in addresses { writer.counted(Array(address.utf8)) }
        writer.byte(shown == nil ? 0 : 1)
        if let shown { writer.identifier(shown) }
        return writer.bytes
    }

    static func key(_ hash: UInt64) -> [UInt8] {
        var writer = ByteWriter()
        writer.uint64(hash)
        return writer.bytes
    }

    /// Every invite that somebody may still take, the one opened last first.
    public static func all(
        at wall: UInt64, _ store: some NodeStore
    ) throws(StoreError) -> [OpenInvite] {
        try kept(store).filter { $0.isOpen(at: wall) }
            .sorted { ($1.opened, $1.number) < ($0.opened, $0.number) }
    }

    /// Every invite that is kept, by its name.
    static func kept(_ store: some NodeStore) throws(StoreError) -> [OpenInvite] {
        try store.values(.invite).compactMap { OpenInvite($0.value) }
    }

    /// What goes to the guests; nil before this node has a card.
    public func invite(
        by identity: NodeIdentity, _ store: some NodeStore
    ) throws(StoreError) -> Invite? {
        if let relay {
            return Invite(
                person: identity.person, secret: secret, expires: expires,
                place: .relay(relay, addresses: addresses))
        }
        // This device alone knows the invite: the guest must not ask another.
        guard let part = try CardReader.own(of: identity, store)?.parts.first else { return nil }
        return Invite(
            person: identity.person, secret: secret, expires: expires,
            place: .device(part.device, part.noiseKey, addresses: part.addresses))
    }
}

/// An invite of somebody else that this node has taken and that was not answered yet.
struct PendingInvite {
    let invite: Invite
    var alias: String
    /// Whether the inviter's card is known: it was on the relay, or they showed it.
    var hasCard = false
    /// Whether who invites did not take it: it is used up, revoked or over. It is kept to be told.
    var isRefused = false
    /// The device whose card lay on the relay, where the link names a relay: it opened the invite.
    var cardDevice: DeviceID?
    /// The inviter's devices that refused it, ascending, as long as it is not known which one
    /// opened it.
    private(set) var refusers: [DeviceID] = []

    init(invite: Invite, alias: String) {
        self.invite = invite
        self.alias = alias
    }

    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        do {
            let flags = try reader.byte()
            hasCard = flags & 1 != 0
            isRefused = flags & 2 != 0
            cardDevice = flags & 4 != 0 ? try reader.identifier() : nil
            for _ in 0..<(flags & 8 != 0 ? try reader.byte() : 0) {
                refusers.append(try reader.identifier())
            }
            let count = try reader.count("invite", atMost: bytes.count)
            invite = try Invite(bytes: Array(try reader.slice(count)))
            alias = String(decoding: reader.rest(), as: UTF8.self)
        } catch {
            return nil
        }
    }

    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.byte(
            (hasCard ? 1 : 0) | (isRefused ? 2 : 0) | (cardDevice == nil ? 0 : 4)
                | (refusers.isEmpty ? 0 : 8))
        if let cardDevice { writer.identifier(cardDevice) }
        if !refusers.isEmpty {
            writer.byte(UInt8(refusers.count))
            for device in refusers { writer.identifier(device) }
        }
        writer.counted(invite.bytes)
        writer.raw(Array(alias.utf8))
        return writer.bytes
    }

    /// The device that opened the invite; nil as long as it is not known. No other device of its
    /// person has the secret: what another one answers says nothing of the invite.
    var opener: DeviceID? { invite.target?.device ?? cardDevice }

    /// Whether this device may know the invite.
    func mayBeKnown(to device: DeviceID) -> Bool {
        opener.map { $0 == device } ?? !refusers.contains(device)
    }

    /// Notes that a device did not take it. It is refused where that one opened it, or where each device
    /// of its person has said so.
    mutating func note(refusedBy device: DeviceID, of all: [DeviceID]) {
        if opener == nil, !refusers.contains(device), refusers.count < Int(UInt8.max) {
            refusers = (refusers + [device]).sorted()
        }
        isRefused = opener == device || all.allSatisfy(refusers.contains)
    }

    /// The relay on which the card is to be looked for; nil where it need not be.
    var relayToAsk: NoiseKey? {
        guard !hasCard, case .relay(let relay, _) = invite.place else { return nil }
        return relay
    }

    /// How it stands with it.
    var taken: TakenInvite {
        var address = ""
        if case .relay(_, let addresses) = invite.place { address = addresses.first ?? "" }
        return TakenInvite(
            expires: invite.expires, isRefused: isRefused, relay: relayToAsk, address: address)
    }

    /// All that were taken and not answered yet, by person.
    static func all(_ store: some NodeStore) throws(StoreError) -> [PendingInvite] {
        try store.values(.introduction).compactMap { PendingInvite($0.value) }
            .filter { !$0.isRefused }
    }
}

/// How it stands with an invite of somebody else that this node has taken.
public struct TakenInvite: Equatable, Sendable {
    /// When it ends, in Unix milliseconds.
    public let expires: UInt64
    /// Whether who invites did not take it.
    public let isRefused: Bool
    /// The relay on which the inviter's card is still looked for; nil if it is not.
    public let relay: NoiseKey?
    /// Where that relay is, as `host:port`.
    public let address: String
}

/// A letter that lay in this device's inbox.
struct ArrivedLetter {
    /// Which of its sender's letters it is.
    let number: LetterNumber
    let sender: DeviceID
    let inbox: MailboxID
    /// When the relay got it, by its clock, in Unix milliseconds.
    let came: UInt64

    init(_ number: LetterNumber, by sender: DeviceID, in inbox: MailboxID, _ entry: RelayEntry) {
        self.number = number
        self.sender = sender
        self.inbox = inbox
        // Counters are microseconds of the relay's clock.
        came = entry.counter / 1_000
    }
}
