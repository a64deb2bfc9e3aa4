public import ParleyWire

/// The secret from which every key of an epoch is derived. Anybody who holds it can open the whole
/// epoch, so it is kept no longer than until its chains are made.
///
/// Source: `Protocol/09-epochs.md`, "Keys".
public struct EpochSeed: Equatable, Sendable {
    /// The 32 bytes: what the vault keeps.
    public let secret: Secret
    /// The space; a seed means nothing in another.
    public let space: SpaceID

    /// A seed that was kept.
    public init(_ secret: Secret, space: SpaceID) {
        precondition(secret.count == 32, "a seed has 32 bytes")
        self.secret = secret
        self.space = space
    }

    /// The epoch's public commitment to its seed.
    var commitment: Digest {
        let bytes = derive(key: secret, .epochCommitment, context: space.bytes)
        return Digest { $0.copyBytes(from: bytes) }
    }

    /// The chain of this device at its first step.
    public func chain(of device: DeviceID) -> Chain {
        Chain(
            key: deriveWiped(key: secret, .epochChain, context: space.bytes + device.bytes))
    }

    /// The keys that everyone of the epoch shares as long as it lives.
    public var keys: EpochKeys {
        EpochKeys(
            envelopes: deriveSecret(key: secret, .epochEnvelopes, context: space.bytes),
            mailboxes: deriveSecret(key: secret, .epochMailboxes, context: space.bytes))
    }
}

/// The keys of an epoch that are no chain: who steals them learns who sent how much, and no word.
public struct EpochKeys: Equatable, Sendable {
    /// The key of the outer layer of its envelopes.
    public let envelopes: Secret
    /// The secret of its mailboxes.
    public let mailboxes: Secret

    /// Keys that were kept.
    public init(envelopes: Secret, mailboxes: Secret) {
        self.envelopes = envelopes
        self.mailboxes = mailboxes
    }

    /// The drop of a day, counted from 1970 by the relay, with the key that everybody in the epoch
    /// reads and writes it with. At another relay it has another name: two relays that compare what
    /// they store cannot tell that the two belong together.
    public func drop(
        at relay: NoiseKey, ofDay day: RelayDay
    ) -> (id: MailboxID, key: DeviceSigningKey) {
        var context = ByteWriter(capacity: 36)
        context.identifier(relay)
        context.uint32(day)
        let key = DeviceSigningKey(
            seed: deriveSecret(key: mailboxes, .mailboxSeed, context: context.bytes))
        return (MailboxID(drop: key.device), key)
    }
}

/// The kind of a mailbox is part of its name, so that a holder of its key cannot make it anything
/// else.
/// Source: `Protocol/06-relay.md`, "Mailboxes".
extension Identifier where Subject == MailboxSubject {
    /// The mailbox that is shared by all who hold the private half of this key.
    public init(drop key: DeviceID) {
        self = digest(.dropMailbox) { $0.update(key) }
    }

    /// The inbox of the one device that holds the private half of this key.
    public init(inbox key: DeviceID) {
        self = digest(.inboxMailbox) { $0.update(key) }
    }

    /// The shelf of the one device that holds the private half of this key.
    public init(shelf key: DeviceID) {
        self = digest(.shelfMailbox) { $0.update(key) }
    }
}

extension Identifier where Subject == WriterSubject {
    /// The name under which a relay knows this key.
    public init(key: DeviceID) {
        self = digest(.mailboxWriter) { $0.update(key) }
    }
}
