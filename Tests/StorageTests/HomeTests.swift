import Foundation
import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleyStorage
import ParleyWire
import Testing

@Suite("A home")
struct HomeTests {
    private func made(_ home: Home) throws {
        let store = try SQLiteStore.open(home: home)
        try store.transaction(.full) {
            let log = try store.sampleLog()
            try store.store(try Sample.operations(log, 0..<10), log)
        }
        try store.writeGuard(heads: store.heads(of: Sample.device))
        try store.close()
    }

    private func refusal(_ home: Home, _ unlock: Unlock = .keyFile) -> HomeError.Code? {
        do {
            _ = try SQLiteStore.open(home: home, unlock: unlock)
            return nil
        } catch {
            // Written for a person: one line that names the place, and what to do.
            #expect(error.description.contains(home.path) && !error.hint.isEmpty)
            return error.code
        }
    }

    private func permissions(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test("belongs to its owner alone")
    func permissions() throws {
        try withHome { home in
            #expect(!home.isMade)
            let store = try SQLiteStore.open(home: home)
            try store.writeGuard(heads: [])
            try store.transaction { _ = try store.sampleLog() }
            #expect(home.isMade)
            #expect(!store.isProtectedByPassphrase)
            #expect(try permissions(home.path) == 0o700)
            for file in try FileManager.default.contentsOfDirectory(atPath: home.path) {
                #expect(try permissions(home.path + "/" + file) == 0o600, "\(file)")
            }
        }
    }

    @Test("is used by one process at a time, and says by which")
    func lock() throws {
        try withHome { home in
            do {
                let store = try SQLiteStore.open(home: home)
                #expect(refusal(home) == .locked(process: getpid()))
                withExtendedLifetime(store) {}
            }
            #expect(refusal(home) == nil)
        }
    }

    @Test("of a newer version is left alone")
    func newerSchema() throws {
        try withHome { home in
            try made(home)
            let database = try RawDatabase(home)
            try database.execute("INSERT INTO grdb_migrations VALUES ('from the future')")
            database.close()
            #expect(refusal(home) == .newerSchema)
        }
    }

    @Test("does not take the database of another node")
    func otherDatabase() throws {
        try withHome { home in
            try withHome { other in
                try made(home)
                try made(other)
                try FileManager.default.removeItem(atPath: home.database)
                try FileManager.default.copyItem(atPath: other.database, toPath: home.database)
                #expect(refusal(home) == .databaseOfAnotherNode)
            }
        }
    }

    @Test("says when its database is damaged")
    func damaged() throws {
        try withHome { home in
            try made(home)
            try Data(repeating: 7, count: 50_000).write(to: URL(filePath: home.database))
            #expect(refusal(home) == .databaseDamaged)
        }
    }

    @Test("says when keystore or key file is missing or not what was written")
    func keystore() throws {
        try withHome { home in
            try made(home)
            let good = try Data(contentsOf: URL(filePath: home.keystore))
            for place in 0..<good.count {
                var bad = good
                bad[place] ^= 0x10
                try bad.write(to: URL(filePath: home.keystore))
                let code = refusal(home)
                #expect(code == .keystoreBroken || code == .wrongPassphrase, "byte \(place)")
            }
            for count in [0, 1, 5, 40, good.count - 1] {
                try good.prefix(count).write(to: URL(filePath: home.keystore))
                #expect(refusal(home) == .keystoreBroken, "\(count) bytes")
            }
            try FileManager.default.removeItem(atPath: home.keystore)
            #expect(refusal(home) == .keyMissing)
            try good.write(to: URL(filePath: home.keystore))
            chmod(home.keystore, 0o600)
            #expect(refusal(home) == nil)
            try FileManager.default.removeItem(atPath: home.keyFile)
            #expect(refusal(home) == .keyMissing)
        }
    }

    @Test("opens with its passphrase and nothing else")
    func passphrase() throws {
        try withHome { home in
            func open(_ unlock: Unlock) throws -> SQLiteStore {
                try SQLiteStore.open(home: home, unlock: unlock, cost: .interactiveForTests)
            }
            func code(_ unlock: Unlock) -> HomeError.Code? {
                #expect(throws: HomeError.self) { try open(unlock) }?.code
            }
            do {
                let store = try open(.passphrase([1, 2, 3]))
                #expect(store.isProtectedByPassphrase)
                try store.transaction { try store.setValue([9], .card, [1]) }
            }
            #expect(access(home.keyFile, F_OK) != 0)
            #expect(code(.passphrase([1, 2, 4])) == .wrongPassphrase)
            #expect(code(.passphrase([])) == .wrongPassphrase)
            #expect(code(.keyFile) == .passphraseNeeded)
            do {
                let store = try open(.passphrase([1, 2, 3]))
                #expect(try store.value(.card, [1]) == [9])
                try store.protect(with: .keyFile)
                #expect(!store.isProtectedByPassphrase)
            }
            #expect(code(.passphrase([1, 2, 3])) == .passphraseNotUsed)
            do {
                let store = try open(.keyFile)
                #expect(try store.value(.card, [1]) == [9])
                try store.protect(with: .passphrase([5]))
            }
            #expect(access(home.keyFile, F_OK) != 0)
            #expect(try open(.passphrase([5])).value(.card, [1]) == [9])
            // Work that a file asks for is bounded, also by who did not ask for less.
            #expect(refusal(home, .passphrase([5])) == .keystoreBroken)
        }
    }

    @Test("renews the key of its vault, and finishes a renewal that was cut off")
    func renew() throws {
        try withHome { home in
            let old: Data
            do {
                let store = try SQLiteStore.open(home: home)
                try store.transaction(.full) {
                    try store.setSecret(Secret([1]), "a")
                    try store.setValue([9], .card, [1])
                }
                old = try Data(contentsOf: URL(filePath: home.keystore))
                #expect(try store.renewVaultKey())
                #expect(try store.secret("a") == Secret([1]))
                try store.transaction(.full) { try store.setSecret(Secret([2]), "b") }
                #expect(try store.renewVaultKey())
            }
            let new = try Data(contentsOf: URL(filePath: home.keystore))
            #expect(new.count == old.count)
            do {
                let store = try SQLiteStore.open(home: home)
                #expect(try store.secret("a") == Secret([1]))
                #expect(try store.secret("b") == Secret([2]))
                #expect(try store.value(.card, [1]) == [9])
            }
            // The old key opens nothing any more.
            try old.write(to: URL(filePath: home.keystore))
            do {
                let store = try SQLiteStore.open(home: home)
                let error = #expect(throws: StoreError.self) { try store.secret("a") }
                #expect(error?.code == .corrupt)
            }
            try new.write(to: URL(filePath: home.keystore))
            #expect(refusal(home) == nil)
        }
    }

    @Test("Attack 91: that other users may change, or read files of, is refused until that ends")
    func openToOthers91() throws {
        try withHome { home in
            try made(home)
            for mode in [0o777, 0o770, 0o730, 0o707] {
                chmod(home.path, mode_t(mode))
                #expect(refusal(home) == .openToOthers, "folder \(String(mode, radix: 8))")
            }
            // Who may only list it learns four names.
            chmod(home.path, 0o755)
            #expect(refusal(home) == nil)
            for file in [home.keystore, home.keyFile, home.database, home.guardFile] {
                for mode in [0o644, 0o660, 0o604, 0o755, 0o701] {
                    chmod(file, mode_t(mode))
                    #expect(refusal(home) == .openToOthers, "\(file) \(String(mode, radix: 8))")
                }
                // What the hint makes of 755.
                chmod(file, 0o700)
                #expect(refusal(home) == nil, "\(file)")
                chmod(file, 0o600)
            }
            #expect(refusal(home) == nil)
        }
    }

    @Test(
        "Attack 91: of another user is refused, and so are files of theirs in it",
        .enabled(if: geteuid() == 0, "only root can give a file away"))
    func foreignOwner91() throws {
        try withHome { home in
            try made(home)
            for path in [home.path, home.keystore, home.keyFile, home.database] {
                chown(path, 65_534, 65_534)
                #expect(refusal(home) == .foreignOwner, "\(path)")
                chown(path, 0, 0)
            }
            #expect(refusal(home) == nil)
        }
    }

    @Test("Attack 91: reads and writes through no symbolic link in it")
    func symbolicLinks91() throws {
        try withHome { home in
            try withHome { other in
                try made(home)
                try FileManager.default.createDirectory(
                    atPath: other.path, withIntermediateDirectories: true)
                for file in [home.keystore, home.keyFile, home.database] {
                    let moved = other.path + "/moved"
                    try FileManager.default.moveItem(atPath: file, toPath: moved)
                    try FileManager.default.createSymbolicLink(
                        atPath: file, withDestinationPath: moved)
                    #expect(refusal(home) == .symbolicLink, "\(file)")
                    try FileManager.default.removeItem(atPath: file)
                    try FileManager.default.moveItem(atPath: moved, toPath: file)
                }
                // What is written beside a file before it takes its place.
                let target = other.path + "/target"
                try Data("mine".utf8).write(to: URL(filePath: target))
                for file in [home.keystore, home.keyFile] {
                    try FileManager.default.createSymbolicLink(
                        atPath: file + ".new", withDestinationPath: target)
                }
                do {
                    let store = try SQLiteStore.open(home: home)
                    #expect(try store.renewVaultKey())
                    try store.protect(with: .keyFile)
                }
                #expect(try Data(contentsOf: URL(filePath: target)) == Data("mine".utf8))
                #expect(refusal(home) == nil)
            }
        }
    }

    @Test("Attack 91: what lies where a file is first written is replaced, not written into")
    func foreignNewFile91() throws {
        try withHome { home in
            try made(home)
            for file in [home.keystore, home.keyFile] {
                let path = file + ".new"
                try Data("theirs".utf8).write(to: URL(filePath: path))
                chmod(path, 0o666)
                // Only root can give a file away.
                if geteuid() == 0 { chown(path, 65_534, 65_534) }
            }
            // Who put it there may still have it open, under another name as well.
            let name = home.keystore + ".new"
            let theirs = try FileHandle(forUpdating: URL(filePath: name))
            try FileManager.default.linkItem(atPath: name, toPath: home.path + "/other")
            do {
                let store = try SQLiteStore.open(home: home)
                #expect(try store.renewVaultKey())
                try store.protect(with: .keyFile)
                try store.close()
            }
            #expect(try theirs.readToEnd() == Data("theirs".utf8))
            for file in [home.keystore, home.keyFile] {
                let attributes = try FileManager.default.attributesOfItem(atPath: file)
                #expect(attributes[.posixPermissions] as? Int == 0o600)
                #expect(attributes[.ownerAccountID] as? Int == Int(geteuid()))
                #expect(!FileManager.default.fileExists(atPath: file + ".new"))
            }
            #expect(refusal(home) == nil)
        }
    }

    @Test("in a folder that cannot be one")
    func folder() throws {
        #expect(refusal(Home("/proc/parley")) == .other)
        try withHome { home in
            try Data().write(to: URL(filePath: home.path))
            #expect(refusal(home) == .other)
        }
    }

    @Test("that fell behind its guard is found out")
    func behind() throws {
        try withHome { home in
            try withHome { backup in
                try made(home)
                try FileManager.default.copyItem(atPath: home.path, toPath: backup.path)
                do {
                    let store = try SQLiteStore.open(home: home)
                    #expect(store.rejoin == nil)
                    let log = try #require(try store.logs(in: SpaceNumber(1)).first)
                    try store.transaction(.full) {
                        try store.store(try Sample.operations(log, 10..<11), log)
                    }
                    let heads = store.heads(of: Sample.device)
                    #expect(heads.map(\.sequence) == [10])
                    try store.writeGuard(heads: heads)
                    #expect(try store.readGuard() == heads)
                    try store.close()
                }
                try FileManager.default.removeItem(atPath: home.database)
                try FileManager.default.copyItem(atPath: backup.database, toPath: home.database)
                let store = try SQLiteStore.open(home: home)
                #expect(store.rejoin == .behind(logCount: 1))
                try store.rejoined(heads: store.heads(of: Sample.device))
                #expect(store.rejoin == nil)
            }
        }
    }

    @Test("remembers in its guard which card was shown, and never an older one")
    func guardedCard() throws {
        try withHome { home in
            try made(home)
            do {
                let store = try SQLiteStore.open(home: home)
                #expect(store.guardedCardVersion == .zero)
                let heads = store.heads(of: Sample.device)
                try store.writeGuard(heads: heads, cardVersion: CardVersion(clamping: 7))
                try store.writeGuard(heads: heads, cardVersion: CardVersion(clamping: 6))
                try store.close()
            }
            let store = try SQLiteStore.open(home: home)
            #expect(store.guardedCardVersion == CardVersion(clamping: 7))
            #expect(store.rejoin == nil)
        }
    }

    /// 1 MiB of them was once more than was read: a node with 10,000 spaces did not open again.
    @Test("of a node with very many spaces opens again")
    func manyHeads() throws {
        try withHome { home in
            try made(home)
            do {
                let store = try SQLiteStore.open(home: home)
                let heads = store.heads(of: Sample.device)
                let first = try #require(heads.first)
                let others = (1...40_000).map { number in
                    GuardedHead(
                        log: LogID { $0.storeBytes(of: number, as: Int.self) }, sequence: 0,
                        operation: first.operation)
                }
                try store.writeGuard(heads: heads + others)
                try store.close()
            }
            let store = try SQLiteStore.open(home: home)
            #expect(try store.readGuard().count == 40_001)
            #expect(store.rejoin == .behind(logCount: 40_000))
        }
    }

    @Test("whose guard is missing, damaged or of another database is found out")
    func guardFile() throws {
        try withHome { home in
            try made(home)
            let good = try Data(contentsOf: URL(filePath: home.guardFile))
            var bad = good
            bad[bad.count - 1] ^= 1
            try bad.write(to: URL(filePath: home.guardFile))
            #expect(try SQLiteStore.open(home: home).rejoin == .guardDamaged)
            try good.prefix(20).write(to: URL(filePath: home.guardFile))
            #expect(try SQLiteStore.open(home: home).rejoin == .guardDamaged)
            try FileManager.default.removeItem(atPath: home.guardFile)
            #expect(try SQLiteStore.open(home: home).rejoin == .guardMissing)
            try good.write(to: URL(filePath: home.guardFile))
            chmod(home.guardFile, 0o600)
            #expect(try SQLiteStore.open(home: home).rejoin == nil)
            // A database with another name is another one.
            let database = try RawDatabase(home)
            try database.execute("DELETE FROM meta")
            database.close()
            #expect(try SQLiteStore.open(home: home).rejoin == .anotherInstance)
        }
    }

    @Test("whose database is gone or empty beside its keys is refused, and nothing is made there")
    func gone() throws {
        try withHome { home in
            try made(home)
            try Data().write(to: URL(filePath: home.database))
            #expect(refusal(home) == .databaseGone)
            try FileManager.default.removeItem(atPath: home.database)
            #expect(refusal(home) == .databaseGone)
            #expect(!FileManager.default.fileExists(atPath: home.database))
        }
    }

    @Test("known to be damaged is read and not written, until the note is gone")
    func damageNote() throws {
        try withHome { home in
            try made(home)
            try home.note(DamageNote(time: 7, what: "a page\nis gone"))
            try home.note(DamageNote(time: 8, what: "another"))
            #expect(home.damage == DamageNote(time: 7, what: "a page is gone"))
            do {
                let store = try SQLiteStore.open(home: home)
                #expect(try store.spaces().count == 1)
                let error = #expect(throws: StoreError.self) { try store.begin(.full) }
                #expect(error?.code == .corrupt && error?.detail == "a page is gone")
                try store.close()
            }
            try home.forgetDamage()
            #expect(try SQLiteStore.open(home: home).bar == nil)
        }
    }
}
