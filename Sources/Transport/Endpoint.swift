import NIOCore

/// Where a node listens: a host and a TCP port, written `host:port` or `[v6]:port`.
///
/// The host is an IPv4 address, an IPv6 address, a DNS name, or `*`: every address of this
/// machine, only for listening. There is one spelling: names and IPv6 addresses are stored in
/// lower case and the latter in their shortest form, so equal endpoints are equal values.
/// Source: `Protocol/04-links.md`, "Endpoints".
public struct Endpoint: Sendable, Hashable, CustomStringConvertible {
    /// Why a text is no endpoint.
    public enum Rejection: Error, Equatable, Sendable {
        /// There is no `:port` at the end.
        case missingPort
        /// The port is no plain decimal number of 0…65535.
        case badPort(String)
        /// Nothing stands before the colon.
        case emptyHost
        /// An IPv6 address must stand in brackets.
        case unbracketed
        /// The text in brackets is not an IPv6 address. Zones (`%eth0`) are not supported.
        case badIPv6(String)
        /// Neither an IPv4 address nor a DNS name.
        case badHost(String)
    }

    /// Every address of this machine, both IPv4 and IPv6.
    public static let everyHost = "*"

    /// An address or name, never in brackets.
    public let host: String
    /// 0 lets the system choose, when listening.
    public let port: UInt16

    /// An endpoint of parts, checked as the text form is.
    public init(host: String, port: UInt16) throws(Rejection) {
        self.host = try Self.canonical(host)
        self.port = port
    }

    /// Reads `host:port` or `[v6]:port`; nothing else, no spaces, no scheme.
    public init(_ text: String) throws(Rejection) {
        guard let colon = text.lastIndex(of: ":"), !text.hasSuffix("]") else {
            throw .missingPort
        }
        let hostText = String(text[..<colon])
        let portText = String(text[text.index(after: colon)...])
        guard !hostText.isEmpty else { throw .emptyHost }
        let isBracketed = hostText.hasPrefix("[") && hostText.hasSuffix("]")
        guard isBracketed || !hostText.contains(":") else { throw .unbracketed }
        guard let port = Self.port(portText) else { throw .badPort(portText) }
        if isBracketed {
            let address = String(hostText.dropFirst().dropLast())
            guard address.contains(":") else { throw .badIPv6(address) }
            host = try Self.canonical(address)
        } else {
            host = try Self.canonical(hostText)
        }
        self.port = port
    }

    /// The one spelling, which ``init(_:)`` reads back.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    private static func port(_ text: String) -> UInt16? {
        let isPlain = !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        let hasLeadingZero = text.count > 1 && text.hasPrefix("0")
        return isPlain && !hasLeadingZero ? UInt16(text) : nil
    }

    private static func canonical(_ host: String) throws(Rejection) -> String {
        guard !host.isEmpty else { throw .emptyHost }
        if host == everyHost { return host }
        if host.contains(":") {
            // A zone would be dropped without a word by what reads the address.
            guard !host.contains("%"), let address = numeric(host) else { throw .badIPv6(host) }
            return address
        }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        let isNumeric = labels.allSatisfy { label in label.utf8.allSatisfy(isDigit) }
        if isNumeric {
            guard let address = numeric(host), address == host else { throw .badHost(host) }
            return address
        }
        guard host.utf8.count <= 253, labels.allSatisfy(isLabel) else { throw .badHost(host) }
        return host.lowercased()
    }

    private static func numeric(_ host: String) -> String? {
        // The only error means 'not an address', which is what nil says.
        (try? SocketAddress(ipAddress: host, port: 0))?.ipAddress
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isLabel(_ label: Substring) -> Bool {
        let isPlain = label.utf8.allSatisfy { byte in
            isDigit(byte) || (0x61...0x7A).contains(byte | 0x20) || byte == 0x2D || byte == 0x5F
        }
        return (1...63).contains(label.utf8.count) && isPlain && !label.hasPrefix("-")
            && !label.hasSuffix("-")
    }
}
