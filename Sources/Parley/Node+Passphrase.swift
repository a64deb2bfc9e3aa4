import ParleyLedger
import ParleyStorage

extension Node {
    /// Whether a passphrase protects the keys in this folder.
    ///
    /// - Throws: ``NodeError`` where no node is there, or its keystore cannot be read.
    public static func isProtectedByPassphrase(at home: String) throws -> Bool {
        guard exists(at: home) else {
            throw NodeError(
                "no-node", "There is no node in \(home).",
                hint: "`parley init --name YOURNAME` makes one.")
        }
        do {
            return try Home(home).isProtectedByPassphrase()
        } catch {
            throw NodeError(error)
        }
    }

    /// Locks the keys of a node that does not run by another passphrase, or by none.
    ///
    /// Only the keystore is written anew, and the vault sealed under a new key, so that an old copy
    /// of the keystore opens nothing that is written from now on. A wrong passphrase changes
    /// nothing, and whenever it is cut off, the old passphrase or the new one opens the node.
    ///
    /// - Parameters:
    ///   - settings: what opens the node now.
    ///   - choose: gives the new passphrase, or nil for none; asked once the old one has opened.
    public static func setPassphrase(
        _ settings: NodeSettings, to choose: () throws -> [UInt8]?
    ) throws {
        try explaining {
            let store = try openStore(settings)
            if let bar = store.bar { throw StoreError(bar) }
            let unlock: Unlock = try choose().map { .passphrase($0) } ?? .keyFile
            try store.protect(with: unlock)
            try store.renewVaultKey()
            try store.close()
        }
    }
}
