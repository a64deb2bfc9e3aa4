public import ParleyLedger
import ParleyNodeCore
public import ParleySealing

/// A row whose content does not open, in a database whose other rows are rescued.
struct StrangeRow {
    var table: String
    var number: Int64
}

/// What could not be read of a database.
public struct RescueReport: Sendable {
    /// Tables of which something could not be read, with what that means for a person.
    public var losses: [String] = []
    /// Whether something was lost that tells what this device wrote.
    public var mayLackOwn = false
}

/// Takes a damaged database apart: every row that can still be read goes into a new one beside it,
/// under the number that it had, for it is sealed to that. What follows from other rows is left out,
/// and made anew by the caller. Nothing of the old database is changed.
extension SQLiteStore {
    /// The rows that are taken along; the first column is the key.
    private static let tables: [(name: String, columns: String, meaning: String)] = [
        ("space", "number, kind, definition", "which conversations there are"),
        (
            "log",
            "number, space, lane, definition, spans, standing, coveredEnd, controlCoveredEnd, "
                + "floor, bound", "who wrote what"
        ),
        ("operation", "number, log, sequence, id, head, tail, stand, witness", "messages"),
        ("fork", "number, locator, evidence", "proofs of forks"),
        ("vault", "number, purpose, space, locator, generation, content", "keys"),
        ("value", "number, list, locator, content", "notes of the node"),
    ]

    /// The same by name, with what they tell.
    static var readableTables: [(name: String, meaning: String)] {
        tables.map { ($0.name, $0.meaning) }
    }

    /// How many rows of keys and notes no key opens.
    public func strangeRowCount() throws(StoreError) -> Int {
        try vault.strangeRows().count + strangeValues().count
    }

    /// Opens what can be read of a home's database, in a new one that lies beside it until
    /// ``Home/takeRescued()``.
    ///
    /// - Throws: where the keys do not open, or nothing at all can be read.
    public static func rescue(
        home: Home, unlock: Unlock, random: any RandomNumberGenerator = SystemRandom()
    ) throws(HomeError) -> (store: SQLiteStore, report: RescueReport) {
        let lock = try home.disk.lock(home)
        let file = KeystoreFile(home: home, random: RandomSource(random))
        let keystore = try file.openToRead(unlock)
        guard let old = try home.newestDatabase() else {
            throw HomeError(.databaseGone, path: home.database)
        }
        try home.discardRescued()
        return try explaining(home) {
            var report = RescueReport()
            let source = try damaged(old, of: home, &report)
            let target = try openDatabase(home.rescued, of: home)
            try target.execute("BEGIN IMMEDIATE", "beginning to rescue")
            try copyName(source, target)
            for table in tables { try copy(table, source, target, &report) }
            try copyHeads(source, target, &report)
            try target.execute("COMMIT", "keeping what was rescued")
            let store = try assemble(
                home, lock, target, file, keystore, unlock, isRescue: true)
            try store.dropStrangeRows(&report)
            return (store, report)
        }
    }

    /// Opens what is damaged; where SQLite cannot tell its tables apart any more, a copy of it.
    private static func damaged(
        _ old: String, of home: Home, _ report: inout RescueReport
    ) throws -> Connection {
        func open(_ place: String, _ fileSystem: String?) throws(StoreError) -> Connection {
            let source = try Connection(
                path: ReadingPlace.name(of: place), fileSystem: fileSystem, mayWrite: false)
            try source.execute(Pragma.reading, "opening the damaged database")
            _ = try source.prepare("SELECT name FROM sqlite_schema")
            return source
        }
        do throws(StoreError) {
            return try open(old, home.disk.fileSystem)
        } catch {
            // Another disk than the machine's has no copies.
            guard error.code == .corrupt, home.disk.fileSystem == nil else { throw error }
            report.losses.append("The list of the tables could not be read, and was made anew")
            return try open(SchemaTransplant(home).make(of: old), nil)
        }
    }

