import ParleyConversation
public import ParleyLedger
import ParleySealing
public import ParleyWire

/// The length of the tail of an operation's row tells what it is: nothing if there never was a
/// payload, 32 bytes of commitment if it was erased, else sealed salt and payload.
extension SQLiteStore {
    /// Keeps operations of one log, consecutive and ascending; returns the row of each.
    public func insert(
        _ operations: [VerifiedOperation], in log: LogNumber
    ) throws(StoreError) -> [OperationNumber] {
        writes()
        var numbers: [OperationNumber] = []
        numbers.reserveCapacity(operations.count)
        for operation in operations {
            try insert(operation, number: nextOperation, log: log)
            numbers.append(OperationNumber(nextOperation))
            nextOperation += 1
        }
        return numbers
    }

    private func insert(
        _ verified: VerifiedOperation, number: Int64, log: LogNumber
    ) throws(StoreError) {
        let statement = statements.insertOperation
        let operation = verified.operation
        let tail = try self.tail(operation, number)
        statement.bind(1, number)
        statement.bind(2, log.rawValue)
        statement.bind(3, Int64(clamping: verified.sequence))
        statement.bind(7, Int64(clamping: verified.stand.value))
        statement.bind(8, Int64(clamping: verified.stand.witness))
        try verified.id.withUnsafeBytes { id throws(StoreError) in
            statement.bind(4, id)
            try operation.head.lent { head throws(StoreError) in
                statement.bind(5, head)
                guard let tail else {
                    statement.bindNull(6)
                    return try statement.run("storing an operation")
                }
                try tail.lent { tail throws(StoreError) in
                    statement.bind(6, tail)
                    try statement.run("storing an operation")
                }
            }
        }
    }

    /// What the row keeps of salt and payload, or nil where there never were any.
    private func tail(_ operation: Operation, _ number: Int64) throws(StoreError) -> [UInt8]? {
        switch operation.body {
        case .none: return nil
        case .erased(let commitment, _, _): return commitment.bytes
        case .present(let salt, let payload):
            scratch.removeAll(keepingCapacity: true)
            scratch += salt
            scratch += payload
            let key = try vault.keyOrNew(of: Vault.bucket(of: number))
            return key.seal(scratch, at: SealedPlace(column: .operationTail, row: number))
        }
    }

    /// The operation at this place, or nil.
    public func operation(
        at sequence: UInt64, in log: LogNumber
    ) throws(StoreError) -> StoredOperation? {
        let statement = statements.operationByPlace
        statement.bind(1, log.rawValue)
        statement.bind(2, Int64(clamping: sequence))
        defer { statement.reset() }
        return try statement.step("reading an operation") ? try row(statement) : nil
    }

    /// The operation in this row, or nil.
    public func operation(_ number: OperationNumber) throws(StoreError) -> StoredOperation? {
        let statement = statements.operationByNumber
        statement.bind(1, number.rawValue)
        defer { statement.reset() }
        return try statement.step("reading an operation") ? try row(statement) : nil
    }

    /// Operations of a log in ascending order, at most `limit` of them from the lowest place.
    public func operations(
        in log: LogNumber, _ range: ClosedRange<UInt64>, limit: Int
    ) throws(StoreError) -> [StoredOperation] {
        let statement = statements.operationsByPlace
        statement.bind(1, log.rawValue)
        statement.bind(2, Int64(clamping: range.lowerBound))
        statement.bind(3, Int64(clamping: range.upperBound))
        statement.bind(4, Int64(limit))
        defer { statement.reset() }
        var found: [StoredOperation] = []
        while try statement.step("reading operations") { found.append(try row(statement)) }
        return found
    }

    /// The same without their payloads.
    public func headers(
        in log: LogNumber, _ range: ClosedRange<UInt64>, limit: Int
    ) throws(StoreError) -> [StoredHeader] {
        let statement = statements.headersByPlace
        statement.bind(1, log.rawValue)
        statement.bind(2, Int64(clamping: range.lowerBound))
        statement.bind(3, Int64(clamping: range.upperBound))
        statement.bind(4, Int64(limit))
        defer { statement.reset() }
        var found: [StoredHeader] = []
        while try statement.step("reading headers") {
            guard let id = OperationID(statement.bytes(2)),
                // A row that does not read is damage, whatever is wrong with it.
                let header = try? OperationHeader(head: statement.array(3))
            else { throw Self.damaged("reading headers") }
            found.append(
                StoredHeader(
                    number: OperationNumber(statement.integer(0)),
                    sequence: UInt64(bitPattern: statement.integer(1)), id: id, header: header,
                    stand: Stand(
                        value: UInt64(bitPattern: statement.integer(4)),
                        witness: UInt64(bitPattern: statement.integer(5)),
                        wallClock: header.wallClock)))
        }
        return found
    }

    /// Replaces where an operation stands.
    public func setStand(_ stand: Stand, of number: OperationNumber) throws(StoreError) {
        writes()
        let statement = statements.updateStand
        statement.bind(1, number.rawValue)
        statement.bind(2, Int64(clamping: stand.value))
        statement.bind(3, Int64(clamping: stand.witness))
        try statement.run("placing an operation")
    }

