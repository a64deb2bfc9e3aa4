public import ParleyLedger
public import ParleyWire

extension MemoryStore {
    /// All spaces, ascending by number.
    public func spaces() throws(StoreError) -> [SpaceRecord] {
        try called("reading spaces")
        if contents.removedSpaces.isEmpty { return contents.spaces }
        return contents.spaces.filter { !contents.removedSpaces.contains($0.number) }
    }

    /// The space with this name, or nil.
    public func space(_ id: SpaceID) throws(StoreError) -> SpaceRecord? {
        try called("reading a space")
        return contents.spaceNumbers[id].flatMap { contents.spaces.element($0.rawValue) }
    }

    /// The space in this row, or nil.
    public func space(_ number: SpaceNumber) throws(StoreError) -> SpaceRecord? {
        try called("reading a space")
        if contents.removedSpaces.contains(number) { return nil }
        return contents.spaces.element(number.rawValue)
    }

    /// Removes a space with its logs, all that they hold and all that follows from it.
    public func removeSpace(_ number: SpaceNumber) throws(StoreError) {
        try writes("removing a space")
        guard let record = contents.spaces.element(number.rawValue) else { return }
        let before = contents
        let logs = contents.logOrder[number]?.values ?? []
        change { contents in
            for log in logs {
                contents.places[log] = nil
                contents.heads[log] = nil
                contents.views[log] = nil
                contents.messagePlaces[log] = nil
            }
            contents.logOrder[number] = nil
            contents.messages[number] = nil
            contents.entries[number] = nil
            contents.marks[number] = nil
            // Each entry is changed by itself: the order cannot be seen.
            for person in contents.namings.keys { contents.namings[person]?[number] = nil }
            contents.spaceNumbers[record.id] = nil
            contents.removedSpaces.insert(number)
        } back: { contents in
            contents = before
        }
    }

    /// A new space. The caller has looked that it is new.
    public func addSpace(_ id: SpaceID, kind: SpaceKind) throws(StoreError) -> SpaceRecord {
        try writes("adding a space")
        precondition(contents.spaceNumbers[id] == nil, "a space is added once")
        let number = SpaceNumber(Int64(contents.spaces.count) + 1)
        let record = SpaceRecord(number: number, id: id, kind: kind)
        change {
            $0.spaces.append(record)
            $0.spaceNumbers[id] = number
        } back: {
            $0.spaces.removeLast()
            $0.spaceNumbers[id] = nil
        }
        return record
    }

    /// The logs of a space, ascending by tag.
    public func logs(in space: SpaceNumber) throws(StoreError) -> [LogRecord] {
        try called("reading logs")
        return (contents.logOrder[space]?.values ?? []).compactMap(record)
    }

    /// Grows with every change of whatever is stored.
    public func logChangeCount(in space: SpaceNumber) -> UInt64 { changeCount ?? 0 }

    /// One log of a space, or nil.
    public func log(_ tag: LogTag, in space: SpaceNumber) throws(StoreError) -> LogRecord? {
        try called("reading a log")
        return contents.logOrder[space]?[tag].flatMap(record)
    }

    /// The log in this row, or nil.
    public func log(_ number: LogNumber) throws(StoreError) -> LogRecord? {
        try called("reading a log")
        return record(number)
    }

    /// A new, empty log. The caller has looked that its tag is new in the space.
    public func addLog(
        _ id: LogID, device: DeviceID, lane: Lane, in space: SpaceNumber
    ) throws(StoreError) -> LogRecord {
        try writes("adding a log")
        let number = LogNumber(Int64(contents.logs.count) + 1)
        let log = LogRecord(number: number, space: space, id: id, device: device, lane: lane)
        precondition(contents.logOrder[space]?[log.tag] == nil, "a log is added once")
        change {
            $0.logs.append(log)
            $0.logOrder[space, default: SortedMap()][log.tag] = number
        } back: {
            $0.logs.removeLast()
            $0.logOrder[space, default: SortedMap()][log.tag] = nil
        }
        return log
    }

    /// Replaces a log's record.
    public func update(_ log: LogRecord) throws(StoreError) {
        try writes("updating a log")
        let place = Int(log.number.rawValue) - 1
        guard let old = record(log.number) else { return }
        change {
            $0.logs[place] = log
        } back: {
            $0.logs[place] = old
        }
    }

