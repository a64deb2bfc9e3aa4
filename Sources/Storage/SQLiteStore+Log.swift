public import ParleyLedger
import ParleySealing
public import ParleyWire

extension SQLiteStore {
    /// All spaces, ascending by number.
    public func spaces() throws(StoreError) -> [SpaceRecord] { records.spaces }

    /// The space with this name, or nil.
    public func space(_ id: SpaceID) throws(StoreError) -> SpaceRecord? {
        records.space(id)
    }

    /// The space in this row, or nil.
    public func space(_ number: SpaceNumber) throws(StoreError) -> SpaceRecord? {
        records.space(number)
    }

    /// A new space. The caller has looked that it is new.
    public func addSpace(_ id: SpaceID, kind: SpaceKind) throws(StoreError) -> SpaceRecord {
        writes()
        let record = SpaceRecord(number: records.nextSpace, id: id, kind: kind)
        let statement = statements.insertSpace
        statement.bind(1, record.number.rawValue)
        statement.bind(2, Int64(kind.rawValue))
        statement.bind(
            3, copying: try seal(id.bytes, .spaceDefinition, row: record.number.rawValue))
        try statement.run("adding a space")
        records.add(record)
        return record
    }

    /// Removes a space with its logs, all that they hold and all that follows from it.
    public func removeSpace(_ number: SpaceNumber) throws(StoreError) {
        writes()
        for log in records.logs[number] ?? [] {
            try drop(
                log.number,
                from: LogPoint(sequence: 0, anchor: OperationID(reinterpreting: log.id)))
        }
        try clearViews(of: number)
        for statement in statements.removal {
            statement.bind(1, number.rawValue)
            try statement.run("removing a space")
        }
        records.remove(number)
    }

    /// The logs of a space, ascending by tag.
    public func logs(in space: SpaceNumber) throws(StoreError) -> [LogRecord] {
        records.logs[space] ?? []
    }

    /// Grows whenever a record of a log of the space may have changed.
    public func logChangeCount(in space: SpaceNumber) -> UInt64 {
        records.logChangeCount(in: space)
    }

    /// One log of a space, or nil.
    public func log(_ tag: LogTag, in space: SpaceNumber) throws(StoreError) -> LogRecord? {
        records.log(tag, in: space)
    }

    /// The log in this row, or nil.
    public func log(_ number: LogNumber) throws(StoreError) -> LogRecord? {
        records.log(number)
    }

    /// A new, empty log. The caller has looked that its tag is new in the space.
    public func addLog(
        _ id: LogID, device: DeviceID, lane: Lane, in space: SpaceNumber
    ) throws(StoreError) -> LogRecord {
        writes()
        let log = LogRecord(
            number: records.nextLog, space: space, id: id, device: device, lane: lane)
        precondition(records.log(log.tag, in: space) == nil, "a log is added once")
        let statement = statements.insertLog
        statement.bind(1, log.number.rawValue)
        statement.bind(2, space.rawValue)
        statement.bind(3, Int64(lane.rawValue))
        statement.bind(
            4,
            copying: try seal(
                id.bytes + device.bytes, .logDefinition, row: log.number.rawValue))
        try statement.run("adding a log")
        records.add(log)
        return log
    }

    /// Replaces a log's record. It is written with the commit.
    public func update(_ log: LogRecord) throws(StoreError) {
        writes()
        records.update(log)
    }

    // MARK: Signed heads

    /// Keeps a signature that was verified.
    public func addHead(_ head: SignedHead, in log: LogNumber) throws(StoreError) {
        writes()
        let statement = statements.insertHead
        statement.bind(1, log.rawValue)
        statement.bind(2, Int64(clamping: head.sequence))
        statement.bind(3, copying: head.signature.bytes)
        try statement.run("storing a signature")
    }

    /// The lowest signed head at or above this place, or nil.
    public func head(
        atOrAfter sequence: UInt64, in log: LogNumber
    ) throws(StoreError) -> SignedHead? {
        let statement = statements.headAfter
        statement.bind(1, log.rawValue)
        statement.bind(2, Int64(clamping: sequence))
        defer { statement.reset() }
        guard try statement.step("reading a signature") else { return nil }
        return try Self.head(statement)
    }

    /// The signed heads in this range, ascending.
    public func heads(
        in log: LogNumber, _ range: ClosedRange<UInt64>
    ) throws(StoreError) -> [SignedHead] {
        let statement = statements.headsInRange
        statement.bind(1, log.rawValue)
        statement.bind(2, Int64(clamping: range.lowerBound))
        statement.bind(3, Int64(clamping: range.upperBound))
        defer { statement.reset() }
        var found: [SignedHead] = []
        while try statement.step("reading signatures") { found.append(try Self.head(statement)) }
        return found
    }

