public import ParleyFiles
public import ParleyLedger
public import ParleyNodeCore
import ParleySealing
public import ParleyWire

/// The store of a node on the disk: one SQLite database, everything private sealed in its column.
///
/// It knows how rows are stored, sealed and made durable, and must never know what they mean. It
/// has one owner, and one call at a time; log records are held in memory and written at the commit.
public final class SQLiteStore: TransactionalStore {
    /// The folder.
    public let home: Home
    /// Whether a passphrase opens the keystore; without one, a file only its owner may read does.
    public internal(set) var isProtectedByPassphrase: Bool
    /// Why this node must first take its own operations back from a peer, or nil.
    public internal(set) var rejoin: RejoinReason?
    /// The version of the newest part of its card that this device signed, according to the guard:
    /// zero if it names none.
    public internal(set) var guardedCardVersion = CardVersion.zero

    /// How often a card or an introduction was written since it was opened: caches of all of them
    /// are valid as long as this stays.
    public internal(set) var cardChangeCount = 0

    /// Why it is only read, or nil.
    public let bar: WriteBar?

    /// The sealed files of the home.
    public let blobs: any BlobStore

    let connection: Connection
    let statements: Statements
    let vault: Vault
    var records = Records()
    var tallies = Tallies()
    var actors = Actors()
    /// The statements of the search, once it was used.
    var search: SearchStatements?
    var hits: (all: Statement?, below: Statement?) = (nil, nil)
    /// Whether a merge of the whole index of words was begun.
    var isMerging = false
    /// The key of the word index, once it was used.
    var heldWordKey: WordKey?
    /// Devices that wrote two histories, once somebody wanted to know.
    var forkedDevices: Set<DeviceID>?
    var nextOperation: Int64 = 1
    var nextValue: Int64 = 1
    var nextEvent: Int64 = 1
    /// The salt and payload of the operation at hand: one buffer for all of them.
    var scratch: [UInt8] = []

    let random: RandomSource
    let keystoreFile: KeystoreFile
    /// Reads and writes the guard of this database.
    let guardFile: GuardFile
    private let lock: AnyObject
    /// Whether rows that do not open are passed over, and which they were.
    let isRescue: Bool
    var strangeRows: [StrangeRow] = []
    private var isInTransaction = false
    private var nextOperationBefore: Int64 = 1
    private var nextValueBefore: Int64 = 1
    private var nextEventBefore: Int64 = 1
    private var durability: Durability = .full
    /// Whether the log of changes may still contain erased rows, or keys of rows: only emptying it
    /// removes them from the disk. After a start nobody knows what an earlier run left.
    public private(set) var mayHoldErasedRows = true
    /// Whether the disk failed, and something that waited for a sync may never have been written.
    private var isDoubtful = false
    private var checkpointPageCount = Pragma.checkpointPageCount

    init(_ opened: OpenedHome) throws(StoreError) {
        home = opened.home
        isProtectedByPassphrase = opened.isProtectedByPassphrase
        bar = opened.bar
        isRescue = opened.isRescue
        lock = opened.lock
        blobs = opened.home.disk.blobs(in: opened.home.files)
        connection = opened.connection
        guardFile = opened.guardFile
        keystoreFile = opened.keystoreFile
        random = opened.random
        statements = try Statements(connection)
        vault = Vault(
            opened.keystore, statements, opened.random, lastRow: try Self.last("vault", connection))
        try setSynchronous(.normal)
        try reload()
    }

    /// How many operations are stored: their rows are numbered from 1 without a hole.
    public var operationCount: Int { Int(nextOperation - 1) }

    // MARK: Transactions

    /// Begins a transaction; there is no other open.
    ///
    /// How durable its commit will be is settled here: SQLite takes no change of that inside.
    public func begin(_ durability: Durability) throws(StoreError) {
        precondition(!isInTransaction, "one transaction at a time")
        if let bar { throw StoreError(bar) }
        if isDoubtful { try mend() }
        try setSynchronous(durability)
        try statements.begin.run("beginning a transaction")
        isInTransaction = true
    }

    /// Commits the transaction. After an error nothing of it is kept.
    public func commit() throws(StoreError) {
        precondition(isInTransaction, "a commit ends a transaction")
        do {
            try writeRecords()
            try writeTallies()
            try statements.commit.run("committing")
        } catch {
            if error.code == .inputOutput { isDoubtful = true }
            rollback()
            throw error
        }
        isInTransaction = false
        records.committed()
        actors.committed()
        vault.committed()
        nextOperationBefore = nextOperation
        nextValueBefore = nextValue
        nextEventBefore = nextEvent
        if connection.logPageCount >= checkpointPageCount { moveLog() }
    }

    /// Committed data is in the log, so a failure here loses nothing: the next transaction waits
    /// until it was fixed.
    private func moveLog() {
        do { try connection.checkpoint() } catch { isDoubtful = true }
    }

    /// After a failed sync, a disk may never write what waited for it, and still report success for
    /// the next sync. So no pending write is trusted: every page of the log is written once more,
    /// into the database, and the log starts over.
    private func mend() throws(StoreError) {
        guard try checkpoint() else {
            throw StoreError(.inputOutput, attempt: "writing again what a failed disk may lack")
        }
        isDoubtful = false
    }

