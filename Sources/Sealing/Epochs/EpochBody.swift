public import ParleyWire

/// An epoch's entry for one device: the seed, sealed to its leaf.
public struct EpochEntry: Hashable, Sendable {
    /// How many bytes it has in an epoch.
    public static let byteCount = LeafID.byteCount + sealedSeedByteCount
    /// A seed and its tag.
    static let sealedSeedByteCount = 48

    /// Whose leaf it is sealed to.
    public let leaf: LeafID
    /// The sealed seed: 48 bytes.
    public let sealedSeed: [UInt8]

    init(leaf: LeafID, sealedSeed: [UInt8]) {
        self.leaf = leaf
        self.sealedSeed = sealedSeed
    }
}

/// The payload of an epoch's operation, of kind 7 in lane 0.
///
/// `u8 1 ‖ u8 suite ‖ ephemeral[32] ‖ seed commitment[32]
/// ‖ new leaf[32] ‖ roster digest[32] ‖ u16 n ‖ n × (leaf id[8] ‖ sealed seed[48])`,
/// entries strictly ascending by leaf. Everybody can read it; only the holders of the leaves can
/// open what it seals.
/// Source: `Protocol/09-epochs.md`, "Bytes".
public struct EpochBody: Hashable, Sendable {
    /// X25519, ChaCha20-Poly1305, BLAKE2b: the only suite there is.
    public static let suite: UInt8 = 1
    static let version: UInt8 = 1
    /// All before the first entry.
    static let headByteCount = 132

    /// The public half of the key that the seed was sealed with, used for this epoch alone.
    public let ephemeral: LeafKey
    /// Binds every entry to one seed.
    public let seedCommitment: Digest
    /// The author's leaf from here on.
    public let newLeaf: LeafKey
    /// The roster that the epoch is for.
    public let rosterDigest: Digest
    /// One for each device of the roster but the author's, strictly ascending by leaf.
    public let entries: [EpochEntry]

    init(
        ephemeral: LeafKey, seedCommitment: Digest, newLeaf: LeafKey, rosterDigest: Digest,
        entries: [EpochEntry]
    ) {
        self.ephemeral = ephemeral
        self.seedCommitment = seedCommitment
        self.newLeaf = newLeaf
        self.rosterDigest = rosterDigest
        self.entries = entries.sorted { $0.leaf < $1.leaf }
    }

    /// Reads an epoch's payload. Whether it fits its roster is judged where that is known.
    public init(bytes: [UInt8]) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        let version = try reader.byte()
        guard version == Self.version else { throw .unknownVersion(version) }
        let suite = try reader.byte()
        guard suite == Self.suite else { throw .unknownVersion(suite) }
        ephemeral = try reader.identifier()
        seedCommitment = try reader.identifier()
        newLeaf = try reader.identifier()
        rosterDigest = try reader.identifier()
        let count = Int(try reader.uint16())
        guard count < Limits.deviceCountMax else {
            throw .tooLarge(
                field: "entries", value: UInt64(count), limit: UInt64(Limits.deviceCountMax - 1))
        }
        guard reader.remaining >= count * EpochEntry.byteCount else { throw .truncated }
        var entries: [EpochEntry] = []
        entries.reserveCapacity(count)
        for _ in 0..<count {
            let leaf = LeafID(try reader.uint64())
            if let last = entries.last, last.leaf >= leaf { throw .unsorted(field: "entries") }
            entries.append(
                EpochEntry(
                    leaf: leaf,
                    sealedSeed: Array(try reader.slice(EpochEntry.sealedSeedByteCount))))
        }
        try reader.finish()
        self.entries = entries
    }

    /// The payload.
    public var bytes: [UInt8] {
        var writer = ByteWriter(
            capacity: Self.headByteCount + entries.count * EpochEntry.byteCount)
        writer.byte(Self.version)
        writer.byte(Self.suite)
        writer.identifier(ephemeral)
        writer.identifier(seedCommitment)
        writer.identifier(newLeaf)
        writer.identifier(rosterDigest)
        writer.uint16(UInt16(entries.count))
        for entry in entries {
            writer.uint64(entry.leaf.value)
            writer.raw(entry.sealedSeed)
        }
        return writer.bytes
    }

    /// The entry for this leaf of this device, or nil.
    public func entry(for leaf: LeafKey, of device: DeviceID) -> EpochEntry? {
        let id = LeafID(device: device, leaf: leaf)
        return entries.first { $0.leaf == id }
    }
}
