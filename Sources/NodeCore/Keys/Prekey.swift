public import ParleyLedger
public import ParleySealing
import ParleyWire

/// A prekey with its private half, before that is in the vault.
///
/// A device that is about to be linked makes its first prekey before it has a node, so that the
/// adding device seals the next epoch to it.
/// Source: `Protocol/09-epochs.md`, "Prekeys".
public struct Prekey: Sendable {
    /// What others are shown.
    public let certificate: PrekeyCertificate
    private let leaf: PrivateLeaf

    /// A new prekey, published for a week from now.
    ///
    /// - Parameters:
    ///   - number: counts the device's prekeys, from 1.
    ///   - time: now, in Unix milliseconds.
    public init(
        number: UInt32 = 1, of device: DeviceSigningKey, at time: UInt64,
        using random: inout some RandomNumberGenerator
    ) {
        leaf = PrivateLeaf.generate(using: &random)
        // It ends after it begins, also where a clock shows the end of time.
        let start = min(WallTime(clamping: time), WallTime.greatest.previous)
        certificate = PrekeyCertificate.make(
            number: number, notBefore: start, notAfter: start.raised(by: NodeCore.keyLifetime),
            key: leaf.publicKey, by: device)
    }

    /// Keeps the private half, in the transaction at hand, before anybody is shown the other.
    public func keep(in store: some KeyStore) throws(StoreError) {
        try store.setSecret(
            TimedLeaf(leaf, time: certificate.notAfter.value).secret, .prekey, leaf.publicKey.bytes,
            in: nil)
    }
}
