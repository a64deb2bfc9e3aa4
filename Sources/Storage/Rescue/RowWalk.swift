import ParleyLedger

/// Walks the rows of a table in the order of a key, and steps over what a damaged page has taken: rows
/// behind it are found again by looking for higher and higher keys.
struct RowWalk {
    private let source: Connection
    private let sql: String
    /// How often something could not be read.
    private(set) var gapCount = 0

    /// - Parameter sql: takes a key as its first parameter and returns rows from there on, ascending
    ///   by it; the key is the first column.
    init(_ source: Connection, _ sql: String) {
        (self.source, self.sql) = (source, sql)
    }

    /// Shows every row that can be read.
    mutating func run(_ body: (Statement) throws(StoreError) -> Void) throws(StoreError) {
        var next: Int64 = 0
        while let from = try stream(from: next, body) {
            gapCount += 1
            guard let readable = readable(above: from) else { return }
            next = readable
        }
    }

    /// Shows rows up to the first that cannot be read.
    ///
    /// - Returns: the lowest key that it can have; nil where there are no more.
    private func stream(
        from first: Int64, _ body: (Statement) throws(StoreError) -> Void
    ) throws(StoreError) -> Int64? {
        var next = first
        while true {
            let statement: Statement
            do throws(StoreError) {
                statement = try source.prepare(sql)
                statement.bind(1, next)
                guard try statement.step("reading what can be read") else { return nil }
            } catch {
                return next
            }
            while true {
                let key = statement.integer(0)
                // A page that leads back to itself.
                guard key >= next, key < Int64.max else { return next }
                try body(statement)
                next = key + 1
                do throws(StoreError) {
                    guard try statement.step("reading what can be read") else { return nil }
                } catch {
                    break
                }
            }
            // Its neighbours may still be found by their own keys.
            if !canRead(next) { return next }
        }
    }

    private func canRead(_ key: Int64) -> Bool {
        do throws(StoreError) {
            let statement = try source.prepare(sql)
            statement.bind(1, key)
            _ = try statement.step("reading what can be read")
            return true
        } catch {
            return false
        }
    }

    /// A key above which something can be read, or certainly nothing is; nil where none is found.
    private func readable(above key: Int64) -> Int64? {
        var step: Int64 = 1
        var low = key
        while key <= Int64.max / 2 - step {
            var high = key + step
            if canRead(high) {
                while high - low > 1 {
                    let middle = low + (high - low) / 2
                    if canRead(middle) { high = middle } else { low = middle }
                }
                return high
            }
            low = high
            guard step < 1 << 61 else { return nil }
            step *= 2
        }
        return nil
    }
}
