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
        card: Card? = nil, prekey: Prekey? = nil, backupKey: BackupPublicKey?, in store: SQLiteStore
    ) throws {
        try store.transact(.full) {
            try store.setSecret(key.seed, seedName)
            try store.setSecret(noise.scalar, noiseName)
            try NodeIdentity.keep(identity, in: store)
            try prekey?.keep(in: store)
            if let card { try store.setValue(card.encoded, .card, card.person.bytes) }
            if let backupKey { try store.setValue(backupKey.bytes, .profile, backupKeyName) }
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

    /// What backups are sealed to; nil where this device was never told.
    static func backupKey(in store: SQLiteStore) throws -> BackupPublicKey? {
        try store.value(.profile, backupKeyName).flatMap { BackupPublicKey($0) }
    }

    /// When the recovery code was last asked back, in Unix milliseconds; nil if never.
    static func recoveryCheckTime(in store: SQLiteStore) throws -> UInt64? {
        guard let bytes = try store.value(.profile, recoveryCheckName) else { return nil }
        var reader = ByteReader(bytes)
        return try reader.uint64()
    }

    /// Notes that the recovery code was asked back. What backups are sealed to is noted where it
    /// is not known yet, and never replaced.
    static func noteRecoveryCheck(
        backupKey: BackupPublicKey, at time: UInt64, in store: SQLiteStore
    ) throws {
        var writer = ByteWriter()
        writer.uint64(time)
        try store.transact(.full) {
            if try store.value(.profile, backupKeyName) == nil {
                try store.setValue(backupKey.bytes, .profile, backupKeyName)
            }
            try store.setValue(writer.bytes, .profile, recoveryCheckName)
        }
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
