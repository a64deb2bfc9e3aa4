import CSodium
public import ParleyWire

/// A signature: `SIG(label, message) = Ed25519(u8 length ‖ label ‖ message)`.
///
/// Judged by the library's rule everywhere: cofactorless, canonical S, points of small order
/// refused. Another rule would make replicas disagree about what is valid.
/// Source: `Protocol/05-identity.md`, "Signatures".
public typealias Signature = SignatureBytes

extension SignatureBytes {
    /// Whether this device signed this message for this purpose.
    public func verifies(_ label: Label, _ message: [UInt8], by device: DeviceID) -> Bool {
        let claim = SignatureClaim(
            signature: self, message: label.prefixed + message, device: device)
        guard let known = SignatureMemory.current else { return claim.holds }
        if known.contains(claim) { return true }
        guard claim.holds else { return false }
        known.insert(claim)
        return true
    }
}

/// A device's private signing key. Its public key is the device's name.
public struct DeviceSigningKey: Sendable {
    /// The device whose key it is.
    public let device: DeviceID
    /// Seed and public key, as the library keeps them.
    private let secret: Secret

    /// The key that grows from this seed of 32 bytes.
    public init(seed: Secret) {
        requireSodium()
        precondition(seed.count == 32, "a seed has 32 bytes")
        var name = [UInt8](repeating: 0, count: 32)
        secret = Secret(byteCount: 64) { output in
            seed.withUnsafeBytes { seed in
                _ = crypto_sign_seed_keypair(&name, output.start, seed.start)
            }
        }
        device = DeviceID { $0.copyBytes(from: name) }
    }

    /// A new key.
    public static func generate(
        using random: inout some RandomNumberGenerator
    ) -> DeviceSigningKey {
        DeviceSigningKey(seed: .random(using: &random))
    }

    /// The seed that the key grew from: what the vault keeps.
    public var seed: Secret {
        secret.withUnsafeBytes { secret in
            Secret(byteCount: 32) {
                $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: secret[..<32]))
            }
        }
    }

    /// Signs this message for this purpose.
    public func sign(_ label: Label, _ message: [UInt8]) -> Signature {
        let input = label.prefixed + message
        let bytes = [UInt8](unsafeUninitializedCapacity: 64) { buffer, initialized in
            secret.withUnsafeBytes { secret in
                _ = crypto_sign_detached(
                    UnsafeMutableRawBufferPointer(buffer).start, nil, input, UInt64(input.count),
                    secret.start)
            }
            initialized = 64
        }
        guard let signature = Signature(bytes) else {
            preconditionFailure("a signature must have 64 bytes")
        }
        SignatureMemory.current?.insert(
            SignatureClaim(signature: signature, message: input, device: device))
        return signature
    }
}

extension DeviceSigningKey: CustomStringConvertible {
    /// Names the device, and tells nothing of its key.
    public var description: String { "DeviceSigningKey(\(device.short), redacted)" }
}
