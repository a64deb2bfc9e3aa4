/// A server that passes sound and pictures on where no direct way exists, and how it is asked.
/// Source: `Protocol/11-calls.md`, "TURN".
public struct TurnServer: Equatable, Sendable {
    /// What the server knows a client by.
    public enum Access: Equatable, Sendable {
        /// Nothing: as of a STUN server.
        case open
        /// A name and a password that stay.
        case fixed(name: String, password: String)
        /// A secret shared with the server, from which names that expire are made.
        case secret(String)
    }

    /// What the program for sound and pictures is told.
    public struct Credentials: Equatable, Sendable {
        /// The name.
        public var name: String
        /// The password.
        public var password: String
    }

    /// For how many seconds a name that is made holds: a call may last that long.
    public static let lifetime: UInt64 = 24 * 3600

    /// As WebRTC writes it: `stun:`, `turn:` or `turns:`, host, port, and how it is spoken to.
    public var address: String
    /// The credentials of a client.
    public var access: Access

    /// A server, or nil for an address that no program would take.
    public init?(address: String, access: Access) {
        let schemes = ["stun:", "stuns:", "turn:", "turns:"]
        guard let scheme = schemes.first(where: address.hasPrefix),
            address.utf8.count > scheme.utf8.count, address.utf8.count <= 256,
            address.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
        else { return nil }
        self.address = address
        self.access = access
    }

    /// What the server takes for now; nil where it wants nothing.
    ///
    /// For a secret, the name is `EXPIRY:label`, and the password the HMAC-SHA1 of it in base 64.
    /// It says nothing about a person: the label is random.
    ///
    /// - Parameter wall: now, in Unix milliseconds.
    public func credentials(at wall: UInt64, label: String) -> Credentials? {
        switch access {
        case .open:
            return nil
        case .fixed(let name, let password):
            return Credentials(name: name, password: password)
        case .secret(let secret):
            let name = "\(wall / 1000 + Self.lifetime):\(label)"
            let code = SHA1.authenticate(Array(name.utf8), key: Array(secret.utf8))
            return Credentials(name: name, password: base64(code))
        }
    }
}

/// Base 64 with padding, as RFC 4648 has it.
func base64(_ bytes: [UInt8]) -> String {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
        let group = bytes[start..<min(start + 3, bytes.count)]
        let value = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
        for place in 0..<4 {
            let isThere = place <= group.count
            text.append(
                isThere ? digits[value >> (18 - 6 * place) & 63] : UInt8(ascii: "="))
        }
    }
    return String(decoding: text, as: UTF8.self)
}
