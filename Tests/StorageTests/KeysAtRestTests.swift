import Foundation
import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleyWire
import ParleyWords
import Testing

@testable import ParleyStorage

/// What a copy of former keys still opens once the lock of a home has changed.
@Suite("Keys at rest")
struct KeysAtRestTests {
    private static let words: [UInt8] = Array("correct horse".utf8)
    private static let texts = (0..<40).map { "zucchini number\($0)" }

    private func open(_ home: Home, _ unlock: Unlock = .keyFile) throws -> SQLiteStore {
        try SQLiteStore.open(home: home, unlock: unlock, cost: .interactiveForTests)
    }

    /// Makes a home with texts, an index of them and a guard.
    private func made(_ home: Home) throws {
        let store = try open(home)
        try store.transaction(.full) {
            let log = try store.sampleLog()
            try store.store(
                try Self.texts.enumerated().map { try SaidTexts.said($1, UInt64($0), log) }, log)
        }
        try follow(store)
        try store.writeGuard(heads: store.heads(of: Sample.device))
        try store.close()
    }

    private func follow(_ store: SQLiteStore) throws {
        if try !store.wordIndexState().isCurrent {
            try store.transaction { try store.resetWordIndex(isOff: false) }
        }
        while try store.followWords(limit: 7) {}
    }

    private func hitCount(_ store: SQLiteStore) throws -> Int {
        let query = try SearchQuery("zucchini", at: 0)
        return try store.wordHits(query.narrowing, excluding: [], limit: 100).count
    }

    /// Whether this hash of a term lies in any file.
    private func holds(_ home: Home, _ hash: String) throws -> Bool {
        // Words share beginnings with the one before them in a page; the end of one is as good.
        let end = Data(hash.utf8.suffix(6))
        return try FileManager.default.contentsOfDirectory(atPath: home.path).contains { name in
            try Data(contentsOf: URL(filePath: home.path + "/" + name)).range(of: end) != nil
        }
    }

    private func copy(_ home: Home, to other: Home) throws {
        try? FileManager.default.removeItem(atPath: other.path)
        try FileManager.default.copyItem(atPath: home.path, toPath: other.path)
    }

    @Test("Attack 169: who copied the home before the passphrase was changed tests no word today")
    func oldKeys() throws {
        let term = try #require(Terms.ofText("number7").last)
        let other: [UInt8] = Array("battery staple".utf8)
        for (from, to) in [
            (Unlock.keyFile, Unlock.passphrase(Self.words)),
            (.passphrase(Self.words), .passphrase(other)), (.passphrase(Self.words), .keyFile),
        ] {
            try withHome { home in
                try withHome { thief in
                    try made(home)
                    if case .passphrase = from { try change(home, .keyFile, from) }
                    try copy(home, to: thief)
                    let before = try open(thief, from)
                    let (oldKey, master) = (
                        try before.requireWordKey(), before.vault.keystore.master
                    )
                    let oldGuardKeys = try before.guardKeys()
                    #expect(try holds(home, oldKey.hash(term)))
                    try change(home, from, to)
                    // No hash of former days is left in any file, nor one of the master key.
                    #expect(try !holds(home, oldKey.hash(term)))
                    let grown = WordKey(secret: Secret(master.withUnsafeBytes { Array($0) }))
                    #expect(try !holds(home, grown.hash(term)))
                    let after = try open(home, to)
                    #expect(after.rejoin == nil)
                    #expect(try hitCount(after) == Self.texts.count)
                    #expect(try holds(home, after.requireWordKey().hash(term)))
                    #expect(try after.guardFile.read(openedBy: after.guardKeys())?.heads.count == 1)
                    let former = oldGuardKeys + [deriveSecret(key: master, .guardFile)]
                    #expect(try after.guardFile.read(openedBy: former)?.isReadable == false)
                }
            }
        }
    }

    /// Changes the lock and makes the index anew, as the program does.
    private func change(_ home: Home, _ from: Unlock, _ to: Unlock) throws {
        let store = try open(home, from)
        try store.protect(with: to)
        #expect(try store.renewVaultKey())
        while try store.followWords(limit: 16) {}
        try store.close()
    }

    @Test("Attack 169: the old keystore opens no row of the vault that lies there now")
    func vault() throws {
        try withHome { home in
            try made(home)
            let (keystore, key) = (
                try Data(contentsOf: URL(filePath: home.keystore)),
                try Data(contentsOf: URL(filePath: home.keyFile))
            )
            try change(home, .keyFile, .passphrase(Self.words))
            try keystore.write(to: URL(filePath: home.keystore))
            try key.write(to: URL(filePath: home.keyFile))
            for file in [home.keystore, home.keyFile] { chmod(file, 0o600) }
            #expect(throws: HomeError.self) { try open(home) }
        }
    }

    @Test("a home whose index and guard hang on the master key gets keys at the next start")
    func formerHome() throws {
        try withHome { home in
            try made(home)
            let term = try #require(Terms.ofText("number7").last)
            let old: String
            do {
                let store = try open(home)
                let grown = WordKey(secret: store.vault.keystore.master)
                old = grown.hash(term)
                let heads = store.heads(of: Sample.device)
                try store.transaction(.full) {
                    try store.vault.setSecret(nil, "guard key")
                    try store.vault.setSecret(nil, "index key")
                    let insert = try store.searchStatements().insertWords
                    insert.bind(1, 1000)
                    insert.bind(2, text: old)
                    try insert.run("test")
                }
                #expect(try store.guardKeys().count == 1)
                try store.writeGuard(heads: heads)
                #expect(try hitCount(store) == 0)
                try store.close()
            }
            #expect(try holds(home, old))
            let store = try open(home)
            #expect(store.rejoin == nil)
            #expect(try store.readGuard().count == 1)
            let original = deriveSecret(key: store.vault.keystore.master, .guardFile)
            #expect(try store.guardFile.read(openedBy: [original])?.isReadable == false)
            #expect(try !store.wordIndexState().isCurrent)
            #expect(try hitCount(store) == 0)
            try follow(store)
            #expect(try hitCount(store) == Self.texts.count)
            #expect(try store.checkpoint())
            #expect(try !holds(home, old))
        }
    }

    @Test("a database from before a change does not know today's guard, and writes nothing yet")
    func setBack() throws {
        try withHome { home in
            try withHome { before in
                try made(home)
                try copy(home, to: before)
                try change(home, .keyFile, .passphrase(Self.words))
                try FileManager.default.removeItem(atPath: before.guardFile)
                try FileManager.default.copyItem(atPath: home.guardFile, toPath: before.guardFile)
                #expect(try open(before).rejoin == .guardDamaged)
                #expect(try open(home, .passphrase(Self.words)).rejoin == nil)
            }
        }
    }
}
