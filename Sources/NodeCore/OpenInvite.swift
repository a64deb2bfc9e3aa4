public import ParleyLedger
public import ParleyWire

/// An invite that this node gave out.
public struct OpenInvite: Equatable, Sendable {
    /// What the link holds and nobody else knows.
    public let secret: [UInt8]
    /// When it was opened, in Unix milliseconds.
    public let opened: UInt64
    /// When it ends, in Unix milliseconds.
    public let expires: UInt64
    /// How many persons may take it.
    public let useCountMax: Int
    /// Who took it. Somebody who comes again, since the answer was lost, takes nothing more.
    public internal(set) var guests: [PersonID] = []

    /// An invite that nobody took yet.
    init(secret: [UInt8], opened: UInt64, expires: UInt64, useCountMax: Int) {
        self.secret = secret
        self.opened = opened
        self.expires = expires
        self.useCountMax = useCountMax
    }

    /// Its name among those of this node: the first bytes of a hash of its secret.
    public var number: UInt64 { Invite.hash(of: secret) }

    /// Whether one more person may take it.
    func isOpen(at wall: UInt64) -> Bool { wall < expires && guests.count < useCountMax }

    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        do {
            secret = Array(try reader.slice(Invite.secretByteCount))
            opened = try reader.uint64()
            expires = try reader.uint64()
            useCountMax = try reader.count("uses", atMost: Limits.inviteUseCountMax)
            for _ in 0..<(try reader.count("guests", atMost: Limits.inviteUseCountMax)) {
                guests.append(try reader.identifier())
            }
            try reader.finish()
        } catch {
            return nil
        }
    }

    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.raw(secret)
        writer.uint64(opened)
        writer.uint64(expires)
        writer.number(UInt64(useCountMax))
        writer.number(UInt64(guests.count))
        for guest in guests { writer.identifier(guest) }
        return writer.bytes
    }

    static func key(_ hash: UInt64) -> [UInt8] {
        var writer = ByteWriter()
        writer.uint64(hash)
        return writer.bytes
    }

    /// Every invite that somebody may still take, the one opened last first.
    public static func all(
        at wall: UInt64, _ store: some NodeStore
    ) throws(StoreError) -> [OpenInvite] {
        try store.values(.invite).compactMap { OpenInvite($0.value) }
            .filter { $0.isOpen(at: wall) }
            .sorted { ($1.opened, $1.number) < ($0.opened, $0.number) }
    }
}

/// An invite of somebody else that this node has taken and not yet presented.
struct PendingInvite {
    let secret: [UInt8]
    let alias: String

    init(secret: [UInt8], alias: String) {
        self.secret = secret
        self.alias = alias
    }

    init?(_ bytes: [UInt8]) {
        guard bytes.count >= Invite.secretByteCount else { return nil }
        secret = Array(bytes.prefix(Invite.secretByteCount))
        alias = String(decoding: bytes.dropFirst(Invite.secretByteCount), as: UTF8.self)
    }

    var bytes: [UInt8] { secret + alias.utf8 }
}
