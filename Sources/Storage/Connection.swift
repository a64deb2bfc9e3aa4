import GRDBSQLite
import ParleyLedger

/// The one writing connection, spoken to without any layer between: the paths that store and
/// read operations run a hundred thousand times a second.
///
/// It is not GRDB's own: that one expects every commit to pass through its queue.
final class Connection {
    private let handle: OpaquePointer
    /// Pages in the log of changes after the last commit.
    private(set) var logPageCount = 0

    /// - Parameter mayWrite: false for a database that is only read; its name is a URI then.
    init(
        path: String, fileSystem: String? = nil, mayWrite: Bool = true
    ) throws(StoreError) {
        var handle: OpaquePointer?
        // No mutex: a store has one owner.
        let mode = mayWrite ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
        let flags = mode | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = sqlite3_open_v2(path, &handle, flags, fileSystem)
        guard code == SQLITE_OK, let handle else {
            sqlite3_close_v2(handle)
            throw StoreError(
                StoreError.Code(sqlite: code), attempt: "opening the database",
                detail: String(cString: sqlite3_errstr(code)))
        }
        self.handle = handle
        countLogPages()
    }

    /// In place of SQLite's own checkpoints, which tell nobody when they fail. `PRAGMA
    /// wal_autocheckpoint`, whatever it sets, would take this away again.
    private func countLogPages() {
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_wal_hook(
            handle,
            { context, _, _, count in
                guard let context else { return SQLITE_OK }
                Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue()
                    .logPageCount = Int(count)
                return SQLITE_OK
            }, context)
    }

    /// Moves what can be moved of the log of changes into the database.
    func checkpoint() throws(StoreError) {
        let code = sqlite3_wal_checkpoint_v2(
            handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
        // A concurrent reader only makes it move less.
        guard code == SQLITE_OK || code == SQLITE_BUSY else {
            throw failure(code, "moving changes into the database")
        }
    }

    deinit {
        // Statements that are still held keep the connection until they are released.
        sqlite3_close_v2(handle)
    }

    /// Whether no transaction is open.
    var isIdle: Bool { sqlite3_get_autocommit(handle) != 0 }

    /// Rows that the last statement changed.
    var changeCount: Int { Int(sqlite3_changes(handle)) }

    /// Runs statements that return nothing.
    func execute(_ sql: String, _ attempt: String) throws(StoreError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure(code, attempt) }
    }

    /// A statement that is kept.
    func prepare(_ sql: String) throws(StoreError) -> Statement {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(
            handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else {
            // Each query fits the tables as they were made: they are not what their list says any more.
            let isStrange = code & 0xff == SQLITE_ERROR
            throw failure(isStrange ? SQLITE_CORRUPT : code, "preparing a query")
        }
        return Statement(statement, of: self)
    }

    /// What SQLite says, in the words of the pure rooms. Its messages name tables, never content.
    func failure(_ code: Int32, _ attempt: String) -> StoreError {
        StoreError(
            StoreError.Code(sqlite: code), attempt: attempt,
            detail: String(cString: sqlite3_errmsg(handle)))
    }
}

extension StoreError.Code {
    /// Source: sqlite.org/rescode.html, `SQLITE_CORRUPT_VTAB`.
    private static let brokenIndex: Int32 = SQLITE_CORRUPT | 1 << 8

    /// What to do about a result of SQLite.
    init(sqlite code: Int32) {
        // The word index is broken, and no page of the database: it is rebuilt from the messages.
        if code == Self.brokenIndex {
            self = .other
            return
        }
        switch code & 0xff {
        case SQLITE_FULL: self = .full
        case SQLITE_READONLY, SQLITE_PERM, SQLITE_CANTOPEN: self = .readOnly
        case SQLITE_IOERR, SQLITE_NOMEM: self = .inputOutput
        case SQLITE_CORRUPT, SQLITE_NOTADB: self = .corrupt
        case SQLITE_BUSY, SQLITE_LOCKED: self = .locked
        // SQLite's codes are not ours: whatever else it says is one case.
        default: self = .other
        }
    }
}

/// A prepared statement, used again and again.
///
/// Bytes that are bound are not copied: they must stay until ``reset()``.
final class Statement {
    private let handle: OpaquePointer
    private unowned let connection: Connection

