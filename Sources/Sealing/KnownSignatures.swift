import CSodium
package import ParleyWire

/// Whether a device signed a message: a permanent fact, whoever asks.
package struct SignatureClaim: Hashable, Sendable {
    /// The claimed signature of the device.
    package let signature: SignatureBytes
    /// What it covers, including the label.
    package let message: [UInt8]
    /// The claimed signer.
    package let device: DeviceID

    /// Whether it is true, by curve arithmetic.
    var holds: Bool {
        requireSodium()
        return device.withUnsafeBytes { key in
            crypto_sign_verify_detached(
                signature.bytes, message, UInt64(message.count), key.start) == 0
        }
    }

    /// Equality compares all of it; the device alone would put all of its claims in one bucket.
    package func hash(into hasher: inout Hasher) { hasher.combine(signature) }
}

/// Claims that were found true, or were made true here by signing.
///
/// A world of many nodes in one process checks each signature once per node and once more per
/// observer; whether it is valid is the same for all of them. What is not remembered is computed,
/// so a false signature is still found out. Production remembers nothing: a single node hardly ever
/// checks one signature twice.
package protocol KnownSignatures: AnyObject, Sendable {
    /// Whether the claim was found true before; false also where it was forgotten.
    func contains(_ claim: SignatureClaim) -> Bool
    /// Remembers that the claim is true.
    func insert(_ claim: SignatureClaim)
}

/// Where ``KnownSignatures`` of the running world are found: only code of this package can put
/// any there, and only for as long as a closure runs.
package enum SignatureMemory {
    /// Those of the world that runs now; nil in production.
    @TaskLocal package static var current: (any KnownSignatures)?
}
