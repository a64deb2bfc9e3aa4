import Testing
import ParleyNodeCore
import ParleySimulation

/// The stores that the contract holds for.
enum StoreKind: String, CaseIterable, CustomTestStringConvertible {
    case memory

    var testDescription: String { rawValue }

    /// Lends a new, empty store to the closure, and takes it away again.
    func withStore(_ body: (any TransactionalStore) throws -> Void) throws {
        switch self {
        case .memory: try body(MemoryStore())
        }
    }
}
