public import ParleyWire

/// What a device shows so that another can become its person's: whom to call, where, and the secret
/// that authorises it.
/// Source: `Protocol/04-links.md`, "Linking a device".
public struct DeviceOffer: Equatable, Sendable {
    /// Whose device the other will be.
    public var person: PersonID
    /// The key for links of the device that waits.
    public var noiseKey: NoiseKey
    /// Good for one device and a few minutes.
    public var secret: [UInt8]
    /// When it ends, in Unix milliseconds.
    public var expires: UInt64
    /// Where the device waits, as `host:port`.
    public var addresses: [String]

    /// Bytes of a secret.
    public static let secretByteCount = 32
    private static let scheme = "parley-device:1:"

    /// An offer with these fields.
    public init(
        person: PersonID, noiseKey: NoiseKey, secret: [UInt8], expires: UInt64,
        addresses: [String]
    ) {
        self.person = person
        self.noiseKey = noiseKey
        self.secret = secret
        self.expires = expires
        self.addresses = addresses
    }

    /// The offer as one long word.
    public var text: String {
        var writer = ByteWriter()
        writer.identifier(person)
        writer.identifier(noiseKey)
        writer.raw(secret)
        writer.number(expires)
        writer.number(UInt64(addresses.count))
        for address in addresses { writer.counted(Array(address.utf8)) }
        return Self.scheme + Base64URL.encode(writer.bytes)
    }

    /// The offer in a text.
    public init(text: String) throws(DecodingFailure) {
        let byteCountMax = Limits.cardByteCountMax
        guard let bytes = Base64URL.decode(text, after: Self.scheme, atMost: byteCountMax) else {
            throw .forbidden(field: "link")
        }
        var reader = ByteReader(bytes)
        person = try reader.identifier()
        noiseKey = try reader.identifier()
        secret = Array(try reader.slice(Self.secretByteCount))
        expires = try reader.bounded(as: WallTime.self).value
        addresses = []
        for _ in 0..<(try reader.count("addresses", atMost: 16)) {
            let count = try reader.count("address", atMost: 256)
            let address = Array(try reader.slice(count))
            guard address.allSatisfy({ (0x21...0x7e).contains($0) }) else {
                throw .forbidden(field: "address")
            }
            addresses.append(String(decoding: address, as: UTF8.self))
        }
        try reader.finish()
    }
}
