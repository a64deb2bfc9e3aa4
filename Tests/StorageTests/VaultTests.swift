import Foundation
import ParleyLedger
import ParleyNodeCore
import ParleyFiles
import ParleySealing
import ParleyWire
import Testing

@testable import ParleyStorage

@Suite("The vault")
struct VaultTests {
    private func made(_ home: Home) throws {
        let store = try SQLiteStore.open(home: home)
        try store.transaction(.full) {
            try store.setSecret(Secret(Array("a secret of thirty-two bytes, ok".utf8)), "one")
            try store.setSecret(Secret(Array("another of the very same length!".utf8)), "two")
        }
        try store.writeGuard(heads: [])
        try store.close()
    }

    /// What becomes of reading both secrets after this was done to the database.
    private func readable(after statement: String, in home: Home) throws -> Bool {
        let database = try RawDatabase(home)
        try database.execute(statement)
        database.close()
        do {
            let store = try SQLiteStore.open(home: home)
            _ = try store.secret("one")
            _ = try store.secret("two")
            return true
        } catch {
            return false
        }
    }

    @Test("Attack 52: a row that was moved, or is said to be of another generation, opens nothing")
    func moved() throws {
        for statement in [
            "UPDATE vault SET generation = generation + 1",
            "UPDATE vault SET generation = generation - 1",
            "UPDATE vault SET number = number + 100",
            """
            UPDATE vault SET content = (SELECT content FROM vault AS other
                WHERE other.purpose = 1 AND other.number <> vault.number LIMIT 1) WHERE purpose = 1
            """,
        ] {
            try withHome { home in
                try made(home)
                #expect(try readable(after: "SELECT 1", in: home))
                #expect(try !readable(after: statement, in: home), "\(statement)")
            }
        }
    }

    @Test("opens by what it is locked with, wherever a change of that is cut off")
    func cutOff() throws {
        let words: [UInt8] = Array("correct horse".utf8)
        for (from, to) in [
            (Unlock.keyFile, Unlock.passphrase(words)), (.passphrase(words), .keyFile),
        ] {
            // A change replaces or removes a file at each step; the process dies after so many.
            for steps in 0..<6 {
                try withHome { home in
                    do {
                        let store = try SQLiteStore.open(
                            home: home, unlock: from, cost: .interactiveForTests)
                        try store.transaction(.full) {
                            try store.setSecret(Secret([1, 2, 3]), "kept")
                        }
                    }
                    let dying = Home(home.path, on: DyingDisk(steps: steps))
                    do {
                        let store = try SQLiteStore.open(
                            home: dying, unlock: from, cost: .interactiveForTests)
                        try store.protect(with: to)
                        try store.renewVaultKey()
                    } catch {}
                    let opened = [from, to].compactMap { unlock in
                        try? SQLiteStore.open(
                            home: home, unlock: unlock, cost: .interactiveForTests
                        ).secret("kept")
                    }
                    #expect(opened.count == 1, "after \(steps) steps")
                    #expect(opened.first == Secret([1, 2, 3]))
                }
            }
        }
    }

    @Test("leaves no key file beside a passphrase, even where the change was cut off")
    func leftover() throws {
        try withHome { home in
            let unlock = Unlock.passphrase(Array("correct horse".utf8))
            do {
                _ = try SQLiteStore.open(home: home, unlock: unlock, cost: .interactiveForTests)
            }
            try Data(repeating: 7, count: 32).write(to: URL(filePath: home.keyFile))
            _ = try SQLiteStore.open(home: home, unlock: unlock, cost: .interactiveForTests)
            #expect(!FileManager.default.fileExists(atPath: home.keyFile))
        }
    }
}

/// The machine's disk, to a process that dies after so many changes of files.
private final class DyingDisk: HomeDisk, @unchecked Sendable {
    private struct Dead: Error {}
    private let machine = MachineDisk()
    private var steps: Int

    init(steps: Int) { self.steps = steps }

    private func step(_ file: String) throws(HomeError) {
        guard steps > 0 else { throw HomeError(.other, path: file, detail: "dead") }
        steps -= 1
    }

    var fileSystem: String? { nil }
    func makeFolder(_ path: String) throws(HomeError) { try machine.makeFolder(path) }
    func lock(_ home: Home) throws(HomeError) -> AnyObject { try machine.lock(home) }
    func exists(_ file: String) -> Bool { machine.exists(file) }
    func read(_ file: String, atMost limit: Int) throws(HomeError) -> [UInt8]? {
        try machine.read(file, atMost: limit)
    }
    func replace(_ file: String, with bytes: [UInt8]) throws(HomeError) {
        try step(file)
        try machine.replace(file, with: bytes)
    }
    func remove(_ file: String) throws(HomeError) {
        try step(file)
        try machine.remove(file)
    }
    func makeDatabase(_ file: String) throws(HomeError) { try machine.makeDatabase(file) }
    func blobs(in folder: String) -> any BlobStore { machine.blobs(in: folder) }
}
