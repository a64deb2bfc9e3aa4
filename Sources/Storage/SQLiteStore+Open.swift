import GRDB
import ParleyLedger
public import ParleySealing

/// Everything that opening a home has found, before the store is made of it.
struct OpenedHome {
    let home: Home
    let lock: AnyObject
    let connection: Connection
    let keystore: Keystore
    let keystoreFile: KeystoreFile
    let random: RandomSource
    let guardWriter: GuardWriter
    let isProtectedByPassphrase: Bool
}

extension SQLiteStore {
    /// Opens a home, or makes it where there is none.
    ///
    /// - Parameters:
    ///   - unlock: what opens the keystore; for a new home, what it is sealed with.
    ///   - random: where keys come from; ``ParleySealing/SystemRandom`` in production.
    ///   - cost: what a guess at the passphrase of a new home costs.
    public static func open(
        home: Home, unlock: Unlock, random: any RandomNumberGenerator = SystemRandom(),
        cost: KeystoreCost = .standard
    ) throws(HomeError) -> SQLiteStore {
        try home.disk.makeFolder(home.path)
        let lock = try home.disk.lock(home)
        let file = KeystoreFile(home: home, random: RandomSource(random), cost: cost)
        let keystore = try file.openOrMake(unlock)
        let store = try open(home, lock, file, keystore, unlock)
        try store.compareWithGuard()
        if keystore.previousVaultKey != nil { try store.renewVaultKey() }
        return store
    }

    private static func open(
        _ home: Home, _ lock: AnyObject, _ file: KeystoreFile, _ keystore: Keystore,
        _ unlock: Unlock
    ) throws(HomeError) -> SQLiteStore {
        do {
            let connection = try openDatabase(home)
            let instance = try instance(connection, keystore, home, using: file.random)
            let isProtected = if case .passphrase = unlock { true } else { false }
            return try SQLiteStore(
                OpenedHome(
                    home: home, lock: lock, connection: connection, keystore: keystore,
                    keystoreFile: file, random: file.random,
                    guardWriter: GuardWriter(
                        home: home, master: keystore.master, instance: instance),
                    isProtectedByPassphrase: isProtected))
        } catch let error as HomeError {
            throw error
        } catch let error as StoreError {
            throw HomeError(error, path: home.database)
        } catch let error as DatabaseError {
            let code = StoreError.Code(sqlite: error.resultCode.rawValue)
            throw HomeError(
                StoreError(code, attempt: "opening the database", detail: error.message ?? ""),
                path: home.database)
        } catch {
            throw HomeError(.other, path: home.database, detail: "\(error)")
        }
    }

    private static func openDatabase(_ home: Home) throws -> Connection {
        try home.disk.makeDatabase(home.database)
        let connection = try Connection(path: home.database, fileSystem: home.disk.fileSystem)
        try connection.execute(Pragma.opening, "opening the database")
        let queue = try DatabaseQueue(path: home.migrationPath)
        if try queue.read(Schema.migrator.hasBeenSuperseded) {
            throw HomeError(.newerSchema, path: home.database)
        }
        try Schema.migrator.migrate(queue)
        try queue.close()
        return connection
    }

    /// The name of this database file, made with it. It is bound to the keystore: a database
    /// beside the keys of another node is found out before a row is tried.
    private static func instance(
        _ connection: Connection, _ keystore: Keystore, _ home: Home,
        using random: RandomSource
    ) throws -> [UInt8] {
        func binding(_ instance: [UInt8]) -> [UInt8] {
            derive(key: keystore.master, .row, context: [0xff] + instance, byteCount: 16)
        }
        let query = try connection.prepare("SELECT instance, binding FROM meta WHERE one = 1")
        defer { query.reset() }
        if try query.step("opening the database") {
            let instance = query.array(0)
            guard query.array(1) == binding(instance) else {
                throw HomeError(.databaseOfAnotherNode, path: home.database)
            }
            return instance
        }
        query.reset()
        var source = random
        let instance = source.bytes(16)
        let insert = try connection.prepare(
            "INSERT INTO meta (one, instance, binding) VALUES (1, ?, ?)")
        insert.bind(1, copying: instance)
        insert.bind(2, copying: binding(instance))
        try insert.run("naming the database")
        return instance
    }
}

extension Home {
    /// GRDB takes another file system only as part of the name.
    fileprivate var migrationPath: String {
        guard let fileSystem = disk.fileSystem else { return database }
        return "file:\(database)?vfs=\(fileSystem)"
    }
}
