public import ParleyWire

/// The key to which a person's backups are sealed, with the root's signature that it is theirs.
///
/// The signature needs the recovery code, which no device keeps. So a device that is handed the key
/// need not trust the one that hands it over, and a thief who controls a device can plant no key of
/// theirs.
/// Source: `Protocol/05-identity.md`, "Backups".
public struct BackupCertificate: Equatable, Sendable {
    /// `key[32] ‖ signature[64]`.
    public static let byteCount = 32 + 64

    private let claimedKey: BackupPublicKey
    /// The claimed signature of the root over the key.
    public let signature: Signature

    /// The same in bytes.
    public var bytes: [UInt8] { claimedKey.bytes + signature.bytes }

    /// What these bytes say; nil where they have another length. Nothing is proven yet.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount, let key = BackupPublicKey(bytes[..<32]),
            let signature = Signature(Array(bytes[32...]))
        else { return nil }
        claimedKey = key
        self.signature = signature
    }

    init(_ key: BackupPublicKey, signedBy root: DeviceSigningKey) {
        claimedKey = key
        signature = root.sign(.backupCertificate, key.bytes)
    }

    /// The key, once it is proven that this root signed it; nil where it did not.
    public func key(of root: DeviceID) -> BackupPublicKey? {
        signature.verifies(.backupCertificate, claimedKey.bytes, by: root) ? claimedKey : nil
    }
}

extension RecoveryCode {
    /// What devices keep of the code: the public half of ``backupKey``, signed by ``rootKey``.
    public var backupCertificate: BackupCertificate {
        BackupCertificate(backupKey.publicKey, signedBy: rootKey)
    }
}
