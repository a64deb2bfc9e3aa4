import ParleyLedger
import ParleyWire

/// Spaces and logs as they are held in memory, with the way back of an open transaction.
struct Records {
    /// Ascending by number.
    private(set) var spaces: [SpaceRecord] = []
    /// The logs of each space, ascending by tag.
    private(set) var logs: [SpaceNumber: [LogRecord]] = [:]
    private var spaceNumbers: [SpaceID: SpaceNumber] = [:]
    private var places: [LogNumber: (space: SpaceNumber, tag: LogTag)] = [:]
    /// How often records were changed, those of each space and all of them by a rollback.
    private var changeCounts: [SpaceNumber: UInt64] = [:]
    private var rollbackCount: UInt64 = 0

    /// Logs that the transaction changed, as they were; the ones it added are nil.
    private var changed: [LogNumber: LogRecord?] = [:]
    /// Spaces that the transaction removed, with their logs, the last one last.
    private var removed: [(space: SpaceRecord, logs: [LogRecord])] = []
    /// The highest numbers that were ever given, and those before the transaction.
    private var highest = (space: Int64(0), log: Int64(0))
    private var highestBefore = (space: Int64(0), log: Int64(0))

    /// The numbers of the changed logs, ascending.
    var changedLogs: [LogNumber] { changed.keys.sorted() }

    func logChangeCount(in space: SpaceNumber) -> UInt64 {
        changeCounts[space, default: 0] + rollbackCount
    }

    var nextSpace: SpaceNumber { SpaceNumber(highest.space + 1) }
    var nextLog: LogNumber { LogNumber(highest.log + 1) }

    func space(_ number: SpaceNumber) -> SpaceRecord? {
        let index = index(of: number)
        return index < spaces.count && spaces[index].number == number ? spaces[index] : nil
    }

