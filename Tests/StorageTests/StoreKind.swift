import Foundation
import ParleyNodeCore
import ParleySimulation
import ParleyStorage
import Testing

/// The stores that the contract holds for.
enum StoreKind: String, CaseIterable, CustomTestStringConvertible {
    case memory
    case disk

    var testDescription: String { rawValue }

    /// Lends a new, empty store to the closure, and takes it away again.
    func withStore(_ body: (any TransactionalStore) throws -> Void) throws {
        switch self {
        case .memory: try body(MemoryStore())
        case .disk: try withHome { home in try body(try SQLiteStore.open(home: home)) }
        }
    }
}

/// Lends a folder that does not exist yet to the closure, and removes it afterwards.
func withHome<R>(_ body: (Home) throws -> R) throws -> R {
    let path = FileManager.default.temporaryDirectory
        .appendingPathComponent("parley-store-\(UUID().uuidString)").path
    defer {
        // What is left in a temporary folder is no test's failure.
        try? FileManager.default.removeItem(atPath: path)
    }
    return try body(Home(path))
}

extension SQLiteStore {
    /// A home that a key file opens.
    static func open(home: Home) throws -> SQLiteStore {
        try open(home: home, unlock: .keyFile)
    }
}