    /// Keeps operations of one log, consecutive and ascending; returns the row of each.
    public func insert(
        _ operations: [VerifiedOperation], in log: LogNumber
    ) throws(StoreError) -> [OperationNumber] {
        try writes("storing operations")
        if operations.contains(where: { contents.places[log]?[$0.sequence] != nil }) {
            throw StoreError(.other, attempt: "storing operations", detail: "place is taken")
        }
        let first = Int64(contents.operations.count) + 1
        let rows = operations.enumerated().map { offset, operation in
            StoredOperation(
                number: OperationNumber(first + Int64(offset)), log: log,
                sequence: operation.sequence, id: operation.id, operation: operation.operation,
                stand: operation.stand)
        }
        change {
            $0.operations += rows
            for row in rows { $0.places[log, default: SortedMap()][row.sequence] = row.number }
        } back: {
            $0.operations.removeLast(rows.count)
            for row in rows.reversed() { $0.places[log]?[row.sequence] = nil }
        }
        return rows.map(\.number)
    }

    /// The operation at this place, or nil.
    public func operation(
        at sequence: UInt64, in log: LogNumber
    ) throws(StoreError) -> StoredOperation? {
        try called("reading an operation")
        return contents.places[log]?[sequence].flatMap { contents.operations.element($0.rawValue) }
    }

    /// The operation in this row, or nil.
    public func operation(_ number: OperationNumber) throws(StoreError) -> StoredOperation? {
        try called("reading an operation")
        return contents.operations.element(number.rawValue)
    }

    /// Operations of a log in ascending order, at most `limit` of them from the lowest place.
    public func operations(
        in log: LogNumber, _ range: ClosedRange<UInt64>, limit: Int
    ) throws(StoreError) -> [StoredOperation] {
        try called("reading operations")
        guard let places = contents.places[log] else { return [] }
        var found: [StoredOperation] = []
        var place = places.lowerBound(range.lowerBound)
        while place < places.count, places.keys[place] <= range.upperBound, found.count < limit {
            if let row = contents.operations.element(places.values[place].rawValue) {
                found.append(row)
            }
            place += 1
        }
        noteRead(found.count)
        return found
    }

    /// The same without their payloads.
    public func headers(
        in log: LogNumber, _ range: ClosedRange<UInt64>, limit: Int
    ) throws(StoreError) -> [StoredHeader] {
        try operations(in: log, range, limit: limit).map {
            StoredHeader(
                number: $0.number, sequence: $0.sequence, id: $0.id, header: $0.operation.header,
                stand: $0.stand)
        }
    }

    /// Replaces where an operation stands.
    public func setStand(_ stand: Stand, of number: OperationNumber) throws(StoreError) {
        try writes("placing an operation")
        guard let row = contents.operations.element(number.rawValue) else { return }
        replace(
            row,
            with: StoredOperation(
                number: row.number, log: row.log, sequence: row.sequence, id: row.id,
                operation: row.operation, stand: stand))
    }

    /// For each log with content among the newest of its space: the lowest place among those.
    public func newestPlaces(
        in space: SpaceNumber, count: Int
    ) throws(StoreError) -> [(log: LogNumber, first: UInt64)] {
        try called("reading the newest places")
        // From the end of each log downwards, always the log whose next one stands lowest.
        var open: [(log: LogNumber, tag: LogTag, rows: [OperationNumber])] = []
        for log in (contents.logOrder[space]?.values ?? []).compactMap(record)
        where log.lane.carriesAuthority {
            open.append((log.number, log.tag, contents.places[log.number]?.values ?? []))
        }
        var lowest = SortedMap<LogNumber, UInt64>()
        for _ in 0..<count {
            let best = open.indices.filter { !open[$0].rows.isEmpty }.max { left, right in
                let (left, right) = (open[left], open[right])
                return (stand(left.rows.last), left.tag) < (stand(right.rows.last), right.tag)
            }
            guard let best, let row = open[best].rows.popLast() else { break }
            lowest[open[best].log] = contents.operations.element(row.rawValue)?.sequence
        }
        return zip(lowest.keys, lowest.values).map { (log: $0, first: $1) }
    }

    /// Forgets the payload of an operation, for good.
    public func erase(_ number: OperationNumber, commitment: Digest) throws(StoreError) {
        try writes("erasing a payload")
        guard let row = contents.operations.element(number.rawValue) else { return }
        replace(row, with: row.operation.erased(commitment: commitment))
    }

