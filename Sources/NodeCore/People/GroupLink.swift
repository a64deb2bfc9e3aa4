import ParleySealing
public import ParleyWire

/// The content of a link into a group: which group, whom to ask, and the secret that proves the
/// invitation.
/// Source: `Protocol/05-identity.md`, "Links into groups".
public struct GroupLink: Equatable, Sendable {
    /// The group.
    public var space: SpaceID
    /// The operation that opened the invite.
    public var invite: OperationID
    /// Known to every holder of the link; its key signs for the newcomer.
    public var secret: [UInt8]
    /// When it ends, in Unix milliseconds.
    public var expires: UInt64
    /// What the group was called when the link was made.
    public var name: String
    /// The card of the link's creator: whom to ask.
    public var card: [UInt8]

    static let secretByteCount = 32
    private static let scheme = "parley:g1:"

    /// A link with these fields.
    public init(
        space: SpaceID, invite: OperationID, secret: [UInt8], expires: UInt64, name: String,
        card: [UInt8]
    ) {
        self.space = space
        self.invite = invite
        self.secret = secret
        self.expires = expires
        self.name = name
        self.card = card
    }

    /// The link: a scheme and the fields in the URL-safe alphabet.
    public var link: String { Self.scheme + Base64URL.encode(bytes) }

    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.identifier(space)
        writer.identifier(invite)
        writer.raw(secret)
        writer.number(expires)
        writer.counted(Array(name.utf8))
        writer.counted(card)
        return writer.bytes
    }

    /// The fields in a link.
    public init(link: String) throws(DecodingFailure) {
        let byteCountMax = Limits.cardByteCountMax + Limits.nameByteCountMax + 128
        guard let bytes = Base64URL.decode(link, after: Self.scheme, atMost: byteCountMax) else {
            throw .forbidden(field: "link")
        }
        try self.init(bytes)
    }

    init(_ bytes: [UInt8]) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        space = try reader.identifier()
        invite = try reader.identifier()
        secret = Array(try reader.slice(Self.secretByteCount))
        expires = try reader.bounded(as: WallTime.self).value
        let nameCount = try reader.count("name", atMost: Limits.nameByteCountMax)
        guard let name = String(validating: try reader.slice(nameCount), as: UTF8.self) else {
            throw .forbidden(field: "name")
        }
        self.name = name
        card = Array(try reader.slice(try reader.count("card", atMost: Limits.cardByteCountMax)))
        try reader.finish()
    }

    /// Signs for those who come. Its public half stands in the invite, for all members to see.
    static func key(of secret: [UInt8]) -> DeviceSigningKey {
        DeviceSigningKey(seed: deriveSecret(key: secret, .groupInvite))
    }
}