    private static func copyName(
        _ source: Connection, _ target: Connection
    ) throws(StoreError) {
        do throws(StoreError) {
            let row = try source.prepare(
                "SELECT one, instance, binding, durable FROM meta WHERE one = 1")
            guard try row.step("reading the name of the database") else { return }
            let insert = try target.prepare(
                "INSERT INTO meta (one, instance, binding, durable) VALUES (?, ?, ?, ?)")
            insert.take(row)
            try insert.run("naming the database")
        } catch {
            // It gets another name: then the guard is one of another database, and the node takes
            // its own past back before it writes.
            guard error.code == .corrupt else { throw error }
        }
        // Whether the index of words is wanted; it is made anew.
        do throws(StoreError) {
            let state = try source.prepare("SELECT isOff FROM wordState WHERE one = 1")
            guard try state.step("reading what is indexed"), state.integer(0) != 0 else { return }
            try target.execute("UPDATE wordState SET isOff = 1", "keeping what is indexed")
        } catch {
            // A setting that is lost is told nowhere else: words are indexed, as they are at first.
            guard error.code == .corrupt else { throw error }
        }
    }

    private static func copy(
        _ table: (name: String, columns: String, meaning: String), _ source: Connection,
        _ target: Connection, _ report: inout RescueReport
    ) throws(StoreError) {
        let marks = table.columns.split(separator: ",").map { _ in "?" }.joined(separator: ", ")
        let insert = try target.prepare(
            "INSERT OR IGNORE INTO \(table.name) (\(table.columns)) VALUES (\(marks))")
        // Where this node stopped reading at a relay: it reads anew what it may have lost.
        let isCursor = { (row: Statement) in
            table.name == "value" && row.integer(1) == Int64(ValueTable.cursor.rawValue)
        }
        var walk = RowWalk(
            source,
            "SELECT \(table.columns) FROM \(table.name) WHERE number >= ?1 ORDER BY number")
        try walk.run { row throws(StoreError) in
            if isCursor(row) { return }
            insert.take(row)
            try insert.run("keeping what can be read")
        }
        guard walk.gapCount > 0 else { return }
        report.losses.append("\(table.name): some of \(table.meaning) cannot be read")
        if table.name != "operation" { report.mayLackOwn = true }
    }

    private static func copyHeads(
        _ source: Connection, _ target: Connection, _ report: inout RescueReport
    ) throws(StoreError) {
        let logs = try target.prepare("SELECT DISTINCT log FROM operation ORDER BY log")
        let insert = try target.prepare(
            "INSERT OR IGNORE INTO head (sequence, log, signature) VALUES (?, ?, ?)")
        var gapCount = 0
        while try logs.step("looking for signatures") {
            var walk = RowWalk(
                source,
                """
                SELECT sequence, log, signature FROM head
                WHERE log = \(logs.integer(0)) AND sequence >= ?1 ORDER BY sequence
                """)
            try walk.run { row throws(StoreError) in
                insert.take(row)
                try insert.run("keeping signatures")
            }
            gapCount += walk.gapCount
        }
        if gapCount > 0 { report.losses.append("head: some signatures cannot be read") }
    }

    /// Removes rows that do not open, and those that belong to nothing any more.
    private func dropStrangeRows(_ report: inout RescueReport) throws(StoreError) {
        for purpose in try vault.strangeRows() {
            strangeRows.append(StrangeRow(table: "vault", number: purpose))
        }
        strangeRows += try strangeValues().map { StrangeRow(table: "value", number: $0) }
        for (table, _, meaning) in Self.tables {
            let count = strangeRows.count { $0.table == table }
            if count == 0 { continue }
            report.losses.append("\(table): \(count) rows do not open (\(meaning))")
            report.mayLackOwn = true
        }
        try begin(.full)
        for row in strangeRows {
            try connection.execute(
                "DELETE FROM \(row.table) WHERE number = \(row.number)", "dropping what is broken")
        }
        for table in ["operation", "head"] {
            try connection.execute(
                "DELETE FROM \(table) WHERE log NOT IN (SELECT number FROM log)",
                "dropping what belongs to nothing")
            if connection.changeCount > 0 { report.mayLackOwn = true }
        }
        try commit()
    }

