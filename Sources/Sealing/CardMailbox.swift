public import ParleyWire

/// A relay that a device reads, and its inbox there with the right to write into it.
///
/// `relay's key[32] ‖ addresses ‖ inbox[32] ‖ seed of the writer's key[32]`; the addresses after
/// their count, each after its length. Source: `Protocol/05-identity.md`, "Cards".
public struct CardMailbox: Hashable, Sendable {
    /// The most mailboxes of a device.
    public static let countMax = 4
    /// The most addresses of one relay on a card.
    public static let addressCountMax = 4

    /// The relay's key.
    public let relay: NoiseKey
    /// Where the relay is, as `host:port`; the best first.
    public let addresses: [String]
    /// The device's inbox there.
    public let inbox: MailboxID
    /// What the key grows from that may write into the inbox, and call its owner.
    public let writerSeed: Digest

    /// A mailbox with these fields; of the addresses those that are sound.
    public init(relay: NoiseKey, addresses: [String], inbox: MailboxID, writerSeed: Digest) {
        self.relay = relay
        self.addresses = Array(
            addresses.filter { CardPart.isSound(Array($0.utf8)) }.prefix(Self.addressCountMax))
        self.inbox = inbox
        self.writerSeed = writerSeed
    }

    /// The same mailbox, with its relay called at other places.
    public func called(at addresses: [String]) -> CardMailbox {
        CardMailbox(relay: relay, addresses: addresses, inbox: inbox, writerSeed: writerSeed)
    }

    /// The key that may write into the inbox.
    public var writer: DeviceSigningKey { DeviceSigningKey(seed: Secret(writerSeed.bytes)) }

    func write(to writer: inout ByteWriter) {
        writer.identifier(relay)
        writer.number(UInt64(addresses.count))
        for address in addresses { writer.counted(Array(address.utf8)) }
        writer.identifier(inbox)
        writer.identifier(writerSeed)
    }

    private init(from reader: inout ByteReader) throws(DecodingFailure) {
        relay = try reader.identifier()
        var addresses: [String] = []
        for _ in 0..<(try reader.count("relay addresses", atMost: Self.addressCountMax)) {
            let count = try reader.count("relay address", atMost: CardPart.addressByteCountMax)
            let address = Array(try reader.slice(count))
            guard CardPart.isSound(address) else { throw .forbidden(field: "relay address") }
            addresses.append(String(decoding: address, as: UTF8.self))
        }
        self.addresses = addresses
        inbox = try reader.identifier()
        writerSeed = try reader.identifier()
    }

    /// The mailboxes of a card's part; no relay stands there twice.
    static func list(from reader: inout ByteReader) throws(DecodingFailure) -> [CardMailbox] {
        var mailboxes: [CardMailbox] = []
        for _ in 0..<(try reader.count("mailboxes", atMost: countMax)) {
            let mailbox = try CardMailbox(from: &reader)
            guard !mailboxes.contains(where: { $0.relay == mailbox.relay }) else {
                throw .forbidden(field: "mailboxes")
            }
            mailboxes.append(mailbox)
        }
        return mailboxes
    }
}

/// The keys of a device's inbox on one relay. They grow from one secret of the device, so that
/// nothing more is to be kept for each relay. Source: `Protocol/06-relay.md`, "Inboxes".
public struct InboxKeys: Sendable {
    /// Reads, deletes, and says who may write.
    public let owner: DeviceSigningKey

    /// The keys on this relay.
    ///
    /// - Parameter secret: 32 bytes that the device alone has.
    public init(secret: Secret, relay: NoiseKey) {
        owner = DeviceSigningKey(
            seed: deriveSecret(key: secret, .inboxOwner, context: relay.bytes))
    }

    /// The inbox.
    public var inbox: MailboxID { MailboxID(inbox: owner.device) }

    /// The inbox as a card shows it, with the right to write into it.
    public func shown(
        on relay: NoiseKey, at addresses: [String], to writer: InboxWriter
    ) -> CardMailbox {
        CardMailbox(relay: relay, addresses: addresses, inbox: inbox, writerSeed: writer.seed)
    }
}

/// A right to write into a device's inbox on one relay, and to call the device through it. It is
/// derived from a secret that is renewed now and then, so that no right lasts.
public struct InboxWriter: Sendable {
    /// Signs what is put.
    public let key: DeviceSigningKey
    fileprivate let seed: Digest

    /// The right on this relay.
    ///
    /// - Parameter secret: 32 bytes that the device alone has.
    public init(secret: Secret, relay: NoiseKey) {
        let bytes = derive(key: secret, .inboxWriter, context: relay.bytes)
        seed = Digest { $0.copyBytes(from: bytes) }
        key = DeviceSigningKey(seed: Secret(bytes))
    }

    /// By what the relay knows the right.
    public var name: WriterID { WriterID(key: key.device) }
}
