import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleySimulation
import ParleyWords
import Testing

@testable import ParleySimulatedDisk
@testable import ParleyStorage

/// A change of what opens a home, cut off at every call of the disk.
@Suite("A home whose lock is changed")
struct LockChangeTests {
    private static let words: [UInt8] = Array("correct horse".utf8)

    private func open(_ disk: FaultDisk, _ unlock: Unlock) throws -> SQLiteStore {
        let wasObserved = disk.isObserved
        disk.isObserved = true
        defer { disk.isObserved = wasObserved }
        disk.openCount += 1
        return try SQLiteStore.open(
            home: disk.home, unlock: unlock,
            random: SeededRandom(seed: disk.seed, purpose: "life \(disk.openCount)"),
            cost: .interactiveForTests)
    }

    /// A store with an index that has rows, and with a guard.
    private func prepared(_ disk: FaultDisk) throws -> SQLiteStore {
        let store = try open(disk, .keyFile)
        try store.begin(.full)
        try store.resetWordIndex(isOff: false)
        let insert = try store.searchStatements().insertWords
        insert.bind(1, 1)
        insert.bind(2, text: try store.requireWordKey().hashed(Terms.ofText("zucchini")))
        try insert.run("test")
        try store.commit()
        try store.writeGuard(heads: [])
        return store
    }

    private func hits(_ store: SQLiteStore) throws -> [Int64] {
        let query = try SearchQuery("zucchini", at: 0)
        return try store.wordHits(query.narrowing, excluding: [], limit: 10)
    }

    @Test(
        "Attack 33: opens by the old lock as it was, or by the new one with every key new",
        arguments: [true, false])
    func everyCrash(losingPower: Bool) throws {
        var (opened, changed) = (0, 0)
        for call in 1...600 {
            let disk = FaultDisk(seed: UInt64(call))
            let store = try prepared(disk)
            let old = try (store.requireWordKey(), store.guardKeys())
            disk.fail(.inputOutput, atCall: call, isLasting: true)
            var isDone = false
            do {
                try store.protect(with: .passphrase(Self.words))
                isDone = try store.renewVaultKey()
            } catch {}
            if losingPower { disk.losePower() } else { disk.kill() }
            disk.failNoMore()
            let next: SQLiteStore
            if let kept = try? open(disk, .keyFile) {
                next = kept
                opened += 1
                #expect(!isDone)
            } else {
                next = try open(disk, .passphrase(Self.words))
                changed += 1
                #expect(try next.requireWordKey().secret != old.0.secret, "call \(call)")
                #expect(try next.guardKeys() != old.1, "call \(call)")
            }
            // Whatever was left half done is done by now.
            #expect(next.vault.keystore.previousVaultKey == nil, "call \(call)")
            #expect(try next.guardKeys().count == 1, "call \(call)")
            #expect(next.rejoin == nil, "call \(call)")
            // Under the old key the index is whole, under another it is empty and begins anew: never
            // does it find nothing of what it is said to have.
            if try next.requireWordKey().secret == old.0.secret {
                #expect(try hits(next) == [1], "call \(call)")
            } else {
                #expect(try hits(next).isEmpty && next.wordIndexState().through == 0)
            }
            if isDone { break }
            #expect(call < 600, "the change never got through")
        }
        #expect(opened > 5 && changed > 5, "\(opened) \(changed)")
    }
}
