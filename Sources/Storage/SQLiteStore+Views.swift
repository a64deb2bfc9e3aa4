public import ParleyLedger
import ParleyWire

extension SQLiteStore {
    /// Stores the view of a stretch of the log; a row at the same place is replaced.
    public func setView(_ view: LogView, in log: LogNumber) throws(StoreError) {
        writes()
        let row = try Self.last("view", connection) + 1
        let statement = statements.views.insert
        statement.bind(1, row)
        statement.bind(2, log.rawValue)
        statement.bind(3, Int64(clamping: view.first))
        statement.bind(4, copying: try seal(view.encoded, .viewContent, row: row))
        try statement.run("storing a view")
    }

    /// Drops the row that begins at this place.
    public func removeView(at first: UInt64, in log: LogNumber) throws(StoreError) {
        writes()
        let statement = statements.views.remove
        statement.bind(1, log.rawValue)
        statement.bind(2, Int64(clamping: first))
        try statement.run("dropping a view")
    }

    /// The row with the highest place at or below this one, or nil.
    public func view(at sequence: UInt64, in log: LogNumber) throws(StoreError) -> LogView? {
        let statement = statements.views.at
        statement.bind(1, log.rawValue)
        statement.bind(2, Int64(clamping: sequence))
        defer { statement.reset() }
        return try statement.step("reading a view") ? try view(statement) : nil
    }

    /// The rows that begin in this range, ascending.
    public func views(
        in log: LogNumber, _ range: ClosedRange<UInt64>
    ) throws(StoreError) -> [LogView] {
        let statement = statements.views.inRange
        statement.bind(1, log.rawValue)
        statement.bind(2, Int64(clamping: range.lowerBound))
        statement.bind(3, Int64(clamping: range.upperBound))
        defer { statement.reset() }
        var found: [LogView] = []
        while try statement.step("reading views") { found.append(try view(statement)) }
        return found
    }

    private func view(_ row: Statement) throws(StoreError) -> LogView {
        let bytes = try unseal(row.bytes(2), .viewContent, row: row.integer(0))
        do {
            return try LogView(
                first: UInt64(bitPattern: row.integer(1)), encoded: bytes)
        } catch {
            throw Self.damaged("reading a view")
        }
    }
}
