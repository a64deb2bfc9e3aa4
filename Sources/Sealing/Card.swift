public import ParleyWire

/// Why a card that can be read does not hold.
public enum CardRejection: Error, Equatable, Sendable {
    /// The card is another person's than the identity log.
    case otherPerson
    /// A part is not signed by the device that it names.
    case badSignature(DeviceID)
    /// A part names another key for links than the device's certificate.
    case otherNoiseKey(DeviceID)
}

/// That a device signed two different parts with one version: its key may be in two hands.
public struct CardFork: Equatable, Sendable {
    /// The device.
    public let device: DeviceID
    /// Both parts as they were signed, ascending.
    public let parts: [[UInt8]]
}

/// What a person's devices say of themselves, each in a part of its own.
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

    /// Reads a card. Nothing in it is proven before ``verified(by:)``.
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
        return (card, evidence)
    }

    /// Both logs in one, or nil where they do not make one: then the known one stays.
    private static func merged(_ left: [[UInt8]], _ right: [[UInt8]]) -> IdentityLog? {
        let known = Set(left)
        // Each was checked before cards are merged; what does not fit together changes nothing.
        return try? IdentityLog(operations: left + right.filter { !known.contains($0) })
    }
}

/// What one device says of itself: where it is reached, and what its person is called.
///
/// `1 ‖ device[32] ‖ u64 version ‖ noise key[32] ‖ name ‖ addresses ‖ mailboxes ‖ signature[64]`;
/// name and each address after their length, both lists after their count; no mailboxes yet.
public struct CardPart: Equatable, Sendable {
    /// The longest part.
    public static let byteCountMax = 4096
    /// The most addresses of a device.
    public static let addressCountMax = 8
    /// The longest address, in bytes of ASCII.
    public static let addressByteCountMax = 256
    private static let format: UInt8 = 1

    /// The device.
    public let device: DeviceID
    /// Grows by one with each change.
    public let version: UInt64
    /// The device's key for links.
    public let noiseKey: NoiseKey
    /// What the person is called.
    public let name: String
    /// Where the device listens, as `host:port`; the best first.
    public let addresses: [String]
    /// The part as it was signed, signature included.
    public let bytes: [UInt8]

    /// Signs a part. What does not fit the limits is left out from the end.
    public static func make(
        version: UInt64, noiseKey: NoiseKey, name: String, addresses: [String],
        key: DeviceSigningKey
    ) -> CardPart {
        var writer = ByteWriter(capacity: 256)
        writer.byte(format)
        writer.identifier(key.device)
        writer.uint64(version)
        writer.identifier(noiseKey)
        var fitting = name
        while fitting.utf8.count > Limits.nameByteCountMax { fitting.removeLast() }
        writer.counted(Array(fitting.utf8))
        let sound = Array(addresses.filter { isSound(Array($0.utf8)) }.prefix(addressCountMax))
        writer.number(UInt64(sound.count))
        for address in sound { writer.counted(Array(address.utf8)) }
        writer.number(0)
        let signature = key.sign(.card, writer.bytes)
        return CardPart(
            device: key.device, version: version, noiseKey: noiseKey, name: fitting,
            addresses: sound, bytes: writer.bytes + signature.bytes)
    }

    private init(
        device: DeviceID, version: UInt64, noiseKey: NoiseKey, name: String, addresses: [String],
        bytes: [UInt8]
    ) {
        self.device = device
        self.version = version
        self.noiseKey = noiseKey
        self.name = name
        self.addresses = addresses
        self.bytes = bytes
    }

    /// Reads a part; ``isSigned`` tells whether it is the device's.
    init(bytes: [UInt8]) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        let format = try reader.byte()
        guard format == Self.format else { throw .unknownVersion(format) }
        device = try reader.identifier()
        version = try reader.uint64()
        noiseKey = try reader.identifier()
        let nameCount = try reader.count("name", atMost: Limits.nameByteCountMax)
        guard let name = String(validating: try reader.slice(nameCount), as: UTF8.self) else {
            throw .forbidden(field: "name")
        }
        self.name = name
        var addresses: [String] = []
        for _ in 0..<(try reader.count("addresses", atMost: Self.addressCountMax)) {
            let count = try reader.count("address", atMost: Self.addressByteCountMax)
            let address = Array(try reader.slice(count))
            guard Self.isSound(address) else { throw .forbidden(field: "address") }
            addresses.append(String(decoding: address, as: UTF8.self))
        }
        self.addresses = addresses
        _ = try reader.count("mailboxes", atMost: 0)
        _ = try reader.slice(Signature.byteCount)
        try reader.finish()
        self.bytes = bytes
    }

    /// Whether the device signed it.
    var isSigned: Bool {
        guard let signature = Signature(bytes.suffix(Signature.byteCount)) else { return false }
        return signature.verifies(
            .card, Array(bytes.dropLast(Signature.byteCount)), by: device)
    }

    /// Printable ASCII without spaces: nothing that could pass for another line on a screen.
    private static func isSound(_ address: [UInt8]) -> Bool {
        (1...addressByteCountMax).contains(address.count)
            && address.allSatisfy { (0x21...0x7e).contains($0) }
    }
}
