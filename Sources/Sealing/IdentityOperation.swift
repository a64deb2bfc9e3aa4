public import ParleyWire

/// One signed step in the life of a person's set of devices.
///
/// Only a decoder that has checked the signature and the new device's proof makes one, so holding
/// one is the proof of both; whether its author was *entitled* is ``IdentityLog``'s to say.
/// Source: `Protocol/05-identity.md`, "Identity log".
public struct IdentityOperation: Hashable, Sendable {
    /// The kind.
    public enum Content: Hashable, Sendable {
        /// The person comes to be, under a root key.
        case genesis(root: DeviceID, time: UInt64, random: [UInt8])
        /// A device becomes the person's.
        case addDevice(device: DeviceID, noiseKey: NoiseKey, flags: UInt8, proof: Signature)
        /// A device is no longer the person's, permanently.
        case revokeDevice(device: DeviceID, reason: UInt8)
    }

    /// Whose devices it is about.
    public let person: PersonID
    /// Who signed it: a device, or the root key, which is written in the same form.
    public let author: DeviceID
    /// Its place among the author's operations, from 0.
    public let sequence: UInt64
    /// The author's operation before; zeros for the first.
    public let previous: Digest
    /// Others that the author had seen, ascending.
    public let dependencies: [Digest]
    /// The kind.
    public let content: Content
    /// The signature.
    public let signature: Signature
    /// `H("lp1/idop", everything before the signature)`.
    public let id: Digest
    /// The whole operation as it travels.
    public let bytes: [UInt8]

    static let version: UInt8 = 1
    static let zero = Digest { _ in }
    /// The longest operation: an AddDevice with all its dependencies has 430.
    static let byteCountMax = 512
    /// More open ends are merged first: so a whole log always fits what a link shows.
    static let dependencyCountMax = 4

    /// Everything that the signature covers.
    struct Draft {
        var person: PersonID?
        var author: DeviceID
        var sequence: UInt64
        var previous: Digest
        var dependencies: [Digest]
        var content: Content
    }

    /// Signs a draft. `key` is the draft's author's.
    init(_ draft: Draft, signedBy key: DeviceSigningKey) {
        precondition(draft.author == key.device, "an operation is signed by its author")
        let unsigned = Self.encode(draft)
        let id: Digest = digest(.identityOperation, unsigned)
        self.init(draft, unsigned, id, key.sign(.identitySignature, id.bytes))
    }

    private init(_ draft: Draft, _ unsigned: [UInt8], _ id: Digest, _ signature: Signature) {
        // A genesis cannot hold its own hash: its field is zeros, and the hash is the person.
        person = draft.person ?? digest(.user, unsigned)
        author = draft.author
        sequence = draft.sequence
        previous = draft.previous
        dependencies = draft.dependencies
        content = draft.content
        self.signature = signature
        self.id = id
        bytes = unsigned + signature.bytes
    }

    /// Reads and checks an operation: its form first, then its signature, then the proof.
    public init(_ bytes: [UInt8]) throws(IdentityRejection) {
        let (draft, unsignedCount, signature) = try Self.decode(bytes)
        let unsigned = Array(bytes[..<unsignedCount])
        let id: Digest = digest(.identityOperation, unsigned)
        guard signature.verifies(.identitySignature, id.bytes, by: draft.author) else {
            throw .badSignature
        }
        self.init(draft, unsigned, id, signature)
        if case .addDevice(let device, let noiseKey, _, let proof) = content {
            guard Self.isPossession(proof, to: person, by: device, noiseKey: noiseKey) else {
                throw .badProofOfPossession
            }
        }
    }

    /// Reads an operation that was checked before it was kept.
    init(kept bytes: [UInt8]) throws(IdentityRejection) {
        let (draft, unsignedCount, signature) = try Self.decode(bytes)
        let unsigned = Array(bytes[..<unsignedCount])
        self.init(draft, unsigned, digest(.identityOperation, unsigned), signature)
    }

    /// A new device's proof to a person that it holds the key which they are to certify.
    public static func proofOfPossession(
        to person: PersonID, by device: DeviceSigningKey, noiseKey: NoiseKey
    ) -> Signature {
        device.sign(
            .proofOfPossession,
            possession(person: person, device: device.device, noiseKey: noiseKey))
    }

    /// Whether this is a device's proof to a person that it holds its keys.
    static func isPossession(
        _ proof: Signature, to person: PersonID, by device: DeviceID, noiseKey: NoiseKey
    ) -> Bool {
        proof.verifies(
            .proofOfPossession, possession(person: person, device: device, noiseKey: noiseKey),
            by: device)
    }

    private static func possession(
        person: PersonID, device: DeviceID, noiseKey: NoiseKey
    ) -> [UInt8] {
        person.bytes + device.bytes + noiseKey.bytes
    }
}

