import Logging
import ParleyStorage

/// Empties the database's log of changes soon after something was erased: until then the erased
/// row, and the key that opens it, stay readable there.
struct LogErasure {
    /// How long erased data may stay in the database's log of changes, in milliseconds. Erasures in
    /// sequence share one emptying.
    static let delay: UInt64 = 20_000

    private var dueAt: UInt64?

    /// Empties the log when that is due. A reader can keep it from being emptied: then it is tried
    /// again.
    ///
    /// - Parameter time: milliseconds of a clock that never goes back.
    /// - Returns: after how many milliseconds to call again; nil where nothing waits that was not
    ///   told before.
    mutating func tend(_ store: SQLiteStore, at time: UInt64, _ logger: Logger) -> UInt64? {
        guard store.mayHoldErasedRows else {
            dueAt = nil
            return nil
        }
        guard let due = dueAt else {
            dueAt = time + Self.delay
            return Self.delay
        }
        guard time >= due else { return nil }
        dueAt = time + Self.delay
        do {
            if try store.checkpoint() {
                dueAt = nil
                return nil
            }
        } catch {
            logger.warning("the log of changes was not emptied", metadata: ["error": "\(error)"])
        }
        return Self.delay
    }
}
