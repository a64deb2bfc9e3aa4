import ParleySealing
public import ParleyWire

/// What an invite link holds: whom to find, where, and the secret that shows one was invited.
/// Source: `Protocol/05-identity.md`, "Invites".
public struct Invite: Equatable, Sendable {
    /// Who invites.
    public var person: PersonID
    /// Their card: devices, keys, addresses.
    public var card: [UInt8]
    /// Known to the two alone; good for one use.
    public var secret: [UInt8]
    /// When it ends, in Unix milliseconds.
    public var expires: UInt64

    static let secretByteCount = 32
    private static let scheme = "parley:1:"

    /// An invite with these fields.
    public init(person: PersonID, card: [UInt8], secret: [UInt8], expires: UInt64) {
        self.person = person
        self.card = card
        self.secret = secret
        self.expires = expires
    }

    /// The link: a scheme and the fields in the URL-safe alphabet.
    public var link: String {
        var writer = ByteWriter()
        writer.identifier(person)
        writer.counted(card)
        writer.raw(secret)
        writer.number(expires)
        return Self.scheme + Base64URL.encode(writer.bytes)
    }

    /// The invite in a link.
    public init(link: String) throws(DecodingFailure) {
        let byteCountMax = Limits.cardByteCountMax + 128
        guard let bytes = Base64URL.decode(link, after: Self.scheme, atMost: byteCountMax) else {
            throw .forbidden(field: "link")
        }
        var reader = ByteReader(bytes)
        person = try reader.identifier()
        card = Array(try reader.slice(try reader.count("card", atMost: Limits.cardByteCountMax)))
        secret = Array(try reader.slice(Self.secretByteCount))
        expires = try reader.bounded(as: WallTime.self).value
        try reader.finish()
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
}
