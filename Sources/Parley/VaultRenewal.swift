import Logging
import ParleyStorage

/// Makes sure that the vault is re-encrypted after secrets were dropped, so that nobody can open
/// their remains on the disk.
struct VaultRenewal {
    /// How long is waited before what failed is tried again, in milliseconds.
    private static let interval: UInt64 = 60_000

    private var isWanted = false
    private var triedAt: UInt64?

    /// Secrets were dropped.
    mutating func want() { isWanted = true }

    /// Does it where it is wanted, while nothing else is to be done.
    ///
    /// - Parameter time: milliseconds of a clock that never goes back.
    mutating func tend(_ store: SQLiteStore, at time: UInt64, _ logger: Logger) {
        guard isWanted, triedAt.map({ time >= $0 + Self.interval }) ?? true else { return }
        triedAt = time
        do {
            // A reader can keep the log of changes from being emptied: it is tried again.
            guard try store.renewVaultKey() else { return }
            isWanted = false
            triedAt = nil
        } catch {
            logger.warning("the vault was not sealed anew", metadata: ["error": "\(error)"])
        }
    }
}