    /// The operation of a row whose columns are `SQL.operationColumns`.
    func row(_ row: Statement) throws(StoreError) -> StoredOperation {
        let number = row.integer(0)
        guard let id = OperationID(row.bytes(3)) else { throw Self.damaged("reading operations") }
        var tail: [UInt8] = []
        let isErased = row.bytes(5).count == Digest.byteCount
        if isErased {
            tail = row.array(5)
        } else if !row.isNull(5) {
            let key = try vault.key(of: Vault.bucket(of: number))
            let place = SealedPlace(column: .operationTail, row: number)
            guard let opened = key.open(row.bytes(5), at: place) else {
                throw Self.damaged("reading operations")
            }
            tail = opened
        }
        do {
            let operation = try Operation(head: row.array(4), tail: tail, isErased: isErased)
            return StoredOperation(
                number: OperationNumber(number), log: LogNumber(row.integer(1)),
                sequence: UInt64(bitPattern: row.integer(2)), id: id, operation: operation,
                stand: Stand(
                    value: UInt64(bitPattern: row.integer(6)),
                    witness: UInt64(bitPattern: row.integer(7)),
                    wallClock: operation.header.wallClock))
        } catch {
            throw Self.damaged("reading operations")
        }
    }

    /// Erases the payload of an operation, permanently.
    public func erase(_ number: OperationNumber, commitment: Digest) throws(StoreError) {
        erases()
        if let stored = try self.operation(number) { try forgetSearch(of: stored) }
        try setTail(commitment.bytes, number)
    }

    /// Puts back the payload of an operation that had arrived without it.
    public func restore(
        _ operation: VerifiedOperation, in number: OperationNumber
    ) throws(StoreError) {
        writes()
        guard let tail = try tail(operation.operation, number.rawValue) else { return }
        try setTail(tail, number)
        if StoredOperation.maySayText(operation.operation.header.kind) { try noteLate(number) }
    }

    private func setTail(_ tail: [UInt8], _ number: OperationNumber) throws(StoreError) {
        let statement = statements.updateTail
        statement.bind(1, number.rawValue)
        statement.bind(2, copying: tail)
        try statement.run("replacing a payload")
    }
}

extension [UInt8] {
    /// Lends the bytes to the closure, whose error keeps its type.
    @inline(__always)
    func lent<R>(
        _ body: (UnsafeRawBufferPointer) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        var result: Result<R, StoreError>?
        withUnsafeBytes { buffer in
            do throws(StoreError) {
                result = .success(try body(buffer))
            } catch {
                result = .failure(error)
            }
        }
        guard let result else { preconditionFailure("the closure runs once") }
        return try result.get()
    }
}

extension SQLiteStore {
    /// How many operations of a log are looked at in one read.
    private static let newestStride = 64

    /// For each log with content among the newest of its space: the lowest place among those.
    ///
    /// From the end of each log downwards, always the log whose next one stands lowest on a screen:
    /// no index is needed, since stands ascend within a log.
    public func newestPlaces(
        in space: SpaceNumber, count: Int
    ) throws(StoreError) -> [(log: LogNumber, first: UInt64)] {
        var open = (records.logs[space] ?? [])
            .filter { $0.lane.carriesAuthority && !$0.spans.isEmpty }
            .map { Descent(log: $0.number, tag: $0.tag, stand: $0.order.tip.value) }
        // Descending: that is a heap, whose first is the one to be taken.
        open.sort { $1.isOlder(than: $0) }
        for _ in 0..<count {
            guard let first = open.first, !first.isOver else { break }
            try descend(&open[0])
            Self.sink(&open)
        }
        return open.compactMap { log in log.lowest.map { (log: log.log, first: $0) } }
            .sorted { $0.log < $1.log }
    }

    /// Moves the first of a heap to where it belongs since it got older.
    private static func sink(_ heap: inout [Descent]) {
        var place = 0
        while true {
            var next = place
            for child in [2 * place + 1, 2 * place + 2]
            where child < heap.count && heap[next].isOlder(than: heap[child]) { next = child }
            if next == place { return }
            heap.swapAt(place, next)
            place = next
        }
    }

    /// Takes the highest operation of a log that was not taken yet.
    private func descend(_ log: inout Descent) throws(StoreError) {
        if log.lowest == nil { try fetch(&log) }
        log.lowest = log.ahead.popLast()?.sequence ?? log.lowest
        if log.ahead.isEmpty { try fetch(&log) }
        if let next = log.ahead.last { log.stand = next.stand } else { log.isOver = true }
    }

    private func fetch(_ log: inout Descent) throws(StoreError) {
        let end = log.lowest.map { Int64(clamping: $0) - 1 } ?? Int64.max
        let statement = statements.standsBelow
        statement.bind(1, log.log.rawValue)
        statement.bind(2, end)
        statement.bind(3, Int64(Self.newestStride))
        defer { statement.reset() }
        var ahead: [(sequence: UInt64, stand: UInt64)] = []
        while try statement.step("reading the newest places") {
            ahead.append(
                (
                    UInt64(bitPattern: statement.integer(0)),
                    UInt64(bitPattern: statement.integer(1))
                ))
        }
        log.ahead = ahead.reversed()
    }
}

/// How far the newest operations of one log have been taken.
private struct Descent {
    let log: LogNumber
    let tag: LogTag
    /// Where the next operation to be taken stands.
    var stand: UInt64
    /// The lowest place that was taken.
    var lowest: UInt64?
    /// Rows that were read and not taken yet, ascending.
    var ahead: [(sequence: UInt64, stand: UInt64)] = []
    var isOver = false

    init(log: LogNumber, tag: LogTag, stand: UInt64) {
        self.log = log
        self.tag = tag
        self.stand = stand
    }

    func isOlder(than other: Descent) -> Bool {
        if isOver != other.isOver { return isOver }
        return (stand, tag) < (other.stand, other.tag)
    }
}