    /// Puts back the payload of an operation that had arrived without it.
    public func restore(
        _ operation: VerifiedOperation, in number: OperationNumber
    ) throws(StoreError) {
        try writes("restoring a payload")
        guard let row = contents.operations.element(number.rawValue) else { return }
        precondition(row.id == operation.id, "an operation is restored in its own row")
        replace(row, with: operation.operation)
    }

    private func replace(_ row: StoredOperation, with operation: Operation) {
        replace(
            row,
            with: StoredOperation(
                number: row.number, log: row.log, sequence: row.sequence, id: row.id,
                operation: operation, stand: row.stand))
    }

    private func replace(_ row: StoredOperation, with new: StoredOperation) {
        let place = Int(row.number.rawValue) - 1
        change {
            $0.operations[place] = new
        } back: {
            $0.operations[place] = row
        }
    }

    private func record(_ number: LogNumber) -> LogRecord? {
        contents.logs.element(number.rawValue)
    }

    private func stand(_ number: OperationNumber?) -> UInt64 {
        number.flatMap { contents.operations.element($0.rawValue) }?.stand.value ?? 0
    }
}

extension MemoryStore {
    /// Keeps a signature that was verified.
    public func addHead(_ head: SignedHead, in log: LogNumber) throws(StoreError) {
        try writes("storing a signature")
        let old = contents.heads[log]?[head.sequence]
        change {
            $0.heads[log, default: SortedMap()][head.sequence] = head
        } back: {
            $0.heads[log]?[head.sequence] = old
        }
    }

    /// The lowest signed head at or above this place, or nil.
    public func head(
        atOrAfter sequence: UInt64, in log: LogNumber
    ) throws(StoreError) -> SignedHead? {
        try called("reading a signature")
        guard let heads = contents.heads[log] else { return nil }
        let place = heads.lowerBound(sequence)
        return place < heads.count ? heads.values[place] : nil
    }

    /// The signed heads in this range, ascending.
    public func heads(
        in log: LogNumber, _ range: ClosedRange<UInt64>
    ) throws(StoreError) -> [SignedHead] {
        try called("reading signatures")
        guard let heads = contents.heads[log] else { return [] }
        var place = heads.lowerBound(range.lowerBound)
        var found: [SignedHead] = []
        while place < heads.count, heads.keys[place] <= range.upperBound {
            found.append(heads.values[place])
            place += 1
        }
        return found
    }

    /// Keeps proof of a fork and sets the log's point; the lowest point of a log stays.
    public func addFork(
        _ evidence: ForkEvidence, in log: LogNumber
    ) throws(StoreError) {
        try writes("storing evidence")
        let place = Int(log.rawValue) - 1
        guard let record = record(log) else { return }
        if let fork = record.proven, fork.sequence <= evidence.sequence { return }
        let old = contents.forks[evidence.log]
        change {
            $0.forks[evidence.log] = evidence
            $0.logs[place].proven = evidence.point
        } back: {
            $0.forks[evidence.log] = old
            $0.logs[place].proven = record.proven
        }
    }

    /// Forgets what is held of a log of lane 0 at and above a proven fork. Rows stay, and no place
    /// leads to them.
    public func drop(_ log: LogNumber, from point: LogPoint) throws(StoreError) {
        try writes("dropping the end of a log")
        let place = Int(log.rawValue) - 1
        guard let record = record(log) else { return }
        for row in try views(in: log, point.sequence...UInt64.max) {
            try removeView(at: row.first, in: log)
        }
        let (places, heads) = (contents.places[log], contents.heads[log])
        let rest = try record.dropped(from: point, self)
        change {
            for row in places?.keys ?? [] where row >= point.sequence {
                $0.places[log]?[row] = nil
            }
            for head in heads?.keys ?? [] where head >= point.sequence {
                $0.heads[log]?[head] = nil
            }
            $0.logs[place] = rest
        } back: {
            $0.places[log] = places
            $0.heads[log] = heads
            $0.logs[place] = record
        }
    }

    /// Whether there is proof that a device wrote two histories.
    public func hasForked(_ device: DeviceID) throws(StoreError) -> Bool {
        try forks().contains { $0.proof.left.device == device }
    }

    /// All proof of forks, ascending by log.
    public func forks() throws(StoreError) -> [ForkEvidence] {
        try called("reading evidence")
        return contents.forks.values
    }
}

extension Array {
    /// The element in this row, counted from 1, or nil.
    func element(_ row: Int64) -> Element? {
        row >= 1 && row <= Int64(count) ? self[Int(row) - 1] : nil
    }
}