    private static func head(_ row: Statement) throws(StoreError) -> SignedHead {
        guard let signature = SignatureBytes(row.bytes(1)) else {
            throw damaged("reading a signature")
        }
        return SignedHead(sequence: UInt64(bitPattern: row.integer(0)), signature: signature)
    }

    // MARK: Forks

    /// Keeps proof of a fork and sets the log's point; the lowest point of a log stays.
    public func addFork(
        _ evidence: ForkEvidence, in log: LogNumber
    ) throws(StoreError) {
        writes()
        guard var record = records.log(log) else { return }
        if let fork = record.proven, fork.sequence <= evidence.sequence { return }
        let row = try Self.last("fork", connection) + 1
        let statement = statements.insertFork
        statement.bind(1, row)
        statement.bind(2, copying: vault.locator(1, evidence.log.bytes))
        statement.bind(
            3, copying: try seal(Frame.fork(evidence.proof).encoded(), .forkEvidence, row: row))
        try statement.run("storing evidence")
        forkedDevices?.insert(evidence.proof.left.device)
        record.proven = evidence.point
        records.update(record)
    }

    /// Drops what is held of a log from a point on, including signatures and views.
    public func drop(_ log: LogNumber, from point: LogPoint) throws(StoreError) {
        writes()
        guard let record = records.log(log) else { return }
        for row in try views(in: log, point.sequence...UInt64.max) {
            try removeView(at: row.first, in: log)
        }
        for stored in try operations(in: log, point.sequence...UInt64.max, limit: Int.max) {
            try forgetSearch(of: stored)
        }
        erases()
        for statement in [statements.deleteOperationsFrom, statements.deleteHeadsFrom] {
            statement.bind(1, log.rawValue)
            statement.bind(2, Int64(clamping: point.sequence))
            try statement.run("dropping the end of a log")
        }
        records.update(try record.dropped(from: point, self))
    }

    /// Whether there is proof that a device wrote two histories.
    public func hasForked(_ device: DeviceID) throws(StoreError) -> Bool {
        if let forkedDevices { return forkedDevices.contains(device) }
        let devices = Set(try forks().map(\.proof.left.device))
        forkedDevices = devices
        return devices.contains(device)
    }

    /// All proof of forks, ascending by log.
    public func forks() throws(StoreError) -> [ForkEvidence] {
        let statement = statements.forks
        defer { statement.reset() }
        var found: [ForkEvidence] = []
        while try statement.step("reading evidence") {
            try passingOver("fork", statement.integer(0)) { () throws(StoreError) in
                if let proof = try Self.evidence(statement, self) { found.append(proof) }
            }
        }
        return found.sorted { $0.log < $1.log }
    }

    /// The evidence of a row; nil where it was kept before it could convince anybody else.
    private static func evidence(
        _ row: Statement, _ store: SQLiteStore
    ) throws(StoreError) -> ForkEvidence? {
        let bytes = try store.unseal(row.bytes(1), .forkEvidence, row: row.integer(0))
        guard bytes.count != oldEvidenceByteCount else { return nil }
        // A frame that does not decode is damage, whatever is wrong with it.
        guard case .fork(let proof)? = try? Frame.decode(bytes) else {
            throw damaged("reading evidence")
        }
        return ForkEvidence(stored: proof)
    }

    private static let oldEvidenceByteCount = 176

    /// Sets the points of all logs with a proven fork.
    func loadForks() throws(StoreError) {
        for evidence in try forks() {
            guard let space = records.space(evidence.proof.space),
                var log = records.log(LogTag(evidence.log), in: space.number)
            else { continue }
            log.proven = evidence.point
            // An unreadable row says nothing about a branch; reading it reports what is wrong.
            log.vouched = try? VouchedPart(cutOf: log, in: self)
            records.update(log)
        }
    }
}

extension SQLiteStore {
    /// Seals a value that is not an operation's.
    func seal(
        _ value: [UInt8], _ column: SealedColumn, row: Int64
    ) throws(StoreError) -> [UInt8] {
        try vault.keyOrNew(of: Vault.structureBucket)
            .seal(value, at: SealedPlace(column: column, row: row))
    }

    /// Opens a value that is not an operation's.
    func unseal(
        _ sealed: UnsafeRawBufferPointer, _ column: SealedColumn, row: Int64
    ) throws(StoreError) -> [UInt8] {
        let key = try vault.key(of: Vault.structureBucket)
        guard let value = key.open(sealed, at: SealedPlace(column: column, row: row)) else {
            throw StoreError(
                .corrupt, attempt: "opening a sealed row", detail: "a value does not open")
        }
        return value
    }
}
