public import ParleyWire

/// The name of a node on a local network for a while: it identifies the device only to holders of
/// its card.
public struct LocalName: Equatable, Sendable {
    /// How many bytes a salt and a tag have each.
    public static let byteCount = 8
    /// Renewed again and again.
    public let salt: [UInt8]
    /// What a holder of the card can compute from the salt.
    public let tag: [UInt8]

    /// The name of these parts, each of 8 bytes.
    public init?(salt: [UInt8], tag: [UInt8]) {
        guard salt.count == Self.byteCount, tag.count == Self.byteCount else { return nil }
        self.salt = salt
        self.tag = tag
    }
}

/// Somebody on a local network.
public struct Neighbour: Equatable, Sendable {
    /// Their present names.
    public let name: LocalName
    /// The port that they listen on.
    public let port: UInt16

    /// A neighbour with this name.
    public init(name: LocalName, port: UInt16) {
        self.name = name
        self.port = port
    }
}

/// Nodes on a local network find each other, as a value: datagrams and the time in; datagrams to
/// send, and neighbours, out. It knows no socket, no clock and no key.
///
/// It queries at the start and then ever more rarely; announces itself at the start, when its name
/// changes and when somebody queries, at most once a second; and withdraws its name at the end.
/// Source: `Protocol/04-links.md`, "Neighbours".
public struct Neighbourhood: Sendable {
    /// A datagram to everybody on the network, or from there.
    public enum Event: Equatable, Sendable {
        /// Send this to the group. The address of where it goes out stands for the four zeros of
        /// its address record: ``DNSMessage/Content/address(_:)``.
        case send(DNSMessage)
        /// A neighbour is present.
        case heard(Neighbour)
    }

    /// What nodes are asked for by.
    public static let service = DNSMessage.Name("_parley._tcp.local")
    /// The lifetime of an announced name, in milliseconds.
    public static let nameLifetime: UInt64 = 15 * 60_000
    /// Milliseconds between two questions, at first and at most.
    static let askInterval: ClosedRange<UInt64> = 1_000...300_000
    /// The least time between announcements, in milliseconds.
    static let tellInterval: UInt64 = 1_000
    /// The least time between reports of one neighbour, in milliseconds.
    static let hearInterval: UInt64 = 30_000
    /// How many neighbours are reported in that time; more were made up.
    static let neighbourCountMax = 64
    private static let longLifetime: UInt32 = 4_500
    private static let shortLifetime: UInt32 = 120

    private let port: UInt16?
    private var name: LocalName
    private var askAt: UInt64
    private var askDelay = Self.askInterval.lowerBound
    private var tellAt: UInt64?
    private var toldAt: UInt64?
    /// The heard neighbours, and when.
    private var heardAt: [[UInt8]: UInt64] = [:]

    /// Somebody who listens on a port, or nowhere.
    ///
    /// - Parameters:
    ///   - port: nil for who listens nowhere: they ask and tell nothing.
    ///   - now: milliseconds of a clock that never goes back.
    public init(port: UInt16?, name: LocalName, at now: UInt64) {
        self.port = port
        self.name = name
        askAt = now
        tellAt = port == nil ? nil : now
    }

    /// When ``tick(at:)`` is to be called next.
    public var nextDue: UInt64 { min(askAt, tellAt ?? .max) }

    /// Does what is due.
    public mutating func tick(at now: UInt64) -> [Event] {
        var events: [Event] = []
        if now >= askAt {
            events.append(
                .send(
                    DNSMessage(
                        isResponse: false,
                        questions: [
                            .init(Self.service, type: DNSMessage.Content.pointer(Self.service).type)
                        ])))
            askAt = now + askDelay
            askDelay = min(askDelay * 2, Self.askInterval.upperBound)
        }
        if let due = tellAt, now >= due {
            events += announcement(lifetime: nil)
            tellAt = nil
            toldAt = now
        }
        return events
    }

    /// Is called otherwise from now on; the name before is taken back.
    public mutating func rename(_ name: LocalName, at now: UInt64) -> [Event] {
        let farewell = farewell()
        self.name = name
        tellSoon(at: now)
        return farewell
    }

