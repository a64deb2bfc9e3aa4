public import ParleySealing
public import ParleyWire

/// A card as people pass it on: `parley:c1:` and the card in the URL-safe alphabet.
/// Source: `Protocol/05-identity.md`, "Cards".
public struct CardText: Equatable, Sendable {
    /// The card as it travels; whether it holds is for ``CardReader`` to say.
    public let card: [UInt8]
    private static let scheme = "parley:c1:"

    /// This card.
    public init(card: [UInt8]) { self.card = card }

    /// The card in a text, or nil.
    public init?(_ text: String) {
        guard
            let bytes = Base64URL.decode(text, after: Self.scheme, atMost: Limits.cardByteCountMax)
        else { return nil }
        card = bytes
    }

    /// The text.
    public var text: String { Self.scheme + Base64URL.encode(card) }
}

/// The content of the code that one person's screen shows to another's camera, so that the two need
/// not read out numbers: the full identities as the shower knows them. It contains no secret.
/// Source: `Protocol/05-identity.md`, "Safety numbers".
public struct VerificationCode: Equatable, Sendable {
    /// Who shows it, and the root key of that person.
    public let person: PersonID
    /// As above.
    public let root: Digest
    /// The viewer, as the shower knows them, and that person's root key.
    public let peer: PersonID
    /// As above.
    public let peerRoot: Digest

    private static let scheme = "parley:v1:"
    private static let start = Array("lp1".utf8) + [1]

    /// What `own` shows to `peer`.
    public init(from own: IdentityLog, to peer: IdentityLog) {
        person = own.person
        root = Digest(reinterpreting: own.root)
        self.peer = peer.person
        peerRoot = Digest(reinterpreting: peer.root)
    }

    /// The text: a scheme, and the fields in the URL-safe alphabet.
    public var text: String {
        var writer = ByteWriter()
        writer.raw(Self.start)
        writer.identifier(person)
        writer.identifier(root)
        writer.identifier(peer)
        writer.identifier(peerRoot)
        return Self.scheme + Base64URL.encode(writer.bytes)
    }

    /// The code in a text.
    public init(text: String) throws(DecodingFailure) {
        guard let bytes = Base64URL.decode(text, after: Self.scheme, atMost: 132) else {
            throw .forbidden(field: "code")
        }
        var reader = ByteReader(bytes)
        guard Array(try reader.slice(4)) == Self.start else { throw .forbidden(field: "start") }
        person = try reader.identifier()
        root = try reader.identifier()
        peer = try reader.identifier()
        peerRoot = try reader.identifier()
        try reader.finish()
    }
}

extension Base64URL {
    /// The bytes behind this scheme, however the text was broken into lines; nil where it is another
    /// or holds more.
    static func decode(
        _ text: String, after scheme: String, atMost byteCountMax: Int
    ) -> [UInt8]? {
        guard text.utf8.count <= 2 * byteCountMax + 64 else { return nil }
        guard let bytes = decode(text, after: scheme), bytes.count <= byteCountMax else {
            return nil
        }
        return bytes
    }
}
