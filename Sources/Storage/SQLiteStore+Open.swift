import Foundation
import Glibc
import GRDB
import ParleyLedger
public import ParleySealing

/// Everything that opening a home has found, before the store is made from it.
struct OpenedHome {
    let home: Home
    let lock: AnyObject
    let connection: Connection
    let keystore: Keystore
    let keystoreFile: KeystoreFile
    let random: RandomSource
    let guardFile: GuardFile
    let isProtectedByPassphrase: Bool
    /// Why it is only read, or nil.
    var bar: WriteBar?
    /// Whether rows that do not open are passed over and noted, and not an error.
    var isRescue = false
}

extension SQLiteStore {
    /// Opens a home, or creates it if there is none.
    ///
    /// - Parameters:
    ///   - unlock: what opens the keystore; for a new home, what it is sealed with.
    ///   - random: where keys come from; ``ParleySealing/SystemRandom`` in production.
    ///   - cost: the cost of a guess at the passphrase of a new home.
    public static func open(
        home: Home, unlock: Unlock, random: any RandomNumberGenerator = SystemRandom(),
        cost: KeystoreCost = .standard
    ) throws(HomeError) -> SQLiteStore {
        let file = KeystoreFile(home: home, random: RandomSource(random), cost: cost)
        if let bar = home.bar { return try openToRead(home, bar, file, unlock) }
        do throws(HomeError) {
            return try openToWrite(home, file, unlock)
        } catch {
            // Reading needs no room, but where SQLite means to write.
            guard error.code == .diskFull, home.isMade,
                // Where that fails as well, the first failure says more.
                let store = try? openToRead(home, .full, file, unlock)
            else { throw error }
            return store
        }
    }

    private static func openToWrite(
        _ home: Home, _ file: KeystoreFile, _ unlock: Unlock
    ) throws(HomeError) -> SQLiteStore {
        try home.disk.makeFolder(home.path)
        let lock = try home.disk.lock(home)
        // An empty one made in its place would hide that it is gone.
        guard !home.lacksDatabase else { throw home.databaseGone }
        let keystore = try file.openOrMake(unlock)
        let store = try open(home, lock, file, keystore, unlock)
        try store.compareWithGuard()
        if keystore.previousVaultKey != nil { try store.renewVaultKey() }
        try store.settleGuardKey()
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        // What cannot be removed is tried again the next time.
        try? home.discardRescuedLeftovers()
        // As above.
        try? home.dropAsides(at: UInt64(clamping: time.tv_sec))
        home.keepSpareRoom()
        return store
    }

    private static func open(
        _ home: Home, _ lock: AnyObject, _ file: KeystoreFile, _ keystore: Keystore,
        _ unlock: Unlock
    ) throws(HomeError) -> SQLiteStore {
        try explaining(home) {
            let connection = try openDatabase(home.database, of: home)
            return try assemble(home, lock, connection, file, keystore, unlock)
        }
    }

    /// Opens a home without a change to any of its files.
    private static func openToRead(
        _ home: Home, _ bar: WriteBar, _ file: KeystoreFile, _ unlock: Unlock
    ) throws(HomeError) -> SQLiteStore {
        let lock = try bar.isOfDisk ? home.disk.lockToRead(home) : home.disk.lock(home)
        guard !home.lacksDatabase else { throw home.databaseGone }
        let keystore = try file.openToRead(unlock)
        let place = try ReadingPlace(home, bar)
        let store = try explaining(home) {
            let connection = try Connection(
                path: place.name, fileSystem: home.disk.fileSystem, mayWrite: false)
            try connection.execute(Pragma.reading, "opening the database")
            try requireSchema(connection, home)
            return try assemble(
                home, [lock, place] as NSArray, connection, file, keystore, unlock, bar)
        }
        try store.compareWithGuard()
        return store
    }

    static func assemble(
        _ home: Home, _ lock: AnyObject, _ connection: Connection, _ file: KeystoreFile,
        _ keystore: Keystore, _ unlock: Unlock, _ bar: WriteBar? = nil, isRescue: Bool = false
    ) throws -> SQLiteStore {
        let instance = try instance(
            connection, keystore, home, using: file.random, mayName: bar == nil)
        let isProtected = if case .passphrase = unlock { true } else { false }
        return try SQLiteStore(
            OpenedHome(
                home: home, lock: lock, connection: connection, keystore: keystore,
                keystoreFile: file, random: file.random,
                guardFile: GuardFile(home: home, instance: instance),
                isProtectedByPassphrase: isProtected, bar: bar, isRescue: isRescue))
    }

