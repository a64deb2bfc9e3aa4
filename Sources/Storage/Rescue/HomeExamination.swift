import ParleyLedger
import ParleySealing
import ParleyWire

/// What can be said of a home's files where its node does not open.
public struct HomeFinding: Equatable, Sendable {
    /// What was checked, as a sentence.
    public var name: String
    /// Whether it holds.
    public var isFine: Bool
    /// Figures, or what is wrong.
    public var detail: String

    /// What SQLite finds wrong with a database, in so many letters: of the rest nobody needs to know more
    /// than that it is there.
    private static let complaintLengthMax = 80

    /// Complaints of SQLite as a part of a sentence: the first of them, and how many more there are.
    public static func words(of complaints: [String]) -> String {
        let lines = complaints.flatMap { complaint in
            complaint.split(separator: "\n").filter { !$0.hasPrefix("***") }
        }
        guard let first = lines.first else { return "it is damaged" }
        let rest = lines.count - 1
        let more = rest == 0 ? "" : ", and at least \(counted(rest, "more such fault"))"
        return first.prefix(complaintLengthMax) + more
    }
}

extension Home {
    /// Checks every file, and continues behind problems. Changes nothing.
    public func examine(_ unlock: Unlock) -> [HomeFinding] {
        var findings: [HomeFinding] = []
        func look(_ name: String, _ body: () throws -> String) {
            do {
                findings.append(HomeFinding(name: name, isFine: true, detail: try body()))
            } catch {
                findings.append(HomeFinding(name: name, isFine: false, detail: "\(error)"))
            }
        }
        look("The keystore opens.") {
            _ = try KeystoreFile(home: self, random: RandomSource(SystemRandom())).openToRead(
                unlock)
            return "with what was given"
        }
        look("The guard is there.") {
            guard disk.exists(guardFile) else { throw HomeError(.keyMissing, path: guardFile) }
            return "it remembers how far this device's own logs were"
        }
        look("The database is there.") {
            guard !lacksDatabase, disk.exists(database) else {
                throw databaseGone
            }
            return counted(disk.byteCount(database) ?? 0, "byte")
        }
        guard findings.last?.isFine == true else { return findings }
        look("The database is sound.") {
            let complaints = try SQLiteStore.explaining(self) { try reader().complaints() }
            guard complaints.isEmpty else {
                throw HomeError(
                    .databaseDamaged, path: database, detail: HomeFinding.words(of: complaints))
            }
            return "every page"
        }
        for table in RescueTable.all {
            look("Every row about \(table.meaning) can be read.") {
                let (rows, gaps) = try SQLiteStore.explaining(self) {
                    try reader().count(of: table)
                }
                guard gaps == 0 else {
                    throw HomeError(
                        .databaseDamaged, path: database,
                        detail: "table \(table.name): \(counted(rows, "row")), and at least "
                            + counted(gaps, "gap"))
                }
                return counted(rows, "row")
            }
        }
        return findings
    }

    /// Whether one of these secrets of the node lies in no row of a damaged database that can still be
    /// read and opens: then no repair brings it back. False where that cannot be told. Changes nothing.
    public func hasLost(secrets names: [String], _ unlock: Unlock) -> Bool {
        do {
            let file = KeystoreFile(home: self, random: RandomSource(SystemRandom()))
            let keystore = try file.openToRead(unlock)
            let found = try reader().secrets(names, by: keystore)
            return !found.isSuperset(of: names)
        } catch {
            // A repair may find more, or say why it finds nothing.
            return false
        }
    }

    /// What is wrong with the database, also while a node has it open. One table is looked at after the other:
    /// while somebody reads, what was erased stays in the log of changes.
    public func complaints() throws(HomeError) -> [String] {
        try SQLiteStore.explaining(self) {
            let connection = try reader()
            for table in try connection.tables() {
                let complaints = try connection.complaints(about: table)
                if !complaints.isEmpty { return complaints }
            }
            return []
        }
    }

    private func reader() throws(StoreError) -> Connection {
        let connection = try Connection(
            path: ReadingPlace.name(of: database), fileSystem: disk.fileSystem, mayWrite: false)
        try connection.execute(Pragma.reading, "opening the database")
        return connection
    }
}

extension Connection {
    /// The tables that have pages, those of the index of words too.
    fileprivate func tables() throws(StoreError) -> [String] {
        let statement = try prepare(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 ORDER BY name")
        defer { statement.reset() }
        var names: [String] = []
        while try statement.step("listing the tables") { names.append(statement.text(0)) }
        return names
    }

    /// What is wrong with a table and its indexes.
    fileprivate func complaints(about table: String) throws(StoreError) -> [String] {
        try complaints("PRAGMA integrity_check('\(table)')")
    }

    /// What is wrong with the database, page by page; nothing if it is sound.
    func complaints() throws(StoreError) -> [String] {
        try complaints("PRAGMA integrity_check(10)")
    }

    private func complaints(_ check: String) throws(StoreError) -> [String] {
        let statement = try prepare(check)
        defer { statement.reset() }
        var complaints: [String] = []
        while try statement.step("checking the database") { complaints.append(statement.text(0)) }
        return complaints == ["ok"] ? [] : complaints
    }

    /// Those of these secrets of the node that can be read.
    fileprivate func secrets(
        _ names: [String], by keystore: Keystore
    ) throws(StoreError) -> Set<String> {
        guard let table = RescueTable.all.first(where: { $0.name == "vault" }) else { return [] }
        // If the tables cannot be distinguished, a repair rebuilds their list.
        let tables = RescueTable.all.map { "'\($0.name)'" }.joined(separator: ", ")
        let places = try prepare(
            "SELECT count(DISTINCT rootpage) FROM sqlite_schema WHERE name IN (\(tables))")
        defer { places.reset() }
        guard try places.step("reading the list of the tables"),
            places.integer(0) == RescueTable.all.count
        else { return Set(names) }
        let locators = Dictionary(
            uniqueKeysWithValues: names.map { (Vault.locator(ofSecret: $0, keystore), $0) })
        var found: Set<String> = []
        var walk = RowWalk(self, table)
        try walk.run { row in
            let columns = row.row
            guard columns.integer(1) == Vault.Drawer.named.purpose,
                let name = locators[columns.array(3)]
            else { return }
            let generation = UInt32(exactly: columns.integer(4)) ?? .max
            let sealed = (row.number, generation, columns.array(5))
            if Vault.opened(sealed, by: keystore) != nil { found.insert(name) }
        }
        return found
    }

    /// How many rows of a table can be read, and how often some cannot.
    fileprivate func count(of table: RescueTable) throws(StoreError) -> (rows: Int, gaps: Int) {
        var count = 0
        var walk = RowWalk(self, table)
        try walk.run { _ in count += 1 }
        return (count, walk.gapCount)
    }
}