    /// The network has changed: queries and announces again.
    public mutating func moved(at now: UInt64) {
        askAt = now
        askDelay = Self.askInterval.lowerBound
        tellSoon(at: now)
    }

    /// What is to be sent at the end.
    public func farewell() -> [Event] { announcement(lifetime: 0) }

    /// Who listens nowhere has nothing to tell.
    private mutating func tellSoon(at time: UInt64) {
        if port != nil { tellAt = time }
    }

    /// Takes a datagram that came.
    public mutating func receive(_ message: DNSMessage, at now: UInt64) -> [Event] {
        guard message.isResponse else {
            let isMeant = message.questions.contains { $0.name == Self.service }
            if isMeant { answer(at: now) }
            return []
        }
        var heard: [Event] = []
        for record in message.records where record.name == Self.service && record.lifetime > 0 {
            guard case .pointer(let instance) = record.content,
                let neighbour = neighbour(instance, in: message), neighbour.name != name,
                isNews(neighbour, at: now)
            else { continue }
            heard.append(.heard(neighbour))
        }
        return heard
    }

    /// Whether this was not told a moment ago: each costs who hears it a look at all cards.
    private mutating func isNews(_ neighbour: Neighbour, at now: UInt64) -> Bool {
        heardAt = heardAt.filter { now < $0.value + Self.hearInterval }
        let key = neighbour.name.salt + neighbour.name.tag
        guard heardAt[key] == nil, heardAt.count < Self.neighbourCountMax else { return false }
        heardAt[key] = now
        return true
    }

    private mutating func answer(at now: UInt64) {
        let earliest = max(now, (toldAt ?? 0) + (toldAt == nil ? 0 : Self.tellInterval))
        tellSoon(at: min(tellAt ?? .max, earliest))
    }

    private func neighbour(_ instance: DNSMessage.Name, in message: DNSMessage) -> Neighbour? {
        var port: UInt16?
        var tag: [UInt8]?
        for record in message.records where record.name == instance && record.lifetime > 0 {
            switch record.content {
            case .service(let told, _): port = told
            case .text(let texts):
                let text = texts.first { $0.starts(with: Self.tagKey) }
                tag = text.flatMap { Hexadecimal.bytes(of: $0.dropFirst(Self.tagKey.count)) }
            case .pointer, .address, .other: break
            }
        }
        guard let port, port > 0, let tag, let label = instance.labels.first,
            let salt = Hexadecimal.bytes(of: label[...]), let name = LocalName(salt: salt, tag: tag)
        else { return nil }
        return Neighbour(name: name, port: port)
    }

    private static let tagKey = Array("t=".utf8)

    private func announcement(lifetime: UInt32?) -> [Event] {
        guard let port else { return [] }
        let label = Hexadecimal.text(of: name.salt)
        let instance = DNSMessage.Name(labels: [label] + Self.service.labels)
        let host = DNSMessage.Name(labels: [label, Array("local".utf8)])
        let texts = [Array("v=1".utf8), Self.tagKey + Hexadecimal.text(of: name.tag)]
        let message = DNSMessage(
            isResponse: true,
            records: [
                .init(
                    Self.service, lifetime: lifetime ?? Self.longLifetime, isUnique: false,
                    .pointer(instance)),
                .init(
                    instance, lifetime: lifetime ?? Self.shortLifetime, isUnique: true,
                    .service(port: port, host: host)),
                .init(
                    instance, lifetime: lifetime ?? Self.longLifetime, isUnique: true,
                    .text(texts)),
                .init(
                    host, lifetime: lifetime ?? Self.shortLifetime, isUnique: true,
                    .address([0, 0, 0, 0])),
            ])
        return [.send(message)]
    }
}

/// Bytes in small hexadecimal digits.
enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    static func text(of bytes: [UInt8]) -> [UInt8] {
        bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }

    static func bytes(of text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count % 2 == 0, text.count <= 64 else { return nil }
        var bytes: [UInt8] = []
        var high: UInt8?
        for character in text {
            guard let value = digits.firstIndex(of: character).map({ UInt8($0) }) else {
                return nil
            }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return bytes
    }
}