    /// Turns errors of SQLite and the store into errors about a home.
    static func explaining<R>(
        _ home: Home, _ body: () throws -> R
    ) throws(HomeError) -> R {
        do {
            return try body()
        } catch let error as HomeError {
            throw error
        } catch let error as StoreError {
            throw HomeError(error, path: home.database)
        } catch let error as RowDecodingError {
            // The list of what led it to its form is damaged.
            throw HomeError(.databaseDamaged, path: home.database, detail: "\(error)")
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            // Its tables are not what that list says: a statement of ours does not fit them.
            throw HomeError(.databaseDamaged, path: home.database, detail: error.message ?? "")
        } catch let error as DatabaseError {
            let code = StoreError.Code(sqlite: error.resultCode.rawValue)
            throw HomeError(
                StoreError(code, attempt: "opening the database", detail: error.message ?? ""),
                path: home.database)
        } catch {
            throw HomeError(.other, path: home.database, detail: "\(error)")
        }
    }

    /// A writable database of the present schema; created if there is none.
    static func openDatabase(_ path: String, of home: Home) throws -> Connection {
        try home.disk.makeDatabase(path)
        let connection = try Connection(path: path, fileSystem: home.disk.fileSystem)
        try connection.execute(Pragma.opening, "opening the database")
        let queue = try DatabaseQueue(path: home.migrationPath(of: path))
        if try queue.read(Schema.migrator.hasBeenSuperseded) {
            throw HomeError(.newerSchema, path: home.database)
        }
        try Schema.migrator.migrate(queue)
        try queue.close()
        return connection
    }

    /// Refuses a database that is not of today's form: it cannot be led there without a write.
    private static func requireSchema(_ connection: Connection, _ home: Home) throws {
        let query = try connection.prepare("SELECT identifier FROM grdb_migrations")
        defer { query.reset() }
        var found: Set<String> = []
        while try query.step("reading the form of the database") { found.insert(query.text(0)) }
        let known = Set(Schema.migrator.migrations)
        guard found.isSubset(of: known) else { throw HomeError(.newerSchema, path: home.database) }
        guard found == known else {
            throw HomeError(
                .readOnly, path: home.database, detail: "an older version of Parley wrote it")
        }
    }

    /// The name of this database file, made with it. It is bound to the keystore: a database
    /// beside the keys of another node is found out before a row is tried.
    private static func instance(
        _ connection: Connection, _ keystore: Keystore, _ home: Home,
        using random: RandomSource, mayName: Bool
    ) throws -> [UInt8] {
        let query = try connection.prepare("SELECT instance, binding FROM meta WHERE one = 1")
        defer { query.reset() }
        if try query.step("opening the database") {
            let (instance, bound) = (query.array(0), query.array(1))
            guard bound == binding(of: instance, keystore) else {
                throw try misnamed(connection, keystore, home)
            }
            return instance
        }
        query.reset()
        guard mayName else {
            throw HomeError(.databaseDamaged, path: home.database, detail: "it has no name")
        }
        var source = random
        let instance = source.bytes(16)
        let insert = try connection.prepare(
            "INSERT INTO meta (one, instance, binding) VALUES (1, ?, ?)")
        insert.bind(1, copying: instance)
        insert.bind(2, copying: binding(of: instance, keystore))
        try insert.run("naming the database")
        return instance
    }

    /// What binds the name of a database to the keystore.
    static func binding(of instance: [UInt8], _ keystore: Keystore) -> [UInt8] {
        derive(key: keystore.master, .row, context: [0xff] + instance, byteCount: 16)
    }

    /// What is wrong with a database whose name is not bound to the keystore: it is another node's, or
    /// that name is damaged, which a repair replaces.
    static func misnamed(
        _ connection: Connection, _ keystore: Keystore, _ home: Home
    ) throws(StoreError) -> HomeError {
        let rows = try connection.prepare("SELECT number, generation, content FROM vault LIMIT 256")
        defer { rows.reset() }
        while try rows.step("looking whose the database is") {
            let generation = UInt32(exactly: rows.integer(1)) ?? .max
            if Vault.opened((rows.integer(0), generation, rows.array(2)), by: keystore) != nil {
                return HomeError(
                    .databaseDamaged, path: home.database, detail: "its name does not hold")
            }
        }
        return HomeError(.databaseOfAnotherNode, path: home.database)
    }
}

extension Home {
    /// GRDB takes another file system only as part of the name.
    fileprivate func migrationPath(of database: String) -> String {
        guard let fileSystem = disk.fileSystem else { return database }
        return "file:\(database)?vfs=\(fileSystem)"
    }
}
