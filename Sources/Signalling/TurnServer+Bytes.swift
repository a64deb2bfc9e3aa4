import ParleyWire

/// The credentials of a server, as the person's own devices store them.
/// Source: `Protocol/05-identity.md`, "Preferences".
extension TurnServer {
    /// Bytes of a name, a password or a secret.
    public static let wordByteCountMax = 512

    /// Whether a word can be a name, a password or a secret.
    public static func isWord(_ word: String) -> Bool {
        (1...wordByteCountMax).contains(word.utf8.count)
    }

    /// The server with this address, or nil for what cannot be one.
    public init?(address: String, bytes: [UInt8]) {
        // What does not parse is no server, here and on every device.
        guard let access = try? Self.access(bytes) else { return nil }
        self.init(address: address, access: access)
    }

    /// Its access: one byte that tells which, then its words.
    public var bytes: [UInt8] {
        var writer = ByteWriter()
        switch access {
        case .open:
            writer.byte(1)
        case .fixed(let name, let password):
            writer.byte(2)
            writer.counted(Array(name.utf8))
            writer.counted(Array(password.utf8))
        case .secret(let secret):
            writer.byte(3)
            writer.counted(Array(secret.utf8))
        }
        return writer.bytes
    }

    private static func access(_ bytes: [UInt8]) throws(DecodingFailure) -> Access {
        var reader = ByteReader(bytes)
        let access: Access
        switch try reader.byte() {
        case 1: access = .open
        case 2: access = .fixed(name: try word(&reader), password: try word(&reader))
        case 3: access = .secret(try word(&reader))
        default: throw .forbidden(field: "access")
        }
        try reader.finish()
        return access
    }

    private static func word(_ reader: inout ByteReader) throws(DecodingFailure) -> String {
        let count = try reader.count("word", atMost: wordByteCountMax)
        guard count > 0, let word = String(validating: try reader.slice(count), as: UTF8.self)
        else { throw .forbidden(field: "word") }
        return word
    }
}
