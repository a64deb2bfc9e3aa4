public import ParleyWire

/// A public key that a device takes its first epoch of a space with, signed by the device.
///
/// `device[32] ‖ u32 number ‖ u64 not before ‖ u64 not after ‖ u8 suite ‖ key[32] ‖ u16 0
/// ‖ signature[64]`; times in Unix milliseconds. They tell the device itself when to make the
/// next one and when to erase: no other judges by them, for clocks decide nothing.
/// Source: `Protocol/09-epochs.md`, "Prekeys".
public struct PrekeyCertificate: Hashable, Sendable {
    /// How many bytes every certificate of suite 1 has.
    public static let byteCount = 151

    /// Whose it is.
    public let device: DeviceID
    /// Counts the device's prekeys.
    public let number: UInt32
    /// When it was made.
    public let notBefore: WallTime
    /// When the next one should have taken its place.
    public let notAfter: WallTime
    /// The key.
    public let key: LeafKey
    /// The certificate as it was signed, signature included.
    public let bytes: [UInt8]

    /// Signs a prekey. `notBefore` must come before `notAfter`.
    public static func make(
        number: UInt32, notBefore: WallTime, notAfter: WallTime, key: LeafKey,
        by device: DeviceSigningKey
    ) -> PrekeyCertificate {
        var writer = ByteWriter(capacity: byteCount)
        writer.identifier(device.device)
        writer.uint32(number)
        writer.uint64(notBefore)
        writer.uint64(notAfter)
        writer.byte(EpochBody.suite)
        writer.identifier(key)
        writer.uint16(0)
        let signature = device.sign(.prekey, writer.bytes)
        do {
            return try PrekeyCertificate(bytes: writer.bytes + signature.bytes)
        } catch {
            preconditionFailure("a prekey ends after it begins: \(error)")
        }
    }

    /// Reads a certificate; ``holds`` tells whether it is the device's.
    public init(bytes: [UInt8]) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        device = try reader.identifier()
        number = try reader.uint32()
        notBefore = try reader.bounded64()
        notAfter = try reader.bounded64()
        guard notBefore < notAfter else { throw .forbidden(field: "times") }
        let suite = try reader.byte()
        guard suite == EpochBody.suite else { throw .unknownVersion(suite) }
        key = try reader.identifier()
        // The place of a second key, which suite 1 has not.
        guard try reader.uint16() == 0 else { throw .forbidden(field: "second key") }
        _ = try reader.slice(Signature.byteCount)
        try reader.finish()
        self.bytes = bytes
    }

    /// Whether the device signed it, and something can be sealed to it.
    public var holds: Bool {
        guard let signature = Signature(bytes.suffix(Signature.byteCount)) else { return false }
        return signature.verifies(
            .prekey, Array(bytes.dropLast(Signature.byteCount)), by: device) && key.isSound
    }
}
