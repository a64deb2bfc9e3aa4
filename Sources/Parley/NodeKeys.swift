import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleyStorage
import ParleyWire

/// The keys of this device, as the store's vault keeps them.
struct NodeKeys {
    let identity: NodeIdentity
    let noise: DeviceNoiseKey

    private static let seedName = "signing seed"
    private static let noiseName = "noise key"
    private static let backupKeyName = Array("backup key".utf8)
    private static let recoveryCheckName = Array("recovery check".utf8)

    static func keep(
        key: DeviceSigningKey, noise: DeviceNoiseKey, identity: IdentityLog,
        card: Card? = nil, prekey: Prekey? = nil, backup: BackupCertificate?, in store: SQLiteStore
    ) throws {
        try store.transact(.full) {
            try store.setSecret(key.seed, seedName)
            try store.setSecret(noise.scalar, noiseName)
            try NodeIdentity.keep(identity, in: store)
            try prekey?.keep(in: store)
            if let card { try store.setValue(card.encoded, .card, card.person.bytes) }
            if let backup { try store.setValue(backup.bytes, .profile, backupKeyName) }
        }
    }

    /// The keys, or nil where making the node was cut off.
    init?(in store: SQLiteStore) throws {
        guard let seed = try store.secret(Self.seedName),
            let scalar = try store.secret(Self.noiseName),
            let log = try NodeIdentity.log(in: store)
        else { return nil }
        noise = DeviceNoiseKey(scalar: scalar)
        identity = NodeIdentity(
            log: log, key: DeviceSigningKey(seed: seed), noiseKey: noise.publicKey)
    }

    /// Whether the keys of the device are in no part of a damaged database that can still be read.
    static func areLost(in home: Home, _ unlock: Unlock) -> Bool {
        home.hasLost(secrets: [seedName, noiseName], unlock)
    }

    /// Restores the note of whose device this is, if it was lost and its keys were not: operations
    /// tell it.
    static func restoreIdentity(in store: SQLiteStore) throws {
        guard let seed = try store.secret(seedName), try NodeIdentity.log(in: store) == nil
        else { return }
        try store.transact(.full) {
            try CardReader.restore(in: store)
            let device = DeviceSigningKey(seed: seed).device
            guard let log = try NodeIdentity.found(for: device, in: store) else { return }
            try NodeIdentity.keep(log, in: store)
        }
    }

    /// The key that backups are sealed to, as this root signed it. Nil if this device was never
    /// told, and if the note has no signature of the root: a key from before keys were signed may
    /// be anybody's.
    static func backupCertificate(
        of root: DeviceID, in store: SQLiteStore
    ) throws -> BackupCertificate? {
        guard let bytes = try store.value(.profile, backupKeyName),
            let noted = BackupCertificate(bytes), noted.key(of: root) != nil
        else { return nil }
        return noted
    }

    /// When the recovery code was last asked back, in Unix milliseconds; nil if never.
    static func recoveryCheckTime(in store: SQLiteStore) throws -> UInt64? {
        guard let bytes = try store.value(.profile, recoveryCheckName) else { return nil }
        var reader = ByteReader(bytes)
        return try reader.uint64()
    }

    /// Records that the recovery code was checked, and the key that backups are sealed to by it.
    ///
    /// - Parameter backup: the root has signed it, as the caller has seen.
    /// - Returns: the earlier note.
    @discardableResult
    static func noteRecoveryCheck(
        _ backup: BackupCertificate, at time: UInt64, in store: SQLiteStore
    ) throws -> BackupKeyFinding {
        var writer = ByteWriter()
        writer.uint64(time)
        let noted = try store.value(.profile, backupKeyName)
        try store.transact(.full) {
            try store.setValue(backup.bytes, .profile, backupKeyName)
            try store.setValue(writer.bytes, .profile, recoveryCheckName)
        }
        return finding(of: backup, noted)
    }

    /// The earlier note, if nothing can be written now; nil if something would have to be.
    static func knownRecoveryCode(
        _ backup: BackupCertificate, in store: SQLiteStore
    ) throws -> BackupKeyFinding? {
        let finding = finding(of: backup, try store.value(.profile, backupKeyName))
        return finding == .known ? finding : nil
    }

    private static func finding(
        of backup: BackupCertificate, _ noted: [UInt8]?
    ) -> BackupKeyFinding {
        guard let noted else { return .added }
        if noted == backup.bytes { return .known }
        // The right key, and nobody's word for it: as it was noted before keys were signed.
        return noted.prefix(32).elementsEqual(backup.bytes.prefix(32)) ? .added : .replaced
    }
}

extension SQLiteStore {
    /// Does something in one transaction: all of it, or nothing.
    func transact(_ durability: Durability, _ body: () throws -> Void) throws {
        try begin(durability)
        do {
            try body()
            try commit()
        } catch {
            rollback()
            throw error
        }
    }
}
