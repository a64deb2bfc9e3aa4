public import ParleyWire

/// A relay as people pass it on: its key, and where it is. It holds no secret.
/// Source: `Protocol/06-relay.md`, "Handshake".
public struct RelayText: Hashable, Sendable {
    /// The relay's key, which it proves in the handshake.
    public let key: NoiseKey
    /// Where it is, as `host:port`, the best first.
    public let addresses: [String]

    private static let scheme = "parley-relay:1:"
    /// Addresses of one relay.
    public static let addressCountMax = 16

    /// The relay with this key at these places.
    public init(key: NoiseKey, addresses: [String]) {
        self.key = key
        self.addresses = addresses
    }

    /// The text: a scheme, and `key ‖ list of counted addresses` in the URL-safe alphabet.
    public var text: String {
        var writer = ByteWriter()
        writer.identifier(key)
        writer.number(UInt64(addresses.count))
        for address in addresses { writer.counted(Array(address.utf8)) }
        return Self.scheme + Base64URL.encode(writer.bytes)
    }

    /// The relay in a text; spaces and line breaks in it do not count.
    public init(text: String) throws(DecodingFailure) {
        guard text.utf8.count <= 8192 else { throw .forbidden(field: "link") }
        guard let bytes = Base64URL.decode(text, after: Self.scheme) else {
            throw .forbidden(field: "scheme")
        }
        var reader = ByteReader(bytes)
        key = try reader.identifier()
        var addresses: [String] = []
        for _ in 0..<(try reader.count("addresses", atMost: Self.addressCountMax)) {
            let address = Array(try reader.slice(try reader.count("address", atMost: 256)))
            guard address.allSatisfy({ (0x21...0x7e).contains($0) }) else {
                throw .forbidden(field: "address")
            }
            addresses.append(String(decoding: address, as: UTF8.self))
        }
        try reader.finish()
        self.addresses = addresses
    }
}

/// A ticket as its operator passes it on: 32 random bytes that pay for one mailbox.
public struct TicketText: Hashable, Sendable {
    /// The bytes: anybody who has them may spend them.
    public let bytes: [UInt8]

    private static let scheme = "parley-ticket:1:"

    /// A ticket of these bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Limits.ticketByteCount else { return nil }
        self.bytes = bytes
    }

    /// The text.
    public var text: String { Self.scheme + Base64URL.encode(bytes) }

    /// The ticket in a text, or nil.
    public init?(text: String) {
        guard text.utf8.count <= 256 else { return nil }
        guard let bytes = Base64URL.decode(text, after: Self.scheme) else { return nil }
        self.init(bytes: bytes)
    }
}
