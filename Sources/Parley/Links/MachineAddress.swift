import Glibc

/// The address of a machine, as a name resolves to it.
enum MachineAddress: Hashable, Sendable, CustomStringConvertible {
    case v4([UInt8])
    case v6([UInt8])

    /// Networks that no public page is in, by RFC 6890 and later: own machines, own networks, those
    /// for documentation, and multicast.
    private static let closed4: [(UInt32, Int)] = [
        (0x0000_0000, 8), (0x0A00_0000, 8), (0x6440_0000, 10), (0x7F00_0000, 8), (0xA9FE_0000, 16),
        (0xAC10_0000, 12), (0xC000_0000, 24), (0xC000_0200, 24), (0xC058_6300, 24),
        (0xC0A8_0000, 16), (0xC612_0000, 15), (0xC633_6400, 24), (0xCB00_7100, 24),
        (0xE000_0000, 4), (0xF000_0000, 4),
    ]
    /// Of the one part of IPv6 that is for everybody: tunnels, which lead to an address of version 4 that
    /// is not looked at, and examples.
    private static let closed6: [(UInt32, Int)] = [
        (0x2001_0000, 23), (0x2001_0DB8, 32), (0x2002_0000, 16), (0x3FFF_0000, 20),
    ]

    /// An address in its usual form: four decimal numbers, or hex in groups.
    init?(_ text: String) {
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &bytes) == 1 {
            self = .v4(Array(bytes.prefix(4)))
        } else if inet_pton(AF_INET6, text, &bytes) == 1 {
            self = .v6(bytes)
        } else {
            return nil
        }
    }

    /// Whether it may be that of a machine that everybody reaches.
    var isPublic: Bool {
        switch self {
        case .v4(let bytes): !Self.holds(Self.closed4, Self.start(bytes))
        // Everything else, addresses of version 4 in another form among it, is for something else.
        case .v6(let bytes): bytes[0] >> 5 == 1 && !Self.holds(Self.closed6, Self.start(bytes))
        }
    }

    private static func start(_ bytes: [UInt8]) -> UInt32 {
        bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func holds(_ networks: [(UInt32, Int)], _ address: UInt32) -> Bool {
        networks.contains { network, bitCount in (address ^ network) >> UInt32(32 - bitCount) == 0 }
    }

    var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        switch self {
        case .v4(let bytes): inet_ntop(AF_INET, bytes, &text, socklen_t(text.count))
        case .v6(let bytes): inet_ntop(AF_INET6, bytes, &text, socklen_t(text.count))
        }
        return String(
            decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The addresses of a name, in the order in which this machine would try them. It blocks.
    static func resolve(_ name: String) -> [MachineAddress] {
        var wish = addrinfo()
        wish.ai_socktype = Int32(SOCK_STREAM.rawValue)
        wish.ai_flags = AI_ADDRCONFIG
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, &wish, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var found: [MachineAddress] = []
        var next = list
        while let entry = next, found.count < 16 {
            if let address = address(of: entry.pointee), !found.contains(address) {
                found.append(address)
            }
            next = entry.pointee.ai_next
        }
        return found
    }

    private static func address(of entry: addrinfo) -> MachineAddress? {
        guard let raw = UnsafeRawPointer(entry.ai_addr) else { return nil }
        switch entry.ai_family {
        case AF_INET:
            let address = raw.loadUnaligned(as: sockaddr_in.self).sin_addr
            return .v4(withUnsafeBytes(of: address) { Array($0) })
        case AF_INET6:
            let address = raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr
            return .v6(withUnsafeBytes(of: address) { Array($0) })
        default: return nil
        }
    }
}
