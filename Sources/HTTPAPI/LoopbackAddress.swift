/// An address of this machine alone, with a port.
public struct LoopbackAddress: Equatable, Sendable, CustomStringConvertible {
    /// `127.0.0.1`, `::1`, or another address of the same kind.
    public let host: String
    /// The port; 0 for any free one.
    public var port: UInt16

    /// Any free port of this machine.
    public static let usual = LoopbackAddress(host: "127.0.0.1", port: 0)

    private init(host: String, port: UInt16) { (self.host, self.port) = (host, port) }

    /// The address that a text names: `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080`; nil where it names
    /// none of this machine alone. Without a port it is any free one.
    ///
    /// Names other than `localhost` are not resolved: others decide what they mean.
    public init?(_ text: String) {
        var host = text[...]
        var port: Substring = "0"
        let colons = text.filter { $0 == ":" }.count
        if let end = text.lastIndex(of: ":"), colons == 1 || text[..<end].hasSuffix("]") {
            host = text[..<end]
            port = text[text.index(after: end)...]
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard let number = Self.number(port, UInt16.self) else { return nil }
        switch host.lowercased() {
        case "localhost": self.init(host: "127.0.0.1", port: number)
        case "::1": self.init(host: "::1", port: number)
        case let other where Self.isLoopback(other): self.init(host: other, port: number)
        default: return nil
        }
    }

    /// `127.0.0.1:8080`, `[::1]:8080`.
    public var description: String { "\(Self.bracketed(host)):\(port)" }

    /// What a client that means this server may write as `Host`.
    var hosts: [String] {
        ["\(Self.bracketed(host)):\(port)", "localhost:\(port)"]
            + (port == 80 ? [Self.bracketed(host), "localhost"] : [])
    }

    private static func bracketed(_ host: String) -> String {
        host.contains(":") ? "[\(host)]" : host
    }

    /// 127.0.0.0/8. Source: RFC 1122, section 3.2.1.3.
    private static func isLoopback(_ host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127"
            && parts.allSatisfy { number($0, UInt8.self) != nil }
    }

    /// A number without a sign, spaces or leading zeros: other parsers read those differently.
    private static func number<N: FixedWidthInteger>(_ text: Substring, _ type: N.Type) -> N? {
        guard let number = N(text), "\(number)" == text else { return nil }
        return number
    }
}
