/// What kind of host an address names: `host:port`, or `[v6]:port`.
///
/// A card can name any host and port, and its readers call there. Only accepted persons may point
/// at this person's own machine and network.
/// Source: `Protocol/06-relay.md`, "Addresses".
enum RelayHost: Equatable {
    /// On the internet, or a name of at least two labels.
    case anywhere
    /// On this machine or its network: loopback, link-local and private addresses, `localhost`,
    /// `.local` and names of one label.
    case near
    /// Never a relay: a multicast or reserved address, no host, or an unusual spelling of an
    /// address.
    case nowhere

    /// The kind of an address.
    init(of address: String) {
        guard let colon = address.lastIndex(of: ":") else {
            self = .nowhere
            return
        }
        let host = address[..<colon]
        if host.first == "[", host.last == "]" {
            self = Self.kind(ofIPv6: Array(host.dropFirst().dropLast().utf8))
        } else if host.contains(":") {
            self = .nowhere
        } else {
            self = Self.kind(ofNamed: host)
        }
    }

    /// Whether a relay may be called there.
    func mayBeCalled(_ trust: RelayPlaces.Trust) -> Bool {
        switch (trust, self) {
        case (.own, _), (_, .anywhere), (.contact, .near): true
        case (.member, .near), (_, .nowhere): false
        }
    }

    // MARK: Names and IPv4

    private static func kind(ofNamed host: Substring) -> RelayHost {
        let labels = host.lowercased().split(separator: ".", omittingEmptySubsequences: false)
        guard let last = labels.last(where: { !$0.isEmpty }), let first = last.utf8.first else {
            return .nowhere
        }
        // Resolvers take a number at the end for an address, in spellings such as 127.1 and 0x7f.1.
        if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) {
            return ipv4(host).map { kind(ofIPv4: $0) } ?? .nowhere
        }
        let isNear =
            labels.count(where: { !$0.isEmpty }) == 1 || last == "local" || last == "localhost"
        return isNear ? .near : .anywhere
    }

    private static func ipv4(_ host: some StringProtocol) -> [UInt8]? {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var bytes: [UInt8] = []
        for part in parts {
            guard part.utf8.count <= 3, part == "0" || part.first != "0", let byte = UInt8(part)
            else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    private static func kind(ofIPv4 bytes: [UInt8]) -> RelayHost {
        switch (bytes[0], bytes[1]) {
        case (0, _), (224..., _): .nowhere
        case (10, _), (127, _), (169, 254), (172, 16...31), (192, 168), (100, 64...127): .near
        default: .anywhere
        }
    }

    // MARK: IPv6

    private static func kind(ofIPv6 text: [UInt8]) -> RelayHost {
        guard let words = words(ofIPv6: text) else { return .nowhere }
        let low = [words[6], words[7]].flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }
        if words[..<5].allSatisfy({ $0 == 0 }) {
            if words[5] == 0xffff { return kind(ofIPv4: low) }
            return words[5...] == [0, 0, 1] ? .near : .nowhere
        }
        // Translated to IPv4 on the way.
        if words[..<6] == [0x64, 0xff9b, 0, 0, 0, 0] { return kind(ofIPv4: low) }
        switch words[0] {
        case 0xff00...0xffff: return .nowhere
        case 0xfc00...0xfdff, 0xfe80...0xfeff: return .near
        default: return .anywhere
        }
    }

    private static func words(ofIPv6 text: [UInt8]) -> [UInt16]? {
        let string = String(decoding: text, as: UTF8.self)
        var groups = string.split(separator: ":", omittingEmptySubsequences: false)
            .map(String.init)[...]
        // An address of IPv4 at the end stands for two words.
        if let last = groups.last, last.contains(".") {
            guard let bytes = ipv4(last) else { return nil }
            let pair = [(bytes[0], bytes[1]), (bytes[2], bytes[3])].map {
                String(UInt16($0) << 8 | UInt16($1), radix: 16)
            }
            groups = groups.dropLast() + pair
        }
        // "::" stands once, for all words that are not there; at an end it leaves two empty groups.
        if groups.first == "", groups.dropFirst().first == "" { _ = groups.popFirst() }
        if groups.last == "", groups.dropLast().last == "" { _ = groups.popLast() }
        if let gap = groups.firstIndex(of: "") {
            guard groups.count <= 8 else { return nil }
            let zeros = [String](repeating: "0", count: 9 - groups.count)
            groups.replaceSubrange(gap...gap, with: zeros)
        }
        guard groups.count == 8 else { return nil }
        var words: [UInt16] = []
        for group in groups {
            guard (1...4).contains(group.utf8.count), let word = UInt16(group, radix: 16) else {
                return nil
            }
            words.append(word)
        }
        return words
    }
}
