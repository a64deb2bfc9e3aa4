public import ParleyWire

/// Where an epoch's operation is: if anything of it changed, no entry of the epoch would open.
public struct EpochPlace: Hashable, Sendable {
    /// The space.
    public let space: SpaceID
    /// Who mints it.
    public let author: DeviceID
    /// Its place in the author's lane-0 log, from 0.
    public let sequence: UInt64
    /// The operation before it in that log; the log's own name at place 0.
    public let previous: OperationID
    /// The causes that its header names, as they stand there.
    let dependencies: [UInt8]

    /// The place of an operation with these coordinates.
    public init(
        space: SpaceID, author: DeviceID, sequence: UInt64, previous: OperationID,
        dependencies: [OperationReference]
    ) {
        var writer = ByteWriter(capacity: 1 + dependencies.count * 32)
        writer.references(dependencies)
        self.init(
            space: space, author: author, sequence: sequence, previous: previous,
            dependencyBytes: writer.bytes)
    }

    init(
        space: SpaceID, author: DeviceID, sequence: UInt64, previous: OperationID,
        dependencyBytes: [UInt8]
    ) {
        self.space = space
        self.author = author
        self.sequence = sequence
        self.previous = previous
        dependencies = dependencyBytes
    }
}

/// A device that an epoch is sealed to, and its leaf.
public struct EpochRecipient: Hashable, Sendable {
    /// The device.
    public let device: DeviceID
    /// Its leaf in the epoch's past.
    public let leaf: LeafKey

    /// A recipient with these keys.
    public init(device: DeviceID, leaf: LeafKey) {
        self.device = device
        self.leaf = leaf
    }
}

/// Why an epoch gives its reader no seed. Never carries keys.
public enum EpochFailure: Error, Equatable, Sendable {
    /// It has no entry for this leaf.
    case notAddressed
    /// Its ephemeral key, or a leaf to seal to, is of small order.
    case unsoundKey
    /// The entry was sealed to another leaf, in another place, or is garbage.
    case brokenSeal
    /// The entry holds another seed than the epoch commits to.
    case otherSeed
}

/// What minting gives: the payload to publish, and what must be stored before that.
public struct MintedEpoch: Sendable {
    /// The payload.
    public let body: EpochBody
    /// What every chain and key of the epoch comes from.
    public let seed: EpochSeed
    /// The author's new leaf.
    public let leaf: PrivateLeaf
}

extension EpochBody {
    /// Mints an epoch: a fresh seed sealed to every recipient, and a new leaf of the author.
    ///
    /// - Parameters:
    ///   - recipients: every device of the roster but the author, with its leaf.
    ///   - hedge: a secret of this device alone: a source of randomness that fails or repeats
    ///     tells nobody the seed.
    /// - Throws: ``EpochFailure/unsoundKey`` where nothing can be sealed to a recipient's leaf.
    public static func mint(
        at place: EpochPlace, roster: Digest, recipients: [EpochRecipient], hedge: Secret,
        using random: inout some RandomNumberGenerator
    ) throws(EpochFailure) -> MintedEpoch {
        let fresh = WipedBytes(byteCount: 32) { random.fill($0) }
        var context = hedge.withUnsafeBytes { Array($0) }
        withUnsafeBytes(of: place.sequence.bigEndian) { context += $0 }
        place.previous.withUnsafeBytes { context += $0 }
        defer { context.wipe() }
        let seed = EpochSeed(
            deriveSecret(key: fresh, .epochSeed, context: context), space: place.space)
        let ephemeral = PrivateLeaf.generate(using: &random)
        let leaf = PrivateLeaf.generate(using: &random)
        let body = try seal(
            seed, ephemeral: ephemeral, newLeaf: leaf.publicKey, at: place, roster: roster,
            recipients: recipients)
        return MintedEpoch(body: body, seed: seed, leaf: leaf)
    }

