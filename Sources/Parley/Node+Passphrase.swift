import ParleyLedger
import ParleyStorage

extension Node {
    /// Operations that the index takes in one transaction while nobody waits for the node.
    private static let indexTurnCount = 1024

    /// Whether a passphrase protects the keys in this folder.
    ///
    /// - Throws: ``NodeError`` if there is no node, or its keystore cannot be read.
    public static func isProtectedByPassphrase(at home: String) throws -> Bool {
        guard exists(at: home) else {
            throw NodeError(
                "no-node", "There is no node in \(home).",
                hint: "`parley init --name YOURNAME` creates one.")
        }
        do {
            return try Home(home).isProtectedByPassphrase()
        } catch {
            throw NodeError(error)
        }
    }

    /// Locks the keys of a node that does not run by another passphrase, or by none.
    ///
    /// The keystore is written again, the vault re-encrypted, and the guard and the word index get
    /// new keys: an old copy of the keystore opens nothing here from now on. A wrong passphrase
    /// changes nothing, and wherever it is interrupted, the old passphrase or the new one opens the
    /// node. The rest of the index follows when the node runs.
    ///
    /// - Parameters:
    ///   - settings: what opens the node now.
    ///   - choose: gives the new passphrase, or nil for none; asked once the old one has opened.
    ///   - progress: told how many operations the new index has, of how many; the new passphrase holds
    ///     by then.
    public static func setPassphrase(
        _ settings: NodeSettings, to choose: () throws -> [UInt8]?,
        progress: (Int, Int) -> Void = { _, _ in }
    ) throws {
        try explaining {
            let store = try openStore(settings)
            if let bar = store.bar { throw StoreError(bar) }
            let unlock: Unlock = try choose().map { .passphrase($0) } ?? .keyFile
            try store.protect(with: unlock)
            try store.renewVaultKey()
            while try store.followWords(limit: indexTurnCount) {
                progress(Int(try store.wordIndexState().through), store.operationCount)
            }
            try store.close()
        }
    }
}
