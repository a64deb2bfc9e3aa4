public import ParleyConversation
public import ParleyLedger
public import ParleyWire

/// Answers and the threads that they are in; decisions; files.
extension SQLiteStore {
    /// At most `limit` answers of a thread, below `before` or the newest; newest first.
    public func answers(
        in thread: UInt64, of space: SpaceNumber, before: OrderKey?, limit: Int
    ) throws(StoreError) -> [Entry] {
        let statement = statements.entries.answers
        bind(thread, space, before, statement)
        statement.bind(6, Int64(limit))
        var found = try foundEntries(statement)
        for place in found.indices {
            let order = found[place].order
            found[place].object = .operation(order.tag, order.sequence)
        }
        return found
    }

    /// How many answers of a thread there are below `before`, or in all.
    public func answerCount(
        in thread: UInt64, of space: SpaceNumber, before: OrderKey?
    ) throws(StoreError) -> Int {
        let statement = statements.entries.answerCount
        bind(thread, space, before, statement)
        defer { statement.reset() }
        return try statement.step("counting answers") ? Int(statement.integer(0)) : 0
    }

    private func bind(
        _ thread: UInt64, _ space: SpaceNumber, _ before: OrderKey?, _ statement: Statement
    ) {
        statement.bind(1, space.rawValue)
        statement.bind(2, Int64(ordered: thread))
        // Nothing stands as high as that.
        statement.bind(3, before.map { Int64(clamping: $0.stand) } ?? .max)
        statement.bind(4, Int64(ordered: before?.tag.value ?? .max))
        statement.bind(5, before.map { Int64(clamping: $0.sequence) } ?? .max)
    }

    /// The thread of each answer about a place of a log in the range that stands above this.
    public func threadsAnswered(
        on tag: LogTag, _ range: ClosedRange<UInt64>, above stand: UInt64, in space: SpaceNumber
    ) throws(StoreError) -> [UInt64] {
        let statement = statements.entries.threadsAnswered
        statement.bind(1, space.rawValue)
        statement.bind(2, Int64(ordered: tag.value))
        statement.bind(3, Int64(clamping: range.lowerBound))
        statement.bind(4, Int64(clamping: range.upperBound))
        statement.bind(5, Int64(clamping: stand))
        defer { statement.reset() }
        var found: [UInt64] = []
        while try statement.step("reading answers") {
            found.append(UInt64(ordered: statement.integer(0)))
        }
        return found
    }

    /// At most `limit` threads of a space or of all, below `before` or all, the highest first.
    public func threads(
        in space: SpaceNumber?, before: Entry?, limit: Int
    ) throws(StoreError) -> [Entry] {
        let statement =
            space == nil ? statements.entries.threads : statements.entries.threadsOfSpace
        return try entries(statement, in: space, before: before, limit: limit)
    }

    /// At most `limit` decisions of a space or of all, below `before` or all, the highest first.
    public func decisions(
        in space: SpaceNumber?, before: Entry?, limit: Int
    ) throws(StoreError) -> [Entry] {
        let statement =
            space == nil ? statements.entries.decisions : statements.entries.decisionsOfSpace
        return try entries(statement, in: space, before: before, limit: limit)
    }

    /// At most `limit` messages that bring files, of a space or of all, below `before` or all, the highest
    /// first.
    public func files(
        in space: SpaceNumber?, before: Entry?, limit: Int
    ) throws(StoreError) -> [Entry] {
        let statement = space == nil ? statements.entries.files : statements.entries.filesOfSpace
        return try entries(statement, in: space, before: before, limit: limit)
    }

    /// At most `limit` entries of messages that name a sealed file, of all spaces, by their rows.
    public func naming(blob element: UInt64, limit: Int) throws(StoreError) -> [Entry] {
        let statement = statements.entries.naming
        statement.bind(1, Int64(ordered: element))
        statement.bind(2, Int64(limit))
        return try foundEntries(statement)
    }

    private func entries(
        _ statement: Statement, in space: SpaceNumber?, before: Entry?, limit: Int
    ) throws(StoreError) -> [Entry] {
        statement.bind(1, before.map { Int64(clamping: $0.order.stand) } ?? .max)
        statement.bind(2, before?.operation.rawValue ?? .max)
        statement.bind(3, Int64(limit))
        if let space { statement.bind(4, space.rawValue) }
        return try foundEntries(statement)
    }
}
