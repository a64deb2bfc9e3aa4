public import ParleyWire

/// What every key of an epoch comes from. Whoever holds it can open the whole epoch, so it is
/// kept no longer than until its chains are made.
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

    /// What the epoch says of its seed to everybody.
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

    /// The mailbox of a day, counted from 1970 by the relay, with the key that everybody of the
    /// epoch reads and writes it with.
    public func mailbox(ofDay day: RelayDay) -> (id: MailboxID, key: DeviceSigningKey) {
        var context = ByteWriter(capacity: 4)
        context.uint32(day)
        let key = DeviceSigningKey(
            seed: deriveSecret(key: mailboxes, .mailboxSeed, context: context.bytes))
        return (MailboxID(key: key.device), key)
    }
}

extension Identifier where Subject == MailboxSubject {
    /// The mailbox that belongs to whoever holds the private half of this key.
    public init(key: DeviceID) {
        self = digest(.mailbox) { $0.update(key) }
    }
}
