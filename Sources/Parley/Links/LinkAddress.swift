import ParleyWire

/// Why a page is not looked at, or gave nothing.
enum LinkFailure: Error, Equatable {
    /// An address that is not one of a page, or has a user name, a port or a form that is not
    /// accepted.
    case badAddress
    /// It lies on this machine, in an own network, or nowhere that everybody reaches.
    case notPublic
    case noSuchName
    case noProgram
    case unreachable
    case tooManyRedirects
    /// It is of another type, or larger, than accepted.
    case notTaken
    /// It says nothing of itself.
    case nothingSaid
}

/// The parsed address of a page: requests are built from its parts.
struct LinkAddress: Equatable, Sendable {
    /// Names that lead into the local network.
    private static let localEndings = [
        "localhost", "local", "internal", "intranet", "lan", "home", "corp", "private", "arpa",
        "onion", "test", "invalid",
    ]
    private static let safe = Set("-._~!$&'()*+,;=:@/?%[]|".utf8)

    let isSecure: Bool
    /// A name in small letters, or the text of a machine's address.
    let host: String
    /// The machine, where the address names one itself.
    let machine: MachineAddress?
    let port: UInt16
    /// With its slash, and the query.
    let path: String

    /// Parses an address strictly: one that two parsers could read differently is refused.
    init(_ text: String) throws(LinkFailure) {
        guard text.utf8.count <= Limits.linkAddressByteCountMax,
            let mark = text.firstRange(of: "://")
        else { throw .badAddress }
        switch text[..<mark.lowerBound].lowercased() {
        case "https": isSecure = true
        case "http": isSecure = false
        default: throw .badAddress
        }
        let rest = text[mark.upperBound...]
        let end = rest.firstIndex { "/?#\\".contains($0) } ?? rest.endIndex
        let (host, machine, port) = try Self.place(rest[..<end])
        (self.host, self.machine) = (host, machine)
        self.port = port ?? (isSecure ? 443 : 80)
        let tail = rest[end...].prefix { $0 != "#" }
        path = try Self.written(tail.hasPrefix("/") ? tail : "/" + tail)
    }

    private static func place(
        _ text: Substring
    ) throws(LinkFailure) -> (String, MachineAddress?, UInt16?) {
        var (name, rest) = (text, Substring())
        if text.hasPrefix("[") {
            guard let close = text.firstIndex(of: "]") else { throw .badAddress }
            name = text[text.index(after: text.startIndex)..<close]
            rest = text[text.index(after: close)...]
        } else if let colon = text.firstIndex(of: ":") {
            (name, rest) = (text[..<colon], text[colon...])
        }
        var port: UInt16?
        if !rest.isEmpty {
            guard rest.hasPrefix(":"), rest.dropFirst().allSatisfy({ ("0"..."9").contains($0) }),
                let number = UInt16(rest.dropFirst()), number > 0
            else { throw .badAddress }
            port = number
        }
        if text.hasPrefix("[") {
            guard name.contains(":"), let machine = MachineAddress(String(name)) else {
                throw .badAddress
            }
            return ("[\(machine)]", machine, port)
        }
        let host = name.lowercased()
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        // What ends in a number is read as the number of a machine, in forms that not all know.
        guard let last = labels.last, labels.allSatisfy(isLabel), host.utf8.count <= 253 else {
            throw .badAddress
        }
        if last.allSatisfy(\.isNumber) || last.hasPrefix("0x") {
            guard let machine = MachineAddress(host), case .v4 = machine else { throw .badAddress }
            return (host, machine, port)
        }
        guard labels.count > 1, !localEndings.contains(String(last)) else { throw .notPublic }
        return (host, nil, port)
    }

    private static func isLabel(_ label: Substring) -> Bool {
        (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
            && label.utf8.allSatisfy {
                (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D || $0 == 0x5F
            }
    }

    /// A path in letters that mean the same to everybody.
    private static func written(_ path: Substring) throws(LinkFailure) -> String {
        var bytes: [UInt8] = []
        for byte in path.utf8 {
            // A line's end, a backslash and their like are in no honest address.
            guard byte > 0x20, byte != 0x7F, byte != 0x5C else { throw .badAddress }
            let isLetter =
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
                || (0x61...0x7A).contains(byte)
            if isLetter || safe.contains(byte) {
                bytes.append(byte)
            } else {
                let digits = Array("0123456789ABCDEF".utf8)
                bytes += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        guard bytes.count <= 3 * Limits.linkAddressByteCountMax else { throw .badAddress }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The whole, as it is fetched.
    var text: String { "\(isSecure ? "https" : "http")://\(host):\(port)\(path)" }

    /// Where a page leads to: another address, or one beside it.
    func resolving(_ reference: String) throws(LinkFailure) -> LinkAddress {
        let whole: String
        if reference.hasPrefix("//") {
            whole = (isSecure ? "https:" : "http:") + reference
        } else if reference.hasPrefix("/") {
            whole = "\(isSecure ? "https" : "http")://\(host):\(port)\(reference)"
        } else if reference.contains("://") {
            whole = reference
        } else if reference.contains(":") {
            throw .badAddress
        } else {
            let start = path.prefix { $0 != "?" }
            let folder = start[...(start.lastIndex(of: "/") ?? start.startIndex)]
            whole = "\(isSecure ? "https" : "http")://\(host):\(port)\(folder)\(reference)"
        }
        let next = try LinkAddress(whole)
        // A secure connection stays secure.
        guard next.isSecure || !isSecure else { throw .badAddress }
        return next
    }
}
