public import ParleyLedger

extension SQLiteStore {
    /// The number that the next entry of the log of events gets.
    public var nextEventEntry: UInt64 { UInt64(clamping: nextEvent) }

    /// Keeps an entry under that number.
    public func appendEventEntry(_ content: [UInt8]) throws(StoreError) {
        writes()
        let statement = statements.events.insert
        statement.bind(1, nextEvent)
        statement.bind(2, copying: try seal(content, .eventContent, row: nextEvent))
        try statement.run("storing what happened")
        nextEvent += 1
    }

    /// At most `limit` entries from this number on, ascending.
    public func eventEntries(
        from number: UInt64, limit: Int
    ) throws(StoreError) -> [(number: UInt64, content: [UInt8])] {
        let statement = statements.events.from
        statement.bind(1, Int64(clamping: number))
        statement.bind(2, Int64(limit))
        defer { statement.reset() }
        var found: [(number: UInt64, content: [UInt8])] = []
        while try statement.step("reading what happened") {
            let row = statement.integer(0)
            found.append(
                (
                    UInt64(bitPattern: row),
                    try unseal(statement.bytes(1), .eventContent, row: row)
                ))
        }
        return found
    }

    /// Drops the entries below this number.
    public func dropEventEntries(below number: UInt64) throws(StoreError) {
        writes()
        let statement = statements.events.drop
        statement.bind(1, Int64(clamping: number))
        try statement.run("dropping what happened")
    }
}
