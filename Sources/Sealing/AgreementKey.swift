import CSodium
public import ParleyWire

/// A private X25519 key: with the other side's public one it gives a secret that both know.
public struct AgreementKey<Subject>: Sendable {
    /// The public half.
    public let publicKey: Identifier<Subject>
    /// The scalar: what the vault keeps.
    public let scalar: Secret

    /// The key with this scalar of 32 bytes.
    public init(scalar: Secret) {
        requireSodium()
        precondition(scalar.count == 32, "a scalar has 32 bytes")
        self.scalar = scalar
        publicKey = Identifier { output in
            scalar.withUnsafeBytes { scalar in
                _ = crypto_scalarmult_base(output.start, scalar.start)
            }
        }
    }

    /// A new key.
    public static func generate(using random: inout some RandomNumberGenerator) -> Self {
        Self(scalar: .random(using: &random))
    }

    /// The secret shared with the holder of the other key, or nil where that key is of small
    /// order: then the result would be known to everybody.
    func agree(with other: Identifier<Subject>) -> WipedBytes? {
        var isSafe = false
        let shared = WipedBytes(byteCount: 32) { output in
            scalar.withUnsafeBytes { scalar in
                other.withUnsafeBytes { other in
                    isSafe = crypto_scalarmult(output.start, scalar.start, other.start) == 0
                }
            }
        }
        return isSafe ? shared : nil
    }
}

extension AgreementKey: CustomStringConvertible {
    /// Names the public half, and tells nothing of the private one.
    public var description: String { "AgreementKey(\(publicKey.short), redacted)" }
}

/// A device's key for links. Its public half stands in the device's certificate.
public typealias DeviceNoiseKey = AgreementKey<NoiseSubject>
/// A leaf with its private half: epochs of one space are sealed to it.
public typealias PrivateLeaf = AgreementKey<LeafSubject>
