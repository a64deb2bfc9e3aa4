public import ParleyWire

/// That a device is a person's, by the person's own operations.
public struct DeviceCertificate: Hashable, Sendable {
    /// The person.
    public let person: PersonID
    /// The device.
    public let device: DeviceID
    /// The key by which it is known on links.
    public let noiseKey: NoiseKey
    /// How far from the root it was added: a device may revoke those of greater rank alone.
    public let rank: Int
}

/// A person's operations on their own devices, and what follows from them.
///
/// A deterministic function of the *set* of operations: in whatever order they arrived, everyone
/// who holds the same ones sees the same devices. A revocation is final, and also voids what the
/// revoked device wrote unseen by its revoker.
/// Source: `Protocol/05-identity.md`, "Identity log".
public struct IdentityLog: Hashable, Sendable {
    /// The most operations of one person that are looked at: all of them fit a card.
    public static let operationCountMax = 36
    /// The most of them that devices may write. The rest is reserved for the root key, so that a
    /// thief of a device cannot fill the log and stay: the recovery code can always revoke it.
    public static let deviceOperationCountMax = 28

    /// The person.
    public let person: PersonID
    /// The public root key, which only the recovery code can sign with.
    public let root: DeviceID
    /// Every operation, causes before effects.
    public let operations: [IdentityOperation]
    /// The devices that are the person's now, ascending; no two have one link key.
    public let devices: [DeviceCertificate]
    /// The devices that were revoked, ascending.
    public let revoked: [DeviceID]
    /// Authors who wrote two operations at one place, ascending: their keys may be stolen.
    public let forked: [DeviceID]

    /// The log with these operations, as they travel.
    public init(operations: [[UInt8]]) throws(IdentityRejection) {
        try self.init(operations: operations, proven: [])
    }

    /// The log with these operations, as they travel. Of those that were proven before, byte for
    /// byte, no signature is checked again.
    init(operations: [[UInt8]], proven: Set<[UInt8]>) throws(IdentityRejection) {
        // The count before the signatures: a flood must not buy curve arithmetic.
        let given = Set(operations)
        guard given.count <= Self.operationCountMax else {
            throw .tooManyOperations(given.count)
        }
        var checked: [IdentityOperation] = []
        for bytes in given.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            let isProven = proven.contains(bytes)
            checked.append(
                isProven ? try IdentityOperation(kept: bytes) : try IdentityOperation(bytes))
        }
        try self.init(checked)
    }

    /// The log with operations that were verified before they were stored: no signature is checked
    /// again. Never for what others show.
    package init(kept operations: [[UInt8]]) throws(IdentityRejection) {
        var known: [IdentityOperation] = []
        for bytes in operations { known.append(try IdentityOperation(kept: bytes)) }
        try self.init(known)
    }

    /// The log with these operations. The same one given twice counts once.
    public init(_ operations: [IdentityOperation]) throws(IdentityRejection) {
        let count = Set(operations.map(\.id)).count
        guard count <= Self.operationCountMax else { throw .tooManyOperations(count) }
        let graph = try IdentityGraph(operations)
        let byDevices = graph.operations.count { $0.author != graph.root }
        guard byDevices <= Self.deviceOperationCountMax else { throw .tooManyOperations(byDevices) }
        let result = graph.resolve()
        person = graph.person
        root = graph.root
        self.operations = graph.operations
        devices = result.devices
        revoked = result.revoked
        forked = graph.forked
    }

    /// The certificate of a device, or nil where it is not the person's now.
    public func certificate(of device: DeviceID) -> DeviceCertificate? {
        devices.first { $0.device == device }
    }

    /// Whether a device may still write an operation: the rest is reserved for the recovery code.
    public var hasRoomForDevices: Bool {
        operations.count { $0.author != root } < Self.deviceOperationCountMax
            && operations.count < Self.operationCountMax
    }

    /// The log merged with another copy of it.
    public func merging(
        _ others: [IdentityOperation]
    ) throws(IdentityRejection) -> IdentityLog {
        try IdentityLog(operations + others)
    }

    /// The bytes of every operation, causes before effects: the form that others are given.
    public var encoded: [[UInt8]] { operations.map(\.bytes) }
}

extension IdentityLog {
    /// A new person with a first device.
    ///
    /// - Parameter time: Unix milliseconds, for show alone.
    public static func founded(
        root: DeviceSigningKey, device: DeviceSigningKey, noiseKey: NoiseKey, time: UInt64,
        using random: inout some RandomNumberGenerator
    ) throws(IdentityRejection) -> IdentityLog {
        let genesis = IdentityOperation(
            .init(
                person: nil, author: root.device, sequence: 0, previous: IdentityOperation.zero,
                dependencies: [],
                content: .genesis(root: root.device, time: time, random: random.bytes(16))),
            signedBy: root)
        let log = try IdentityLog([genesis])
        let proof = IdentityOperation.proofOfPossession(
            to: genesis.person, by: device, noiseKey: noiseKey)
        let adding = log.adding(device.device, noiseKey: noiseKey, proof: proof, by: root)
        return try IdentityLog([genesis, adding])
    }

    /// The operation by which `author` makes a device the person's.
    public func adding(
        _ device: DeviceID, noiseKey: NoiseKey, proof: Signature, by author: DeviceSigningKey
    ) -> IdentityOperation {
        next(
            .addDevice(device: device, noiseKey: noiseKey, flags: 0, proof: proof), by: author)
    }

    /// The operation by which `author` revokes a device.
    public func revoking(
        _ device: DeviceID, reason: UInt8 = 0, by author: DeviceSigningKey
    ) -> IdentityOperation {
        next(.revokeDevice(device: device, reason: reason), by: author)
    }

    private func next(
        _ content: IdentityOperation.Content, by author: DeviceSigningKey
    ) -> IdentityOperation {
        let last =
            operations
            .filter { $0.author == author.device }
            .max { ($0.sequence, $0.id) < ($1.sequence, $1.id) }
        var named: Set<Digest> = []
        for operation in operations {
            named.insert(operation.previous)
            named.formUnion(operation.dependencies)
        }
        let heads = operations.map(\.id).filter { !named.contains($0) && $0 != last?.id }
        return IdentityOperation(
            .init(
                person: person, author: author.device,
                sequence: last.map { $0.sequence + 1 } ?? 0,
                previous: last?.id ?? IdentityOperation.zero,
                dependencies: Array(heads.sorted().prefix(IdentityOperation.dependencyCountMax)),
                content: content),
            signedBy: author)
    }
}
