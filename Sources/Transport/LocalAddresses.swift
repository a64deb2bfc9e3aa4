import Glibc

/// The addresses of this machine that others might reach.
public enum LocalAddresses {
    /// Addresses of interfaces that are up, without those of this machine alone or of one cable
    /// alone; where there is no other, the loopback addresses. Ascending.
    public static func all() -> [String] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return ["127.0.0.1"] }
        defer { freeifaddrs(list) }
        var found: Set<String> = []
        var next = list
        while let entry = next {
            next = entry.pointee.ifa_next
            let flags = entry.pointee.ifa_flags
            guard flags & UInt32(IFF_UP) != 0, let address = entry.pointee.ifa_addr else {
                continue
            }
            if let text = text(of: address) { found.insert(text) }
        }
        let wide = found.filter { !$0.hasPrefix("127.") && $0 != "::1" && !$0.hasPrefix("fe80") }
        return (wide.isEmpty ? found.filter { !$0.hasPrefix("fe80") } : wide).sorted()
    }

    /// Whether only this machine itself reaches an address.
    public static func isLoopback(_ host: String) -> Bool {
        host.hasPrefix("127.") || host == "::1" || host == "localhost"
    }

    private static func text(of address: UnsafeMutablePointer<sockaddr>) -> String? {
        let length: socklen_t
        switch Int32(address.pointee.sa_family) {
        case AF_INET: length = socklen_t(MemoryLayout<sockaddr_in>.size)
        case AF_INET6: length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        default: return nil
        }
        var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let status = getnameinfo(
            address, length, &host, socklen_t(host.count), nil, 0, NI_NUMERICHOST)
        guard status == 0 else { return nil }
        let bytes = host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
