import ParleyLedger
import ParleyNodeCore
import ParleySealing

/// The key of the guard: random, in the vault, and another one whenever the lock of the keystore
/// changes, so that no copy of former keys opens the guard of today.
///
/// A database that was set back to before such a change does not have today's key: it finds a guard
/// that it cannot open, and takes its past back from others before it writes.
extension SQLiteStore {
    private static let guardKeyName = "guard key"
    /// Lies in the vault from when another key was drawn until the guard is sealed under that.
    private static let formerGuardKeyName = "former guard key"

    /// What may open the guard, the key that it is sealed under from now on first.
    func guardKeys() throws(HomeError) -> [Secret] {
        do throws(StoreError) {
            guard let key = try vault.secret(Self.guardKeyName) else { return [originalGuardKey] }
            guard let former = try vault.secret(Self.formerGuardKeyName) else { return [key] }
            return [key, former]
        } catch {
            // A key that does not open opens nothing: then the guard tells nothing.
            guard error.code != .corrupt else { return [] }
            throw HomeError(error, path: home.database)
        }
    }

    /// What guards were sealed under until their key became one of the vault.
    private var originalGuardKey: Secret { deriveSecret(key: vault.keystore.master, .guardFile) }

    /// Draws a key if there is none, and finishes an interrupted change of it.
    func settleGuardKey() throws(HomeError) {
        let keys = try guardKeys()
        guard keys.count < 2 else { return try finishGuardKey() }
        if let key = keys.first, key != originalGuardKey { return }
        try durably { () throws(StoreError) in try drawGuardKey(former: keys.first) }
        try finishGuardKey()
    }

    /// Draws another key, in a transaction; ``finishGuardKey()`` is due after its commit.
    func drawGuardKey(former: Secret?) throws(StoreError) {
        writes()
        try vault.setSecret(former, Self.formerGuardKeyName)
        try vault.setSecret(random.secret(), Self.guardKeyName)
    }

    /// Seals the guard under the drawn key, and erases the former one. It may be interrupted
    /// anywhere: as long as the former key exists, it is repeated at the next start.
    func finishGuardKey() throws(HomeError) {
        let keys = try guardKeys()
        guard keys.count == 2 else { return }
        try guardFile.reseal(from: keys[1], to: keys[0])
        try durably { () throws(StoreError) in
            try vault.setSecret(nil, Self.formerGuardKeyName)
        }
    }
}