extension IdentityOperation {
    private enum Kind: UInt8 {
        case genesis = 1
        case addDevice = 2
        case revokeDevice = 3
    }

    private static func encode(_ draft: Draft) -> [UInt8] {
        var writer = ByteWriter(capacity: 512)
        writer.byte(version)
        var body = ByteWriter(capacity: 160)
        switch draft.content {
        case .genesis(let root, let time, let random):
            writer.byte(Kind.genesis.rawValue)
            body.identifier(root)
            body.uint64(time)
            body.raw(random)
        case .addDevice(let device, let noiseKey, let flags, let proof):
            writer.byte(Kind.addDevice.rawValue)
            body.identifier(device)
            body.identifier(noiseKey)
            body.byte(flags)
            body.raw(proof.bytes)
        case .revokeDevice(let device, let reason):
            writer.byte(Kind.revokeDevice.rawValue)
            body.identifier(device)
            body.byte(reason)
        }
        writer.identifier(draft.person ?? PersonID(reinterpreting: zero))
        writer.identifier(draft.author)
        writer.uint64(draft.sequence)
        writer.identifier(draft.previous)
        writer.byte(UInt8(draft.dependencies.count))
        for dependency in draft.dependencies { writer.identifier(dependency) }
        writer.uint16(UInt16(body.bytes.count))
        writer.raw(body.bytes)
        return writer.bytes
    }

    private static func decode(
        _ bytes: [UInt8]
    ) throws(IdentityRejection) -> (Draft, unsignedCount: Int, Signature) {
        do throws(DecodingFailure) {
            guard bytes.count <= byteCountMax else {
                throw .tooLarge(
                    field: "identity operation", value: UInt64(bytes.count),
                    limit: UInt64(byteCountMax))
            }
            var reader = ByteReader(bytes)
            let draft = try draft(from: &reader)
            let unsignedCount = reader.position
            guard let signature = Signature(try reader.slice(Signature.byteCount)) else {
                throw .truncated
            }
            try reader.finish()
            return (draft, unsignedCount, signature)
        } catch { throw .malformed(error) }
    }

    private static func draft(from reader: inout ByteReader) throws(DecodingFailure) -> Draft {
        let version = try reader.byte()
        guard version == Self.version else { throw .unknownVersion(version) }
        let kindByte = try reader.byte()
        guard let kind = Kind(rawValue: kindByte) else { throw .unknownVersion(kindByte) }
        let person: PersonID = try reader.identifier()
        let author: DeviceID = try reader.identifier()
        let sequence = try reader.uint64()
        let previous: Digest = try reader.identifier()
        let count = Int(try reader.byte())
        guard count <= dependencyCountMax else {
            throw .tooLarge(
                field: "dependencies", value: UInt64(count),
                limit: UInt64(dependencyCountMax))
        }
        var dependencies: [Digest] = []
        for _ in 0..<count {
            let next: Digest = try reader.identifier()
            if let last = dependencies.last, last >= next { throw .unsorted(field: "dependencies") }
            dependencies.append(next)
        }
        guard !dependencies.contains(previous) else { throw .forbidden(field: "dependencies") }
        guard (sequence == 0) == (previous == zero), sequence < 1 << 62 else {
            throw .forbidden(field: "previous")
        }
        let bodyCount = Int(try reader.uint16())
        var body = ByteReader(try reader.slice(bodyCount))
        let content = try content(kind, from: &body)
        try body.finish()
        let draft = Draft(
            person: person == PersonID(reinterpreting: zero) ? nil : person, author: author,
            sequence: sequence, previous: previous, dependencies: dependencies, content: content)
        try check(draft)
        return draft
    }

    private static func content(
        _ kind: Kind, from reader: inout ByteReader
    ) throws(DecodingFailure) -> Content {
        switch kind {
        case .genesis:
            return .genesis(
                root: try reader.identifier(), time: try reader.uint64(),
                random: Array(try reader.slice(16)))
        case .addDevice:
            let device: DeviceID = try reader.identifier()
            let noiseKey: NoiseKey = try reader.identifier()
            let flags = try reader.byte()
            guard flags == 0 else { throw .unknownFlags(flags) }
            guard let proof = Signature(try reader.slice(Signature.byteCount)) else {
                throw .truncated
            }
            return .addDevice(device: device, noiseKey: noiseKey, flags: flags, proof: proof)
        case .revokeDevice:
            return .revokeDevice(device: try reader.identifier(), reason: try reader.byte())
        }
    }

    /// A genesis stands first, is signed by its root and names no person; all others do.
    private static func check(_ draft: Draft) throws(DecodingFailure) {
        if case .genesis(let root, _, _) = draft.content {
            guard draft.person == nil, draft.author == root, draft.sequence == 0,
                draft.dependencies.isEmpty
            else { throw .forbidden(field: "genesis") }
        } else if draft.person == nil {
            throw .forbidden(field: "person")
        }
    }
}
