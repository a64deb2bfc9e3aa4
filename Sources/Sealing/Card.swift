public import ParleyWire

/// Why a card that can be read does not hold.
public enum CardRejection: Error, Equatable, Sendable {
    /// The card is another person's than the identity log.
    case otherPerson
    /// A part is not signed by the device that it names.
    case badSignature(DeviceID)
    /// A part names another key for links than the device's certificate.
    case otherNoiseKey(DeviceID)
    /// A part names a prekey that the device did not sign, or that nothing can be sealed to.
    case badPrekey(DeviceID)
}

/// That a device signed two different parts with one version: its key may be in two hands.
public struct CardFork: Equatable, Sendable {
    /// The device.
    public let device: DeviceID
    /// Both parts as they were signed, ascending.
    public let parts: [[UInt8]]
}

/// What a person's devices say about themselves, each in a separate part.
///
/// Source: `Protocol/05-identity.md`, "Cards".
public struct Card: Equatable, Sendable {
    /// The most parts of a card.
    public static let partCountMax = 64
    private static let version: UInt8 = 1

    /// Whose card it is.
    public var person: PersonID
    /// The person's identity log, causes before effects.
    public var identity: [[UInt8]]
    /// At most one part per device, ascending by device.
    public var parts: [CardPart]

    /// A card with these fields.
    public init(person: PersonID, identity: [[UInt8]], parts: [CardPart]) {
        self.person = person
        self.identity = identity
        self.parts = parts.sorted { $0.device < $1.device }
    }

    /// Parses a card. Nothing in it is verified before ``verified(by:)``.
    public init(bytes: [UInt8]) throws(DecodingFailure) {
        guard bytes.count <= Limits.cardByteCountMax else {
            throw .tooLarge(
                field: "card", value: UInt64(bytes.count), limit: UInt64(Limits.cardByteCountMax))
        }
        var reader = ByteReader(bytes)
        let version = try reader.byte()
        guard version == Self.version else { throw .unknownVersion(version) }
        person = try reader.identifier()
        identity = []
        for _ in 0..<(try reader.count("identity", atMost: IdentityLog.operationCountMax)) {
            let count = try reader.count("operation", atMost: IdentityOperation.byteCountMax)
            identity.append(Array(try reader.slice(count)))
        }
        parts = []
        for _ in 0..<(try reader.count("parts", atMost: Self.partCountMax)) {
            let count = try reader.count("part", atMost: CardPart.byteCountMax)
            let part = try CardPart(bytes: Array(try reader.slice(count)))
            if let last = parts.last, last.device >= part.device { throw .unsorted(field: "parts") }
            parts.append(part)
        }
        try reader.finish()
    }

    /// The card as it travels.
    public var encoded: [UInt8] {
        var writer = ByteWriter(capacity: 1024)
        writer.byte(Self.version)
        writer.identifier(person)
        writer.number(UInt64(identity.count))
        for operation in identity { writer.counted(operation) }
        writer.number(UInt64(parts.count))
        for part in parts { writer.counted(part.bytes) }
        return writer.bytes
    }

    /// What the person calls themself: the name in the part with the highest version, and among
    /// equals that of the highest device. Empty where there is no part.
    public var name: String {
        parts.max { ($0.version, $0.device) < ($1.version, $1.device) }?.name ?? ""
    }

    /// The card with those parts alone whose device is certified now, once all signatures held.
    public func verified(by identity: IdentityLog) throws(CardRejection) -> Card {
        guard identity.person == person else { throw .otherPerson }
        var standing: [CardPart] = []
        for part in parts {
            // A part of a device that is revoked says nothing any more; it is no fault to show it.
            guard let certificate = identity.certificate(of: part.device) else { continue }
            guard part.isSigned else { throw .badSignature(part.device) }
            guard part.noiseKey == certificate.noiseKey else { throw .otherNoiseKey(part.device) }
            guard part.prekeys.allSatisfy(\.holds) else { throw .badPrekey(part.device) }
            standing.append(part)
        }
        return Card(person: person, identity: self.identity, parts: standing)
    }

    /// What two cards of one person that hold say together: the newest part of each device.
    ///
    /// Of two different parts with one version the smaller stays, so that everyone keeps the same
    /// one, and both are returned as evidence.
    public func merged(with other: Card) -> (card: Card, evidence: CardFork?) {
        precondition(person == other.person, "only cards of one person merge")
        var newest: [DeviceID: CardPart] = [:]
        var evidence: CardFork?
        for part in parts + other.parts {
            guard let known = newest[part.device] else {
                newest[part.device] = part
                continue
            }
            if known.version == part.version, known.bytes != part.bytes {
                let both = [known.bytes, part.bytes].sorted { $0.lexicographicallyPrecedes($1) }
                evidence = CardFork(device: part.device, parts: both)
                if both[0] == part.bytes { newest[part.device] = part }
            } else if known.version < part.version {
                newest[part.device] = part
            }
        }
        let log = Self.merged(identity, other.identity)
        let standing = newest.values.filter { log?.certificate(of: $0.device) != nil || log == nil }
        let card = Card(
            person: person, identity: log?.encoded ?? identity, parts: Array(standing))
        return (card.fitting(log), evidence)
    }

    /// The card without the parts of the devices that were added last, as far as it is too large:
    /// however many devices a thief adds, there is room to say that they were revoked.
    private func fitting(_ log: IdentityLog?) -> Card {
        var card = self
        while card.encoded.count > Limits.cardByteCountMax,
            let last = card.parts.max(by: {
                (log?.certificate(of: $0.device)?.rank ?? .max, $0.device)
                    < (log?.certificate(of: $1.device)?.rank ?? .max, $1.device)
            })
        {
            card.parts.removeAll { $0.device == last.device }
        }
        return card
    }

    /// Both logs in one, or nil where they do not make one: then the known one stays.
    private static func merged(_ left: [[UInt8]], _ right: [[UInt8]]) -> IdentityLog? {
        let known = Set(left)
        // Each was checked before cards are merged; what does not fit together changes nothing.
        return try? IdentityLog(kept: left + right.filter { !known.contains($0) })
    }
}
