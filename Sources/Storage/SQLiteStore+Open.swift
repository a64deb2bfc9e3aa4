import GRDB
import Glibc
import ParleyLedger
public import ParleySealing

/// How a home's keystore is opened.
public enum Unlock: Sendable {
    /// By the key file beside it, which only its owner may read.
    case keyFile
    /// By a passphrase.
    case passphrase([UInt8])
}

/// Everything that opening a home has found, before the store is made of it.
struct OpenedHome {
    let home: Home
    let lock: HomeLock
    let connection: Connection
    let keys: VaultKeys
    let guardWriter: GuardWriter
    let isProtectedByPassphrase: Bool
}

extension SQLiteStore {
    /// Opens a home, or makes it where there is none.
    ///
    /// - Parameters:
    ///   - unlock: what opens the keystore; for a new home, what it is sealed with.
    ///   - random: where keys come from; ``ParleySealing/SystemRandom`` in production.
    public static func open(
        home: Home, unlock: Unlock, random: any RandomNumberGenerator = SystemRandom()
    ) throws(HomeError) -> SQLiteStore {
        let random = RandomSource(random)
        try home.make()
        let lock = try HomeLock(home)
        let keystore = try KeystoreFile(home).openOrMake(unlock, using: random)
        let opened: OpenedHome
        let store: SQLiteStore
        do {
            let connection = try openDatabase(home)
            let instance = try instance(connection, keystore.keys, home, using: random)
            opened = OpenedHome(
                home: home, lock: lock, connection: connection,
                keys: keystore.keys,
                guardWriter: GuardWriter(
                    home: home, master: keystore.keys.master, instance: instance),
                isProtectedByPassphrase: keystore.isProtectedByPassphrase)
            store = try SQLiteStore(opened, random: random)
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
        try store.compareWithGuard()
        return store
    }

    private static func openDatabase(_ home: Home) throws -> Connection {
        let isNew = access(home.database, F_OK) != 0
        if !isNew, access(home.database, W_OK) != 0 {
            throw HomeError(errno: errno, path: home.database)
        }
        // Every file that SQLite makes beside the database gets the database's permissions.
        let descriptor = Glibc.open(home.database, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw HomeError(errno: errno, path: home.database) }
        Glibc.close(descriptor)
        if isNew { try home.synchronizeFolder() }
        let connection = try Connection(path: home.database)
        try connection.execute(Pragma.opening, "opening the database")
        let queue = try DatabaseQueue(path: home.database)
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
        _ connection: Connection, _ keys: VaultKeys, _ home: Home,
        using random: RandomSource
    ) throws -> [UInt8] {
        func binding(_ instance: [UInt8]) -> [UInt8] {
            derive(key: keys.master, .row, context: [0xff] + instance, byteCount: 16)
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
        let instance = random.bytes(16)
        let insert = try connection.prepare(
            "INSERT INTO meta (one, instance, binding) VALUES (1, ?, ?)")
        insert.bind(1, copying: instance)
        insert.bind(2, copying: binding(instance))
        try insert.run("naming the database")
        return instance
    }
}