    /// Where a space stands, or would.
    private func index(of number: SpaceNumber) -> Int {
        var low = 0
        var high = spaces.count
        while low < high {
            let middle = (low + high) / 2
            if spaces[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low
    }

    func space(_ id: SpaceID) -> SpaceRecord? { spaceNumbers[id].flatMap(space) }

    func log(_ number: LogNumber) -> LogRecord? {
        guard let place = places[number] else { return nil }
        return log(place.tag, in: place.space)
    }

    func log(_ tag: LogTag, in space: SpaceNumber) -> LogRecord? {
        guard let list = logs[space] else { return nil }
        let index = Self.index(tag, in: list)
        return index < list.count && list[index].tag == tag ? list[index] : nil
    }

    mutating func add(_ space: SpaceRecord) {
        spaces.append(space)
        spaceNumbers[space.id] = space.number
        skip(space.number)
    }

    /// A number is taken, even if its space is gone.
    mutating func skip(_ number: SpaceNumber) {
        highest.space = max(highest.space, number.rawValue)
    }

    mutating func remove(_ number: SpaceNumber) {
        guard let space = space(number) else { return }
        spaces.remove(at: index(of: number))
        spaceNumbers[space.id] = nil
        let logs = logs.removeValue(forKey: number) ?? []
        changeCounts[number, default: 0] += 1
        for log in logs { places[log.number] = nil }
        removed.append((space, logs))
    }

    mutating func add(_ log: LogRecord) {
        let index = Self.index(log.tag, in: logs[log.space] ?? [])
        logs[log.space, default: []].insert(log, at: index)
        changeCounts[log.space, default: 0] += 1
        places[log.number] = (log.space, log.tag)
        highest.log = max(highest.log, log.number.rawValue)
        if changed[log.number] == nil { changed[log.number] = .some(nil) }
    }

    mutating func update(_ log: LogRecord) {
        guard let old = self.log(log.number) else { return }
        if changed[log.number] == nil { changed[log.number] = .some(old) }
        set(log)
    }

    private mutating func set(_ log: LogRecord) {
        let index = Self.index(log.tag, in: logs[log.space] ?? [])
        logs[log.space, default: []][index] = log
        changeCounts[log.space, default: 0] += 1
    }

    mutating func committed() {
        changed.removeAll(keepingCapacity: true)
        removed = []
        highestBefore = highest
    }

    mutating func rolledBack() {
        rollbackCount += 1
        for (space, logs) in removed.reversed() {
            spaces.insert(space, at: index(of: space.number))
            spaceNumbers[space.id] = space.number
            self.logs[space.number] = logs
            for log in logs { places[log.number] = (log.space, log.tag) }
        }
        removed = []
        highest = highestBefore
        while let last = spaces.last, last.number.rawValue > highest.space {
            spaceNumbers[spaces.removeLast().id] = nil
        }
        for number in changedLogs {
            guard let entry = changed[number] else { continue }
            if let old = entry { set(old) } else { remove(number) }
        }
        changed.removeAll(keepingCapacity: true)
    }

    private mutating func remove(_ number: LogNumber) {
        guard let place = places.removeValue(forKey: number) else { return }
        logs[place.space]?.removeAll { $0.number == number }
    }

    private static func index(_ tag: LogTag, in list: [LogRecord]) -> Int {
        var low = 0
        var high = list.count
        while low < high {
            let middle = (low + high) / 2
            if list[middle].tag < tag { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension SQLiteStore {
    /// Reads all spaces and logs; their names are sealed.
    func loadRecords() throws(StoreError) {
        let spaces = try connection.prepare(
            "SELECT number, kind, definition FROM space ORDER BY number")
        while try spaces.step("reading spaces") {
            guard spaces.integer(1) >= 0 else {
                records.skip(SpaceNumber(spaces.integer(0)))
                continue
            }
            try passingOver("space", spaces.integer(0)) { () throws(StoreError) in
                records.add(try space(spaces))
            }
        }
        let logs = try connection.prepare("\(Self.logQuery) ORDER BY number")
        while try logs.step("reading logs") {
            try passingOver("log", logs.integer(0)) { () throws(StoreError) in
                try addRecord(logs)
            }
        }
        try loadForks()
        records.committed()
    }

    /// Reads one log.
    func loadLog(_ number: Int64) throws(StoreError) {
        let row = try connection.prepare("\(Self.logQuery) WHERE number = ?")
        row.bind(1, number)
        if try row.step("reading a log") { try addRecord(row) }
    }

    private static let logQuery = """
        SELECT number, space, lane, definition, spans, standing, coveredEnd,
        controlCoveredEnd, floor, bound FROM log
        """

    private func addRecord(_ row: Statement) throws(StoreError) {
        let log = try log(row)
        guard !isRescue || records.space(log.space) != nil else {
            throw Self.damaged("reading logs")
        }
        records.add(log)
    }

    private func space(_ row: Statement) throws(StoreError) -> SpaceRecord {
        let number = row.integer(0)
        let bytes = try unseal(row.bytes(2), .spaceDefinition, row: number)
        guard let id = SpaceID(bytes),
            let kind = UInt8(exactly: row.integer(1)).flatMap(SpaceKind.init)
        else { throw Self.damaged("reading spaces") }
        return SpaceRecord(number: SpaceNumber(number), id: id, kind: kind)
    }

    /// Reads a row. One that does not open is noted where rows are being rescued, and fails the store
    /// otherwise.
    func passingOver(
        _ table: String, _ number: Int64, _ body: () throws(StoreError) -> Void
    ) throws(StoreError) {
        do throws(StoreError) {
            try body()
        } catch {
            guard isRescue, error.code == .corrupt else { throw error }
            strangeRows.append(StrangeRow(table: table, number: number))
        }
    }

    private func log(_ row: Statement) throws(StoreError) -> LogRecord {
        let number = row.integer(0)
        var names = ByteReader(try unseal(row.bytes(3), .logDefinition, row: number))
        do {
            let id: LogID = try names.identifier()
            let device: DeviceID = try names.identifier()
            guard let lane = UInt8(exactly: row.integer(2)).flatMap(Lane.init) else {
                throw Self.damaged("reading logs")
            }
            var log = LogRecord(
                number: LogNumber(number), space: SpaceNumber(row.integer(1)), id: id,
                device: device, lane: lane,
                coveredEnd: UInt64(bitPattern: row.integer(6)),
                controlCoveredEnd: UInt64(bitPattern: row.integer(7)))
            do {
                log.spans = try Span.list(row.array(4))
                if !row.isNull(5) { log.order = try LogOrder(bytes: row.array(5)) }
            } catch {
                // Both follow from the operations, which a rescue looks at anyway.
                guard isRescue else { throw error }
                log.spans = []
            }
            log.floor = row.isNull(8) ? nil : try LogPoint(bytes: row.array(8))
            log.limit = row.isNull(9) ? nil : try LogPoint(bytes: row.array(9))
            return log
        } catch {
            throw Self.damaged("reading logs")
        }
    }

    /// Writes the log records that the transaction changed.
    func writeRecords() throws(StoreError) {
        for number in records.changedLogs {
            guard let log = records.log(number) else { continue }
            let statement = statements.updateLog
            statement.bind(1, number.rawValue)
            statement.bind(2, copying: Span.bytes(log.spans))
            statement.bind(3, copying: log.order.bytes)
            statement.bind(4, Int64(bitPattern: log.coveredEnd))
            statement.bind(5, Int64(bitPattern: log.controlCoveredEnd))
            bind(log.floor, 6, statement)
            bind(log.limit, 7, statement)
            try statement.run("storing a log")
        }
    }

    private func bind(_ point: LogPoint?, _ place: Int32, _ statement: Statement) {
        if let point {
            statement.bind(place, copying: point.bytes)
        } else {
            statement.bindNull(place)
        }
    }

    static func damaged(_ attempt: String) -> StoreError {
        StoreError(.corrupt, attempt: attempt, detail: "a row is not as it was written")
    }
}

extension LogPoint {
    fileprivate var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 42)
        writer.number(sequence)
        writer.identifier(anchor)
        return writer.bytes
    }

    fileprivate init(bytes: [UInt8]) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        self.init(sequence: try reader.number(), anchor: try reader.identifier())
        try reader.finish()
    }
}

extension Span {
    /// Spans one after another, as a log's row keeps them.
    fileprivate static func bytes(_ spans: [Span]) -> [UInt8] {
        var writer = ByteWriter(capacity: spans.count * 74)
        for span in spans {
            writer.number(span.first)
            writer.number(span.last)
            writer.identifier(span.anchor)
            writer.identifier(span.tip)
        }
        return writer.bytes
    }

    static func list(_ bytes: [UInt8]) throws(DecodingFailure) -> [Span] {
        var reader = ByteReader(bytes)
        var spans: [Span] = []
        while reader.remaining > 0 {
            let span = Span(
                first: try reader.number(), last: try reader.number(),
                anchor: try reader.identifier(), tip: try reader.identifier())
            guard span.first <= span.last, span.last < Limits.placeMax,
                spans.last.map({ $0.last < span.first }) ?? true
            else { throw .forbidden(field: "spans") }
            spans.append(span)
        }
        return spans
    }
}
