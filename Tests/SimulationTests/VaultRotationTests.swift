import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleySimulation
import Testing

@testable import ParleySimulatedDisk
@testable import ParleyStorage

/// Forgetting for good: what was let go of opens for nobody who takes the disk afterwards.
@Suite("A vault that is sealed anew")
struct VaultRotationTests {
    private static let space = SpaceNumber(1)

    private static func secret(_ byte: UInt8) -> Secret {
        Secret([UInt8](repeating: byte, count: 32))
    }

    private func transaction(_ store: SQLiteStore, _ body: () throws -> Void) throws {
        try store.begin(.full)
        do { try body() } catch {
            store.rollback()
            throw error
        }
        try store.commit()
    }

    /// A store with two secrets, of which the first was dropped, and the row it lay in.
    private func prepared(_ disk: FaultDisk) throws -> (store: SQLiteStore, row: [UInt8]) {
        let store = try disk.open()
        try transaction(store) {
            try store.setSecret(Self.secret(1), .leaf, [1], in: Self.space)
            try store.setSecret(Self.secret(2), .leaf, [2], in: Self.space)
        }
        let row = try #require(try rows(store).first { $0.count == 2 + 32 + sealedRowOverhead })
        try transaction(store) { try store.setSecret(nil, .leaf, [1], in: Self.space) }
        return (store, row)
    }

    /// Every row of the vault as it lies on the disk.
    private func rows(_ store: SQLiteStore) throws -> [[UInt8]] {
        let statement = try store.connection.prepare("SELECT content FROM vault ORDER BY number")
        defer { statement.reset() }
        var found: [[UInt8]] = []
        while try statement.step("looking on") { found.append(statement.array(0)) }
        return found
    }

    private func contains(_ needle: [UInt8], _ files: [StoredFile]) -> String? {
        files.first { file in
            guard file.bytes.count >= needle.count else { return false }
            return (0...(file.bytes.count - needle.count)).contains { start in
                file.bytes[start] == needle[0]
                    && file.bytes[start..<(start + needle.count)].elementsEqual(needle)
            }
        }?.name
    }

    @Test("a secret that was dropped is in no page, in no log, and the key of its row is gone")
    func erased() throws {
        let disk = FaultDisk(seed: 1)
        let (store, row) = try prepared(disk)
        let before = store.vault.keystore
        let oldFile = try #require(disk.bytes(of: "keystore"))
        // Until then it can be found: the log of changes still holds the page.
        #expect(contains(row, disk.files) == "database-wal")
        #expect(try store.renewVaultKey())
        #expect(contains(row, disk.files) == nil)
        for _ in 0..<3 {
            #expect(try store.secret(.leaf, [2], in: Self.space) == Self.secret(2))
            #expect(try store.secret(.leaf, [1], in: Self.space) == nil)
            try disk.open().close()
        }
        // Nothing that the disk holds leads to the old key any more.
        let after = try disk.open().vault.keystore
        #expect(after.generation == before.generation + 1 && after.previousVaultKey == nil)
        #expect(after.vaultKey != before.vaultKey && after.master == before.master)
        #expect(contains(oldFile, disk.files) == nil)
        #expect(disk.files.allSatisfy { !$0.name.hasSuffix(".new") })
    }

    @Test(
        "Attack 33: cut off at every call, the sealing anew is finished at the next start",
        arguments: [true, false])
    func everyCrash(losingPower: Bool) throws {
        var cuts = 0
        for call in 1...400 {
            let disk = FaultDisk(seed: UInt64(call))
            let (store, row) = try prepared(disk)
            disk.fail(.inputOutput, atCall: call, isLasting: true)
            var isDone = false
            do { isDone = try store.renewVaultKey() } catch { cuts += 1 }
            if losingPower { disk.losePower() } else { disk.kill() }
            disk.failNoMore()
            let next = try disk.open()
            #expect(try next.secret(.leaf, [2], in: Self.space) == Self.secret(2), "call \(call)")
            #expect(try next.secret(.leaf, [1], in: Self.space) == nil, "call \(call)")
            // Whatever was left half done is done by now, or was never begun.
            #expect(next.vault.keystore.previousVaultKey == nil, "call \(call)")
            #expect(try next.renewVaultKey())
            #expect(contains(row, disk.files) == nil, "call \(call)")
            if isDone { break }
            #expect(call < 400, "the renewal never got through")
        }
        #expect(cuts > 5, "\(cuts)")
    }

    @Test("somebody who reads keeps both keys until the log of changes can be emptied")
    func readers() throws {
        let disk = FaultDisk(seed: 3)
        let (store, row) = try prepared(disk)
        try store.connection.execute("BEGIN", "reading")
        let reader = try Connection(path: store.home.database, fileSystem: disk.fileSystem)
        try store.connection.execute("COMMIT", "reading")
        try reader.execute("BEGIN; SELECT count(*) FROM vault;", "reading")
        #expect(try !store.renewVaultKey())
        #expect(store.vault.keystore.previousVaultKey != nil)
        #expect(try store.secret(.leaf, [2], in: Self.space) == Self.secret(2))
        try reader.execute("COMMIT", "reading")
        #expect(try store.renewVaultKey())
        #expect(store.vault.keystore.previousVaultKey == nil)
        #expect(contains(row, disk.files) == nil)
    }

    @Test("a bucket in which everything was erased loses its key, one with a payload keeps it")
    func buckets() throws {
        let store = try FaultDisk(seed: 4).open()
        try transaction(store) {
            _ = try store.vault.keyOrNew(of: 1)
            _ = try store.vault.keyOrNew(of: 2)
            let insert = try store.connection.prepare(
                "INSERT INTO operation VALUES (?1, 1, ?1, x'00', x'00', ?2, 0, 0)")
            for number in Int64(16_380)..<16_390 {
                insert.bind(1, number)
                insert.bind(2, copying: [UInt8](repeating: 1, count: number == 16_384 ? 60 : 32))
                try insert.run("storing")
                insert.reset()
            }
            store.nextOperation = 16_390
        }
        #expect(try store.vault.hasKey(of: 1) && store.vault.hasKey(of: 2))
        #expect(try store.renewVaultKey())
        #expect(try !store.vault.hasKey(of: 1), "nothing but commitments is left in it")
        #expect(try store.vault.hasKey(of: 2))
        // What still lies somewhere under the old key opens no more, and new rows get another.
        #expect(throws: StoreError.self) { try store.vault.key(of: 1) }
    }
}