    init(_ handle: OpaquePointer, of connection: Connection) {
        self.handle = handle
        self.connection = connection
    }

    deinit {
        sqlite3_finalize(handle)
    }

    @inline(__always)
    func bind(_ index: Int32, _ value: Int64) {
        sqlite3_bind_int64(handle, index, value)
    }

    @inline(__always)
    func bind(_ index: Int32, _ bytes: UnsafeRawBufferPointer) {
        if bytes.isEmpty {
            sqlite3_bind_zeroblob(handle, index, 0)
        } else {
            sqlite3_bind_blob(handle, index, bytes.baseAddress, Int32(bytes.count), nil)
        }
    }

    /// Binds a copy, for paths that are not hot.
    func bind(_ index: Int32, copying bytes: [UInt8]) {
        bytes.withUnsafeBytes { buffer in
            guard let start = buffer.baseAddress, !buffer.isEmpty else {
                sqlite3_bind_zeroblob(handle, index, 0)
                return
            }
            sqlite3_bind_blob(handle, index, start, Int32(buffer.count), Self.transient)
        }
    }

    /// Binds a copy of a text.
    func bind(_ index: Int32, text: String) {
        sqlite3_bind_text(handle, index, text, -1, Self.transient)
    }

    func bindNull(_ index: Int32) { sqlite3_bind_null(handle, index) }

    /// Binds the value of a column of another statement's row, of any type.
    func bind(_ index: Int32, _ column: Int32, of row: Statement) {
        sqlite3_bind_value(handle, index, sqlite3_column_value(row.handle, column))
    }

    /// How often SQLite compiled it anew, for what was bound or for a schema that changed.
    var recompilationCount: Int {
        Int(sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_REPREPARE, 0))
    }

    /// How many columns a row has.
    var columnCount: Int32 { sqlite3_column_count(handle) }

    // SQLITE_TRANSIENT is a cast that C can write and the importer cannot.
    private static var transient: sqlite3_destructor_type {
        unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    }

    /// Steps to the next row; false if there is none.
    @inline(__always)
    func step(_ attempt: StaticString) throws(StoreError) -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        let error = connection.failure(code, attempt.description)
        sqlite3_reset(handle)
        throw error
    }

    /// Runs a statement that returns nothing, and makes it ready for the next time.
    @inline(__always)
    func run(_ attempt: StaticString) throws(StoreError) {
        _ = try step(attempt)
        sqlite3_reset(handle)
    }

    /// Gives everything back that was bound and makes the statement ready for the next time.
    @inline(__always)
    func reset() {
        sqlite3_reset(handle)
    }

    @inline(__always)
    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    @inline(__always)
    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    /// The bytes of a column, until the next step.
    @inline(__always)
    func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(handle, column)
        return UnsafeRawBufferPointer(
            start: start, count: Int(sqlite3_column_bytes(handle, column)))
    }

    /// A copy of the bytes of a column.
    func array(_ column: Int32) -> [UInt8] { Array(bytes(column)) }

    func text(_ column: Int32) -> String {
        sqlite3_column_text(handle, column).map { String(cString: $0) } ?? ""
    }
}

extension Int64 {
    /// A number of 64 bits in the order of its bits: SQLite's integers have a sign.
    init(ordered value: UInt64) { self.init(bitPattern: value ^ 1 << 63) }
}

extension UInt64 {
    /// The number that was stored in order.
    init(ordered value: Int64) { self = UInt64(bitPattern: value) ^ 1 << 63 }
}