    /// Forgets a log from a point on, without a look at what is forgotten: it may not open.
    public func cutOff(_ log: LogNumber, from point: LogPoint) throws(StoreError) {
        writes()
        guard let record = records.log(log) else { return }
        for row in try views(in: log, point.sequence...UInt64.max) {
            try removeView(at: row.first, in: log)
        }
        for statement in [statements.deleteOperationsFrom, statements.deleteHeadsFrom] {
            statement.bind(1, log.rawValue)
            statement.bind(2, Int64(clamping: point.sequence))
            try statement.run("dropping the end of a log")
        }
        records.update(try record.dropped(from: point, self))
    }

    /// Gives the database another name, so that it counts as one that the guard does not know: the node
    /// then takes its own past back from others before it writes.
    public func forgetName() throws(StoreError) {
        writes()
        try connection.execute("DELETE FROM meta", "naming the database anew")
    }
}

extension Home {
    /// What was rescued lies here until it is whole.
    var rescued: String { database + ".rescued" }

    private static let besides = ["", "-wal", "-shm"]
    private static let asideCountMax = 1_000

    /// The database; where there is none, the one that was put aside last.
    func newestDatabase() throws(HomeError) -> String? {
        if disk.byteCount(database) ?? 0 > 0 { return database }
        let aside = (1...Self.asideCountMax).prefix { disk.exists(self.aside($0)) }
        return aside.last.map { self.aside($0) }
    }

    private func aside(_ number: Int) -> String { "\(database).damaged-\(number)" }

    func discardRescued() throws(HomeError) {
        for end in Self.besides { try disk.remove(rescued + end) }
        try SchemaTransplant.discard(in: self)
    }

    /// Puts what was rescued in the place of the database, which is kept beside it. The store of it is
    /// closed.
    ///
    /// - Returns: where the old database is.
    public func takeRescued() throws(HomeError) -> String {
        let held = try disk.lock(self)
        defer { withExtendedLifetime(held) {} }
        let free = (1...Self.asideCountMax).first { !disk.exists(aside($0)) }
        guard let free else {
            throw HomeError(.other, path: database, detail: "too many old ones lie beside it")
        }
        // The database last: as long as it is there, nothing has changed.
        for end in Self.besides.reversed() where disk.exists(database + end) {
            try disk.move(database + end, to: aside(free) + end)
        }
        try disk.move(rescued, to: database)
        try discardRescued()
        try forgetDamage()
        return aside(free)
    }
}

extension Statement {
    /// Binds all columns of another statement's row.
    fileprivate func take(_ row: Statement) {
        for column in 0..<row.columnCount { bind(column + 1, column, of: row) }
    }
}

extension Vault {
    /// Rows that no key opens.
    func strangeRows() throws(StoreError) -> [Int64] {
        let statement = statements.keys.rows
        defer { statement.reset() }
        var found: [Int64] = []
        while try statement.step("reading the vault") {
            let generation = UInt32(exactly: statement.integer(1)) ?? .max
            let row = (statement.integer(0), generation, statement.array(2))
            do throws(StoreError) { _ = try unseal(row) } catch { found.append(row.0) }
        }
        return found
    }
}

extension SQLiteStore {
    /// Rows of the node's notes that do not open.
    fileprivate func strangeValues() throws(StoreError) -> [Int64] {
        let statement = try connection.prepare("SELECT number, content FROM value ORDER BY number")
        defer { statement.reset() }
        var found: [Int64] = []
        while try statement.step("reading values") {
            let number = statement.integer(0)
            do throws(StoreError) {
                _ = try unseal(statement.bytes(1), .valueContent, row: number)
            } catch { found.append(number) }
        }
        return found
    }
}
