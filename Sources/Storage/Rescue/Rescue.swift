public import ParleyLedger
import ParleyNodeCore
public import ParleySealing
import ParleyWire

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
    /// Whether notes or keys were lost. They say nothing about what this device wrote.
    public var lacksNotes = false
    /// Whether the name of the database was lost, and it has a new one.
    public var lacksName = true
    /// Logs that were dropped as a whole, as far as their rows mention them.
    public var lostLogs: [LostLog] = []
}

extension RescueReport {
    /// Rows of a table were lost. Of messages the records of the logs tell whose they were.
    fileprivate mutating func lost(from table: RescueTable) {
        switch table.name {
        case "operation": break
        case "value", "vault": lacksNotes = true
        default: mayLackOwn = true
        }
    }
}

/// Called with the number of rows of each kind found.
public typealias RescueProgress = (_ meaning: String, _ count: Int) -> Void

/// Takes a damaged database apart: every row that can still be read goes into a new one beside it,
/// under the number that it had, because it is sealed to that. Derived rows are left out, and
/// recomputed by the caller. The old database is not changed.
extension SQLiteStore {
    /// How many rows of keys and notes no key opens.
    public func strangeRowCount() throws(StoreError) -> Int {
        try vault.strangeRows().count + strangeValues().count
    }

    /// How many operations are of logs of which nothing is noted.
    public func orphanCount() throws(StoreError) -> Int {
        let statement = try connection.prepare(
            "SELECT count(*) FROM operation WHERE log NOT IN (SELECT number FROM log)")
        defer { statement.reset() }
        return try statement.step("counting what belongs to nothing")
            ? Int(statement.integer(0)) : 0
    }

    /// How many rows of a log lie at places that its record does not say it holds: damage has changed the
    /// place of an operation. Whatever goes through all rows, as the search does, meets them.
    public func strayCount(in log: LogRecord) throws(StoreError) -> Int {
        func count(_ range: ClosedRange<Int64>) throws(StoreError) -> Int {
            let statement = try connection.prepare(
                "SELECT count(*) FROM operation WHERE log = ? AND sequence BETWEEN ? AND ?")
            for (index, value) in [log.number.rawValue, range.lowerBound, range.upperBound]
                .enumerated()
            {
                statement.bind(Int32(index + 1), value)
            }
            return try statement.step("counting what is noted nowhere")
                ? Int(statement.integer(0)) : 0
        }
        var strayCount = try count(Int64.min...Int64.max)
        for span in log.spans {
            strayCount -= try count(Int64(clamping: span.first)...Int64(clamping: span.last))
        }
        return strayCount
    }

    /// Opens what can be read of a home's database, in a new one that lies beside it until
    /// ``Home/takeRescued()``.
    ///
    /// - Throws: where the keys do not open, or nothing at all can be read.
    public static func rescue(
        home: Home, unlock: Unlock, random: any RandomNumberGenerator = SystemRandom(),
        progress: RescueProgress = { _, _ in }
    ) throws(HomeError) -> (store: SQLiteStore, report: RescueReport) {
        let lock = try home.disk.lock(home)
        let file = KeystoreFile(home: home, random: RandomSource(random))
        let keystore = try file.openToRead(unlock)
        guard let old = home.newestDatabase else { throw home.databaseGone }
        try home.discardRescued()
        return try explaining(home) {
            var report = RescueReport()
            let source = try damaged(old, of: home, &report)
            let target = try openDatabase(home.rescued, of: home)
            try target.execute("BEGIN IMMEDIATE", "beginning to rescue")
            try copyName(source, target, keystore, home, &report)
            try copyWordState(source, target)
            for table in RescueTable.all {
                try copy(table, source, target, &report, progress)
            }
            try copyHeads(source, target, &report, progress)
            try target.execute("COMMIT", "keeping what was rescued")
            let store = try assemble(
                home, lock, target, file, keystore, unlock, isRescue: true)
            try store.dropStrangeRows(&report)
            return (store, report)
        }
    }

