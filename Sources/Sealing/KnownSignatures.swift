import CSodium
package import ParleyWire

/// That a device signed a message: true or false for ever, whoever asks.
package struct SignatureClaim: Hashable, Sendable {
    /// What is claimed to be the device's signature.
    package let signature: SignatureBytes
    /// What it is over, label included.
    package let message: [UInt8]
    /// Who is claimed to have signed.
    package let device: DeviceID

    /// Whether it is true, by curve arithmetic.
    var holds: Bool {
        requireSodium()
        return device.withUnsafeBytes { key in
            crypto_sign_verify_detached(
                signature.bytes, message, UInt64(message.count), key.start) == 0
        }
    }

    /// Equality compares all of it; the device alone would put all of its claims in one place.
    package func hash(into hasher: inout Hasher) { hasher.combine(signature) }
}

/// Claims that were found true, or were made true here by signing.
///
/// A world of many nodes in one process checks each signature once for every node and once more for
/// everybody who looks on; that it holds is no fact about any of them. What is not remembered is
/// computed, so that a false signature is found out as ever. Production remembers nothing: a node
/// on its own hardly ever checks one signature twice.
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