    /// The epoch that says this seed.
    static func seal(
        _ seed: EpochSeed, ephemeral: PrivateLeaf, newLeaf: LeafKey, at place: EpochPlace,
        roster: Digest, recipients: [EpochRecipient]
    ) throws(EpochFailure) -> EpochBody {
        let bare = EpochBody(
            ephemeral: ephemeral.publicKey, seedCommitment: seed.commitment, newLeaf: newLeaf,
            rosterDigest: roster, entries: [])
        let context = bare.context(at: place)
        var plaintext = seed.secret.withUnsafeBytes { Array($0) }
        defer { plaintext.wipe() }
        var entries: [EpochEntry] = []
        entries.reserveCapacity(recipients.count)
        for recipient in recipients {
            guard let shared = ephemeral.agree(with: recipient.leaf) else {
                throw .unsoundKey
            }
            let leaf = LeafID(device: recipient.device, leaf: recipient.leaf)
            entries.append(
                EpochEntry(
                    leaf: leaf,
                    sealedSeed: ChaCha.seal(
                        plaintext, key: bare.sealKey(shared, context, recipient),
                        nonce: Self.onlyNonce, authenticating: Self.bound(context, leaf))))
        }
        return EpochBody(
            ephemeral: ephemeral.publicKey, seedCommitment: seed.commitment, newLeaf: newLeaf,
            rosterDigest: roster, entries: entries)
    }

    /// The seed, as this device's leaf opens it.
    public func open(
        at place: EpochPlace, as device: DeviceID, with leaf: PrivateLeaf
    ) throws(EpochFailure) -> EpochSeed {
        guard let entry = entry(for: leaf.publicKey, of: device) else { throw .notAddressed }
        guard let shared = leaf.agree(with: ephemeral) else { throw .unsoundKey }
        let context = context(at: place)
        let recipient = EpochRecipient(device: device, leaf: leaf.publicKey)
        guard
            var opened = ChaCha.open(
                entry.sealedSeed, key: sealKey(shared, context, recipient), nonce: Self.onlyNonce,
                authenticating: Self.bound(context, entry.leaf))
        else { throw .brokenSeal }
        defer { opened.wipe() }
        let seed = EpochSeed(Secret(opened), space: place.space)
        guard seed.commitment == seedCommitment else { throw .otherSeed }
        return seed
    }

    /// Whether this is an epoch for exactly this roster, by what everybody can see.
    ///
    /// - Parameters:
    ///   - roster: the digest of the roster in the epoch's past.
    ///   - recipients: every device of that roster but the author, with its leaf there.
    ///   - formerLeaves: every leaf of the author in the epoch's past.
    public func fits(
        roster: Digest, recipients: [EpochRecipient], formerLeaves: [LeafKey]
    ) -> Bool {
        guard rosterDigest == roster, entries.count == recipients.count else { return false }
        let leaves = recipients.map { LeafID(device: $0.device, leaf: $0.leaf) }.sorted()
        guard entries.map(\.leaf) == leaves else { return false }
        return !formerLeaves.contains(newLeaf) && newLeaf.isSound && ephemeral.isSound
    }

    // Every key seals once: its ephemeral half was made for this epoch and this leaf.
    private static let onlyNonce = [UInt8](repeating: 0, count: ChaCha.nonceByteCount)

    /// `H("lp1/ep/ctx", …)`: all that the seals are bound to, but the entries themselves.
    func context(at place: EpochPlace) -> Digest {
        let dependencies: Digest = digest(.epochDependencies, place.dependencies)
        return digest(.epochContext) { hash in
            hash.update(place.space)
            hash.update(place.author)
            hash.update(place.sequence)
            hash.update(place.previous)
            hash.update(Self.suite)
            hash.update(ephemeral)
            hash.update(seedCommitment)
            hash.update(newLeaf)
            hash.update(rosterDigest)
            hash.update(dependencies)
        }
    }

    func sealKey(
        _ shared: WipedBytes, _ context: Digest, _ recipient: EpochRecipient
    ) -> WipedBytes {
        var writer = ByteWriter(capacity: 128)
        writer.identifier(context)
        writer.identifier(ephemeral)
        writer.identifier(recipient.device)
        writer.identifier(recipient.leaf)
        return deriveWiped(key: shared, .epochSeal, context: writer.bytes)
    }

    private static func bound(_ context: Digest, _ leaf: LeafID) -> [UInt8] {
        var writer = ByteWriter(capacity: 40)
        writer.identifier(context)
        writer.uint64(leaf.value)
        return writer.bytes
    }
}