    /// Opens the damaged database; if SQLite can no longer distinguish its tables, or finds them
    /// elsewhere than in any other home, a copy of it.
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
        // Another disk than the machine's has no copies.
        guard home.disk.fileSystem == nil else { return try open(old, home.disk.fileSystem) }
        let transplant = SchemaTransplant(home)
        do throws(StoreError) {
            let source = try open(old, nil)
            if try transplant.fits(source, byteCount: home.disk.byteCount(old) ?? 0) {
                return source
            }
        } catch {
            guard error.concernsRow else { throw error }
        }
        report.losses.append("The list of tables could not be read, and was rebuilt")
        return try open(transplant.make(of: old), nil)
    }

    private static func copyName(
        _ source: Connection, _ target: Connection, _ keystore: Keystore, _ home: Home,
        _ report: inout RescueReport
    ) throws {
        do {
            let row = try source.prepare(
                "SELECT one, instance, binding, durable FROM meta WHERE one = 1")
            guard try row.step("reading the name of the database") else { return }
            guard row.array(2) == binding(of: row.array(1), keystore) else {
                let error = try misnamed(source, keystore, home)
                guard error.code == .databaseDamaged else { throw error }
                return report.losses.append("The name of the database was damaged, and is new")
            }
            let insert = try target.prepare(
                "INSERT INTO meta (one, instance, binding, durable) VALUES (?, ?, ?, ?)")
            insert.take(row)
            try insert.run("naming the database")
            report.lacksName = false
        } catch let error as StoreError {
            // It gets another name. Unless everything in the guard is held, the guard is one of
            // another database then, and the node recovers its own past before it writes.
            guard error.concernsRow else { throw error }
        }
    }

    /// Whether the word index is wanted; it is rebuilt.
    private static func copyWordState(
        _ source: Connection, _ target: Connection
    ) throws(StoreError) {
        do throws(StoreError) {
            let state = try source.prepare("SELECT isOff FROM wordState WHERE one = 1")
            guard try state.step("reading what is indexed"), state.integer(0) != 0 else { return }
            try target.execute("UPDATE wordState SET isOff = 1", "keeping what is indexed")
        } catch {
            // A lost setting is recorded nowhere else: words are indexed, as by default.
            guard error.concernsRow else { throw error }
        }
    }

    private static func copy(
        _ table: RescueTable, _ source: Connection, _ target: Connection,
        _ report: inout RescueReport, _ progress: RescueProgress
    ) throws(StoreError) {
        var copy = try RowCopy(table, source, target)
        var walk = RowWalk(source, table)
        var count = 0
        try walk.run { found throws(StoreError) in
            count += 1
            progress(table.meaning, count)
            // Where this node stopped reading at a relay: it reads again what it may have lost.
            let isCursor =
                table.name == "value"
                && found.row.integer(1) == Int64(ValueTable.cursor.rawValue)
            if !isCursor { try copy.keep(found) }
        }
        guard walk.gapCount + copy.brokenCount > 0 else { return }
        report.losses.append("Some rows about \(table.meaning) cannot be read")
        report.lost(from: table)
    }

    /// Looks for the signature of every operation that was saved, each by its own place.
    private static func copyHeads(
        _ source: Connection, _ target: Connection, _ report: inout RescueReport,
        _ progress: RescueProgress
    ) throws(StoreError) {
        let places = try target.prepare(
            "SELECT log, sequence FROM operation ORDER BY log, sequence")
        let insert = try target.prepare(
            "INSERT OR IGNORE INTO head (log, sequence, signature) VALUES (?, ?, ?)")
        // A table that cannot be asked holds nothing that can be read.
        let head = try? source.prepare(
            "SELECT log, sequence, signature FROM head WHERE log = ? AND sequence = ?")
        var gapCount = head == nil ? 1 : 0
        var count = 0
        while try places.step("looking for signatures") {
            guard let head else { break }
            count += 1
            progress("signatures", count)
            for column in 0..<Int32(2) { head.bind(column + 1, column, of: places) }
            defer { head.reset() }
            // What cannot be read is a gap.
            guard let isThere = try? head.step("looking for signatures") else {
                gapCount += 1
                continue
            }
            guard isThere else { continue }
            do throws(StoreError) {
                insert.take(head)
                try insert.run("keeping signatures")
            } catch {
                guard error.concernsRow else { throw error }
                gapCount += 1
            }
        }
        if gapCount > 0 { report.losses.append("Some signatures cannot be read") }
    }

    /// Removes rows that do not open, and those that belong to nothing any more.
    private func dropStrangeRows(_ report: inout RescueReport) throws(StoreError) {
        let renewedCount = try renewLogs(&report)
        if renewedCount > 0 {
            report.losses.append(
                "\(counted(renewedCount, "row")) about who wrote what could not be decrypted, and were "
                    + "rebuilt from the rest"
            )
        }
        for purpose in try vault.strangeRows() {
            strangeRows.append(StrangeRow(table: "vault", number: purpose))
        }
        strangeRows += try strangeValues().map { StrangeRow(table: "value", number: $0) }
        for table in RescueTable.all {
            let count = strangeRows.count { $0.table == table.name }
            if count == 0 { continue }
            report.losses.append(
                "\(counted(count, "row")) about \(table.meaning) cannot be decrypted")
            report.lost(from: table)
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
            guard connection.changeCount > 0 else { continue }
            report.mayLackOwn = true
            guard table == "operation" else { continue }
            let count = connection.changeCount
            report.losses.append(
                counted(count, "message is", "messages are")
                    + " from logs of which nothing else is left")
        }
        try commit()
    }

    /// Keeps of a log what lies in these spans, without examining what is dropped: it may not open.
    ///
    /// - Parameter falseHeads: places within them whose signature does not hold.
    public func keepOnly(
        _ spans: [Span], withoutHeads falseHeads: [UInt64] = [], of log: LogNumber
    ) throws(StoreError) {
        writes()
        guard let record = records.log(log) else { return }
        var next = Int64.min
        for span in spans {
            try forget(log, next, Int64(clamping: span.first) - 1)
            next = Int64(clamping: span.last) + 1
        }
        try forget(log, next, Int64.max)
        let head = try connection.prepare("DELETE FROM head WHERE log = ? AND sequence = ?")
        for place in falseHeads {
            head.bind(1, log.rawValue)
            head.bind(2, Int64(clamping: place))
            try head.run("dropping a signature that does not hold")
        }
        records.update(try record.keeping(spans, self))
    }

    private func forget(
        _ log: LogNumber, _ first: Int64, _ last: Int64
    ) throws(StoreError) {
        guard first <= last else { return }
        for (table, column) in [("operation", "sequence"), ("head", "sequence"), ("view", "first")]
        {
            let statement = try connection.prepare(
                "DELETE FROM \(table) WHERE log = ? AND \(column) BETWEEN ? AND ?")
            for (index, value) in [log.rawValue, first, last].enumerated() {
                statement.bind(Int32(index + 1), value)
            }
            try statement.run("dropping a part of a log")
        }
    }

    /// Gives the database another name, so that it counts as one that the guard does not know: the node
    /// then takes its own past back from others before it writes.
    public func forgetName() throws(StoreError) {
        writes()
        try connection.execute("DELETE FROM meta", "naming the database anew")
    }
}

extension Statement {
    /// Binds all columns of another statement's row.
    func take(_ row: Statement) {
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