    /// Rolls the transaction back. Without one it does nothing.
    public func rollback() {
        guard isInTransaction else { return }
        isInTransaction = false
        if !connection.isIdle {
            // A full or failed disk has often rolled back by itself; if it did not, and this fails
            // as well, the next begin says so.
            do { try statements.rollback.run("rolling back") } catch {}
        }
        records.rolledBack()
        tallies.forget()
        actors.rolledBack()
        vault.rolledBack()
        heldWordKey = nil
        forkedDevices = nil
        nextOperation = nextOperationBefore
        nextValue = nextValueBefore
        nextEvent = nextEventBefore
    }

    /// Does something in a separate durable transaction: all of it is kept, or nothing.
    func durably(_ change: () throws(StoreError) -> Void) throws(HomeError) {
        do throws(StoreError) {
            try begin(.full)
            do throws(StoreError) {
                try change()
            } catch {
                rollback()
                throw error
            }
            try commit()
        } catch {
            throw HomeError(error, path: home.database)
        }
    }

    /// Makes everything that was committed before survive a crash of the machine.
    public func makeDurable() throws(StoreError) {
        precondition(!isInTransaction, "durability is asked for between transactions")
        try begin(.full)
        do {
            try statements.touchMeta.run("making commits durable")
        } catch {
            rollback()
            throw error
        }
        try commit()
    }

    /// Reads one state of the store, however many questions that takes.
    ///
    /// Without it each query is a separate transaction and locks the file again. A write inside is
    /// a mistake of the caller.
    public func reading<R>(_ body: () throws -> R) throws -> R {
        guard !isInTransaction else { return try body() }
        try connection.execute("BEGIN DEFERRED", "beginning to read")
        defer {
            // Nothing was written, so nothing can be lost by an end that fails.
            do { try connection.execute("COMMIT", "ending to read") } catch {}
        }
        return try body()
    }

    /// Records that the transaction erases something permanently.
    func erases() {
        writes()
        mayHoldErasedRows = true
    }

    /// Checks that a write belongs to a transaction.
    @inline(__always)
    func writes() {
        precondition(isInTransaction, "a write belongs to a transaction")
    }

    private func setSynchronous(_ durability: Durability) throws(StoreError) {
        guard durability != self.durability else { return }
        let level =
            switch durability {
            case .normal: "NORMAL"
            case .full: "FULL"
            }
        try connection.execute("PRAGMA synchronous = \(level)", "setting the durability")
        self.durability = durability
    }

    // MARK: Upkeep

    /// Lets the log of changes grow larger while very much is stored, and no longer afterwards.
    public func expectBulk(_ isExpected: Bool) {
        setCheckpoint(pageCount: isExpected ? 20_000 : Pragma.checkpointPageCount)
    }

    /// After how many pages the log of changes is moved into the database from now on.
    public func setCheckpoint(pageCount: Int) {
        checkpointPageCount = pageCount
    }

    /// Moves the log of changes into the database and empties it.
    ///
    /// - Returns: whether all of it could be moved.
    @discardableResult
    public func checkpoint() throws(StoreError) -> Bool {
        let statement = try connection.prepare("PRAGMA wal_checkpoint(TRUNCATE)")
        defer { statement.reset() }
        let isEmpty =
            try statement.step("moving changes into the database") && statement.integer(0) == 0
        if isEmpty { mayHoldErasedRows = false }
        return isEmpty
    }

    /// Moves everything into the database file, as before a shutdown. The store is finished once it
    /// is released.
    public func close() throws(StoreError) {
        rollback()
        if bar == nil { try checkpoint() }
    }

    /// Whether the database is sound, page by page, indexes against tables, the index of words too; the
    /// first complaints otherwise.
    public func check() throws(StoreError) -> [String] {
        try connection.complaints()
    }

    private func reload() throws(StoreError) {
        // Numbers that follow the last one are computed from these, some of them much later.
        for table in Self.numberedTables { _ = try Self.last(table, connection) }
        try loadRecords()
        try loadActors()
        nextOperation = try Self.last("operation", connection) + 1
        nextValue = try Self.last("value", connection) + 1
        nextEvent = try Self.last("event", connection) + 1
        nextOperationBefore = nextOperation
        nextValueBefore = nextValue
        nextEventBefore = nextEvent
    }

    /// Tables that number their rows.
    static let numberedTables = [
        "space", "log", "operation", "view", "fork", "actor", "vault", "value", "event",
    ]

    /// The highest row of a table, or 0. A number that no database of ours gives is damage, which a
    /// repair leaves out: nothing may be added to it.
    static func last(_ table: String, _ connection: Connection) throws(StoreError) -> Int64 {
        let statement = try connection.prepare("SELECT max(number) FROM \(table)")
        defer { statement.reset() }
        guard try statement.step("opening the store") else { return 0 }
        let number = statement.integer(0)
        guard number <= RescueTable.numberMax else { throw damaged("numbering \(table)") }
        return number
    }
}

/// The settings of a database connection.
enum Pragma {
    /// When the log of changes is moved into the database, in pages.
    static let checkpointPageCount = 4000

    /// For a database that is not written.
    static let reading = """
        PRAGMA temp_store = MEMORY;
        PRAGMA cache_size = -65536;
        """

    /// Before the first table: the size of a page cannot change later.
    static let opening = """
        PRAGMA page_size = 4096;
        PRAGMA auto_vacuum = INCREMENTAL;
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = FULL;
        PRAGMA secure_delete = ON;
        PRAGMA temp_store = MEMORY;
        PRAGMA cache_size = -65536;
        PRAGMA foreign_keys = OFF;
        """
}
