import ParleyLedger

/// A table whose rows are taken out of a damaged database, under the numbers that they have.
struct RescueTable {
    /// An index without two equal entries: pages of another tree, which tell the number of a row as well.
    struct Index {
        let name: String
        /// Its identifying columns, each with its index.
        let columns: [(name: String, place: Int32)]

        /// The condition that finds the identity of a row.
        var condition: String { columns.map { "\($0.name) = ?" }.joined(separator: " AND ") }
    }

    let name: String
    /// The first one is the number.
    let columns: [String]
    /// What is lost with a row.
    let meaning: String
    /// Nil if there is none.
    var index: Index?

    static let all = [
        RescueTable(
            name: "space", columns: ["number", "kind", "definition"],
            meaning: "which conversations there are"),
        RescueTable(
            name: "log",
            columns: [
                "number", "space", "lane", "definition", "spans", "standing", "coveredEnd",
                "controlCoveredEnd", "floor", "bound",
            ], meaning: "who wrote what"),
        RescueTable(
            name: "operation",
            columns: ["number", "log", "sequence", "id", "head", "tail", "stand", "witness"],
            meaning: "messages",
            index: Index(name: "operationPlace", columns: [("log", 1), ("sequence", 2)])),
        RescueTable(
            name: "fork", columns: ["number", "locator", "evidence"], meaning: "proofs of forks",
            index: Index(name: "sqlite_autoindex_fork_1", columns: [("locator", 1)])),
        RescueTable(
            name: "vault",
            columns: ["number", "purpose", "space", "locator", "generation", "content"],
            meaning: "keys",
            index: Index(
                name: "sqlite_autoindex_vault_1",
                columns: [("purpose", 1), ("space", 2), ("locator", 3)])),
        RescueTable(
            name: "value", columns: ["number", "list", "locator", "content"],
            meaning: "notes of the node",
            index: Index(
                name: "sqlite_autoindex_value_1", columns: [("list", 1), ("locator", 2)])),
    ]

    /// Reads whole rows.
    var query: String { "SELECT \(columns.joined(separator: ", ")) FROM \(name)" }

    /// Numbers above this one no database of ours gives: they are damage.
    static let numberMax: Int64 = 1 << 48
}

/// What an index of a damaged database says about its table.
struct PlaceIndex {
    private let source: Connection
    private let table: RescueTable
    private let index: RescueTable.Index
    private let numberOfPlace: Statement

    /// Nil if there is none, or none that can be queried.
    init?(_ table: RescueTable, in source: Connection) {
        guard let index = table.index else { return nil }
        let query =
            "SELECT number FROM \(table.name) INDEXED BY \(index.name) WHERE \(index.condition)"
        // Without it only the table describes itself.
        guard let statement = try? source.prepare(query) else { return nil }
        (self.source, self.table, self.index) = (source, table, index)
        numberOfPlace = statement
    }

    /// The number that it gives to a row's identity; nil if it gives none.
    func number(of row: Statement) -> Int64? {
        for (index, column) in index.columns.enumerated() {
            numberOfPlace.bind(Int32(index + 1), column.place, of: row)
        }
        defer { numberOfPlace.reset() }
        // What cannot be read tells nothing.
        guard (try? numberOfPlace.step("asking an index")) == true else { return nil }
        return numberOfPlace.integer(0)
    }

    /// Shows all numbers, in no order; as many as can be read, and not more than these.
    ///
    /// - Returns: whether all were shown.
    func eachNumber(
        atMost countMax: Int, _ body: (Int64) throws(StoreError) -> Void
    ) throws(StoreError) -> Bool {
        let query = "SELECT number FROM \(table.name) INDEXED BY \(index.name)"
        // As above.
        guard let statement = try? source.prepare(query) else { return false }
        defer { statement.reset() }
        for _ in 0..<countMax {
            // As above.
            guard let hasMore = try? statement.step("reading an index") else { return false }
            guard hasMore else { return true }
            try body(statement.integer(0))
        }
        return false
    }
}
