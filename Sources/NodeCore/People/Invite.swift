import ParleySealing
public import ParleyWire

/// The content of an invite link: whom to find, where, and the secret that proves the invitation.
/// It is short enough to fit a small QR code: the inviter's card is on a relay, or is shown on the
/// first link.
/// Source: `Protocol/05-identity.md`, "Invites".
public struct Invite: Equatable, Sendable {
    /// Where the inviter can be found.
    public enum Place: Equatable, Sendable {
        /// A relay on which their card lies, and its addresses as `host:port`, the best first.
        case relay(NoiseKey, addresses: [String])
        /// Their device, its key for links, and where it listens; possibly nowhere.
        case device(DeviceID, NoiseKey, addresses: [String])
    }

    /// Who invites.
    public var person: PersonID
    /// Known to the two alone; 16 bytes.
    public var secret: [UInt8]
    /// When it ends, in Unix milliseconds.
    public var expires: UInt64
    /// Where to look for them.
    public var place: Place

    /// Bytes of a secret.
    public static let secretByteCount = 16
    /// Addresses of a relay in a link: the best ones, so that it stays short.
    public static let relayAddressCountMax = 2
    private static let addressCountMax = 8
    private static let byteCountMax = 4096
    private static let scheme = "parley:1:"

    /// An invite with these fields.
    public init(person: PersonID, secret: [UInt8], expires: UInt64, place: Place) {
        self.person = person
        self.secret = secret
        self.expires = expires
        self.place = place
    }

    /// The link: a scheme and the fields in the URL-safe alphabet.
    public var link: String { Self.scheme + Base64URL.encode(bytes) }

    /// The invite in a link.
    public init(link: String) throws(DecodingFailure) {
        guard let bytes = Base64URL.decode(link, after: Self.scheme, atMost: Self.byteCountMax)
        else { throw .forbidden(field: "link") }
        try self.init(bytes: bytes)
    }

    /// The device that the link names, if it names one.
    public var target: DialTarget? {
        guard case .device(let device, let noiseKey, let addresses) = place else { return nil }
        return DialTarget(device: device, noiseKey: noiseKey, addresses: addresses)
    }

    /// The fields as the link holds them.
    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 192)
        writer.identifier(person)
        writer.raw(secret)
        writer.number(expires)
        let named: [String]
        switch place {
        case .relay(let relay, let addresses):
            writer.byte(1)
            writer.identifier(relay)
            named = addresses
        case .device(let device, let noiseKey, let addresses):
            writer.byte(2)
            writer.identifier(device)
            writer.identifier(noiseKey)
            named = addresses
        }
        writer.number(UInt64(named.count))
        for address in named { writer.counted(Array(address.utf8)) }
        return writer.bytes
    }

    init(bytes: [UInt8]) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        person = try reader.identifier()
        secret = Array(try reader.slice(Self.secretByteCount))
        expires = try reader.bounded(as: WallTime.self).value
        switch try reader.byte() {
        case 1:
            let relay: NoiseKey = try reader.identifier()
            let addresses = try Self.addresses(from: &reader)
            guard !addresses.isEmpty else { throw .forbidden(field: "addresses") }
            place = .relay(relay, addresses: addresses)
        case 2:
            place = .device(
                try reader.identifier(), try reader.identifier(),
                addresses: try Self.addresses(from: &reader))
        default: throw .forbidden(field: "place")
        }
        try reader.finish()
    }

    private static func addresses(
        from reader: inout ByteReader
    ) throws(DecodingFailure) -> [String] {
        var addresses: [String] = []
        for _ in 0..<(try reader.count("addresses", atMost: addressCountMax)) {
            let count = try reader.count("address", atMost: CardPart.addressByteCountMax)
            let address = Array(try reader.slice(count))
            guard CardPart.isSound(address) else { throw .forbidden(field: "address") }
            addresses.append(String(decoding: address, as: UTF8.self))
        }
        return addresses
    }

    /// How the inviter finds the invite again without being told its secret.
    static func hash(of secret: [UInt8]) -> UInt64 {
        let hash: Digest = digest(.invite, secret)
        return hash.prefix
    }

    /// What shows, on one link only, that the secret is known.
    static func proof(secret: [UInt8], handshakeHash: [UInt8], device: DeviceID) -> Digest? {
        Digest(derive(key: secret, .redeem, context: handshakeHash + device.bytes))
    }

    /// What shows, in one letter only, that the secret is known.
    ///
    /// - Parameters:
    ///   - inbox: where the letter goes.
    ///   - number: which of its sender's letters it is.
    ///   - device: its sender.
    static func proof(
        secret: [UInt8], inbox: MailboxID, _ number: LetterNumber, device: DeviceID
    ) -> Digest? {
        var context = ByteWriter(capacity: 72)
        context.identifier(inbox)
        context.uint64(number)
        context.identifier(device)
        return Digest(derive(key: secret, .redeemByLetter, context: context.bytes))
    }

    /// The same, with what names the invite.
    func redemption(
        in inbox: MailboxID, _ number: LetterNumber, by device: DeviceID
    ) -> Introduction.Redemption? {
        Self.proof(secret: secret, inbox: inbox, number, device: device).map {
            Introduction.Redemption(invite: Self.hash(of: secret), proof: $0)
        }
    }
}
