import ParleyLedger

/// Puts rows of a damaged table into a new one.
///
/// A row whose content is damaged may not fit the table at all, or claim the place of another. Neither
/// ends the rescue of the others.
struct RowCopy {
    private let insert: Statement
    private let remove: Statement
    private let removeHolder: Statement?
    private let table: RescueTable
    private let index: PlaceIndex?
    private let target: Connection
    /// Numbers of rows that are not certain.
    private var unsure: Set<Int64> = []
    /// Rows that could not be kept.
    private(set) var brokenCount = 0

    init(
        _ table: RescueTable, _ source: Connection, _ target: Connection
    ) throws(StoreError) {
        self.table = table
        self.target = target
        index = PlaceIndex(table, in: source)
        let marks = table.columns.map { _ in "?" }.joined(separator: ", ")
        insert = try target.prepare(
            "INSERT OR IGNORE INTO \(table.name) (\(table.columns.joined(separator: ", "))) "
                + "VALUES (\(marks))")
        remove = try target.prepare("DELETE FROM \(table.name) WHERE number = ?")
        if let index = table.index {
            removeHolder = try target.prepare(
                "DELETE FROM \(table.name) WHERE \(index.condition)")
        } else {
            removeHolder = nil
        }
    }

    /// Keeps a row under its number.
    mutating func keep(_ found: RowWalk.Found) throws(StoreError) {
        do throws(StoreError) {
            if found.isSure, unsure.remove(found.number) != nil {
                remove.bind(1, found.number)
                try remove.run("dropping a row that is not certain")
            }
            if try put(found) {
                if !found.isSure { unsure.insert(found.number) }
                return
            }
            brokenCount += 1
            // Another row, damaged or not, claims the same place. The index tells whose it is; a
            // guess displaces nobody.
            guard found.isSure, let removeHolder, let columns = table.index?.columns,
                index?.number(of: found.row) == found.number
            else { return }
            for (index, column) in columns.enumerated() {
                removeHolder.bind(Int32(index + 1), column.place, of: found.row)
            }
            try removeHolder.run("dropping a row in the place of another")
            _ = try put(found)
        } catch {
            guard error.concernsRow else { throw error }
            brokenCount += 1
        }
    }

    private func put(_ found: RowWalk.Found) throws(StoreError) -> Bool {
        insert.take(found.row)
        insert.bind(1, found.number)
        try insert.run("keeping what can be read")
        return target.changeCount > 0
    }
}

extension StoreError {
    /// Whether it means a row that does not fit, and not the disk or the query.
    var concernsRow: Bool { code == .other || code == .corrupt }
}
