public import ParleyLedger
public import ParleySealing
public import ParleyWire

/// Who the node is: a person's device, with what the person's devices are known to be.
///
/// The keys are permanent. The identity log grows whenever a device of the person adds or revokes
/// one; ``NodeCore`` stores it and reports when it did.
public struct NodeIdentity: Sendable {
    /// The person's identity log: it certifies this device until another one revokes it.
    public internal(set) var log: IdentityLog
    /// Signs what this device writes.
    public let key: DeviceSigningKey
    /// This device's public key for links.
    public let noiseKey: NoiseKey

    /// The person.
    public var person: PersonID { log.person }
    /// The root key of the person's identity.
    public var root: Digest { Digest(reinterpreting: log.root) }
    /// The identity log as it travels, causes before effects.
    public var operations: [[UInt8]] { log.encoded }
    /// This device.
    public var device: DeviceID { key.device }
    /// Whether the person has revoked this device: it then writes nothing more.
    public var isRevoked: Bool { log.certificate(of: device) == nil }

    /// Whether the recovery code made this device for a person who had one before: there may be
    /// conversations that it does not know of.
    public var cameBack: Bool {
        log.operations.contains { operation in
            guard operation.author == log.root, operation.sequence > Self.beginning,
                case .addDevice(let added, _, _, _) = operation.content
            else { return false }
            return added == device
        }
    }

    /// Where the root key adds the device that a person begins with.
    private static let beginning: UInt64 = 1

    /// An identity with these keys.
    public init(log: IdentityLog, key: DeviceSigningKey, noiseKey: NoiseKey) {
        self.log = log
        self.key = key
        self.noiseKey = noiseKey
    }

    private static let name = Array("identity".utf8)

    /// Keeps an identity log as that of the node.
    public static func keep(
        _ log: IdentityLog, in store: some NodeStore
    ) throws(StoreError) {
        var writer = ByteWriter()
        for operation in log.operations { writer.counted(operation.bytes) }
        try store.setValue(writer.bytes, .profile, name)
    }

    /// The identity log of the node, or nil where none was kept.
    public static func log(in store: some NodeStore) throws(StoreError) -> IdentityLog? {
        guard let bytes = try store.value(.profile, name) else { return nil }
        var reader = ByteReader(bytes)
        var operations: [[UInt8]] = []
        do throws(DecodingFailure) {
            while reader.remaining > 0 {
                let count = try reader.count("identity", atMost: Limits.cardByteCountMax)
                operations.append(Array(try reader.slice(count)))
            }
        } catch { return nil }
        // It held when it was kept; bytes that no longer do are none.
        return try? IdentityLog(operations: operations)
    }
}
