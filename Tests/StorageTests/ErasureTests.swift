import Foundation
import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleyWire
import Testing

@testable import ParleyStorage

/// What was let go of is searched for in every byte that the home has on its disk.
@Suite("What was erased")
struct ErasureTests {
    /// Whether any file of the home holds these bytes.
    private func holds(_ home: Home, _ bytes: [UInt8]) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: home.path).filter { name in
            let data = try Data(contentsOf: URL(filePath: home.path + "/" + name))
            return data.range(of: Data(bytes)) != nil
        }
    }

    @Test("is in no page, no log of changes and no file once the vault was sealed anew")
    func payload() throws {
        try withHome { home in
            let store = try SQLiteStore.open(home: home)
            let log = try store.transaction(.full) { try store.sampleLog() }
            try store.transaction(.full) {
                try store.store(try Sample.operations(log, 0..<20), log)
            }
            let stored = try #require(try store.operation(at: 7, in: log.number))
            let row = try store.sealedTail(stored.number)
            #expect(row.count > 40)
            #expect(try !holds(home, row).isEmpty)
            let commitment = try #require(OperationHash.commitment(of: stored.operation))
            try store.transaction(.full) { try store.erase(stored.number, commitment: commitment) }
            // The old page is still in the log of changes: erasing is done when that is emptied.
            #expect(try !holds(home, row).isEmpty)
            #expect(try store.renewVaultKey())
            #expect(try holds(home, row).isEmpty)
            // What was not erased is there, and opens.
            let other = try #require(try store.operation(at: 8, in: log.number))
            #expect(other.operation.payload != nil)
            #expect(try !holds(home, store.sealedTail(other.number)).isEmpty)
        }
    }

    @Test("of the vault opens by nothing that the home still has")
    func secret() throws {
        try withHome { home in
            let store = try SQLiteStore.open(home: home)
            let secret = Secret(Array("a secret of thirty-two bytes, ok".utf8))
            try store.transaction(.full) { try store.setSecret(secret, "one") }
            let rows = try store.vaultRows()
            let keystore = try Data(contentsOf: URL(filePath: home.keystore))
            #expect(try store.renewVaultKey())
            for row in rows { #expect(try holds(home, row).isEmpty) }
            #expect(try holds(home, Array(keystore)).isEmpty)
            #expect(try store.secret("one") == secret)
            // A thief who has the old rows and the keystore of today: it knows no such generation.
            #expect(try store.vaultRows().allSatisfy { !rows.contains($0) })
        }
    }

    @Test("leaves nothing in clear, whatever was done before")
    func canaries() throws {
        try withHome { home in
            let words = ["zucchini", "a secret of thirty"]
            do {
                let store = try SQLiteStore.open(home: home)
                let log = try store.transaction(.full) { try store.sampleLog() }
                try store.transaction(.full) {
                    try store.setSecret(Secret(Array("a secret of thirty-two bytes".utf8)), "one")
                    try store.store(
                        try Sample.operations(log, 0..<300, text: "zucchini again"), log)
                }
                #expect(try store.renewVaultKey())
                try store.protect(with: .keyFile)
                try store.writeGuard(heads: store.heads(of: Sample.device))
                for word in words { #expect(try holds(home, Array(word.utf8)).isEmpty) }
                try store.close()
            }
            for word in words { #expect(try holds(home, Array(word.utf8)).isEmpty) }
        }
    }
}

extension SQLiteStore {
    /// The sealed payload of an operation as it lies in its column.
    fileprivate func sealedTail(_ number: OperationNumber) throws -> [UInt8] {
        let query = try connection.prepare("SELECT tail FROM operation WHERE number = ?")
        query.bind(1, number.rawValue)
        defer { query.reset() }
        return try query.step("test") ? query.array(0) : []
    }

    /// Every sealed key.
    fileprivate func vaultRows() throws -> [[UInt8]] {
        let query = try connection.prepare("SELECT content FROM vault")
        defer { query.reset() }
        var rows: [[UInt8]] = []
        while try query.step("test") { rows.append(query.array(0)) }
        return rows
    }
}
