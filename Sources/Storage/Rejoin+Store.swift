import ParleyLedger
public import ParleyNodeCore
import ParleyWire

extension Rejoin {
    /// What the store found out about itself when it was opened; nil where all is well.
    public init?(_ store: SQLiteStore) {
        guard let reason = store.rejoin else { return nil }
        // An unreadable guard says nothing: then a peer must say what it holds.
        let heads = (try? store.readGuard()) ?? []
        let ends = Dictionary(
            heads.map { (LogTag($0.log), $0.sequence + 1) }, uniquingKeysWith: max)
        let needsPeer: Bool
        let text: String
        switch reason {
        case .guardMissing:
            (needsPeer, text) = (true, "the guard file is missing")
        case .guardDamaged:
            (needsPeer, text) = (true, "the guard file cannot be read")
        case .anotherInstance:
            (needsPeer, text) = (true, "the guard file belongs to another database")
        case .behind(let count):
            let logs = counted(count, "log ends", "logs end")
            (needsPeer, text) = (false, "\(logs) before the last operation that this device wrote")
        }
        self.init(reason: text, ends: ends, needsPeer: needsPeer)
    }
}
