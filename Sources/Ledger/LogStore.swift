public import ParleyWire

/// Why the store failed. The environment's fault, never a peer's.
public struct StoreError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What kind of failure it is: what to do next depends on this alone.
    public enum Code: Equatable, Sendable {
        /// The disk is full. Reading still works.
        case full
        /// The folder or the file may not be written.
        case readOnly
        /// The disk failed.
        case inputOutput
        /// The disk does not contain what was written.
        case corrupt
        /// Another process holds the store.
        case locked
        /// The store was written by a newer version.
        case newerSchema
        /// Any other refusal of the database.
        case other
    }

    /// The kind of failure.
    public var code: Code
    /// What was attempted, such as "storing an operation".
    public var attempt: String
    /// The underlying error in words, without any content.
    public var detail: String

    /// An error with these fields.
    public init(_ code: Code, attempt: String, detail: String = "") {
        self.code = code
        self.attempt = attempt
        self.detail = detail
    }

    /// The failure in one line.
    public var description: String {
        detail.isEmpty ? "\(attempt): \(code)" : "\(attempt): \(code) (\(detail))"
    }
}

/// An operation with its place in the store.
public struct StoredOperation: Equatable, Sendable {
    /// Its row here.
    public let number: OperationNumber
    /// Its log.
    public let log: LogNumber
    /// Its place in the log.
    public let sequence: UInt64
    /// Its name everywhere.
    public let id: OperationID
    /// The message.
    public let operation: Operation
    /// Where it stands, as far as that is known here.
    public let stand: Stand

    /// An operation with these coordinates.
    public init(
        number: OperationNumber, log: LogNumber, sequence: UInt64, id: OperationID,
        operation: Operation, stand: Stand
    ) {
        self.number = number
        self.log = log
        self.sequence = sequence
        self.id = id
        self.operation = operation
        self.stand = stand
    }
}

/// What the ledger asks of a store. Every call happens inside a transaction of the shell.
///
/// A store is an object: the shell opens and closes its transactions, the pure rooms use it.
public protocol LogStore: AnyObject {
    /// All spaces, ascending by number.
    func spaces() throws(StoreError) -> [SpaceRecord]
    /// The space with this name, or nil.
    func space(_ id: SpaceID) throws(StoreError) -> SpaceRecord?
    /// The space in this row, or nil.
    func space(_ number: SpaceNumber) throws(StoreError) -> SpaceRecord?
    /// A new space. The caller has looked that it is new.
    func addSpace(_ id: SpaceID, kind: SpaceKind) throws(StoreError) -> SpaceRecord
    /// Removes a space with its logs, all that they hold and all that follows from it. Its number is
    /// not given to another one. Proof of forks stays.
    func removeSpace(_ number: SpaceNumber) throws(StoreError)

    /// The logs of a space, ascending by tag. Cheap: stores keep log records in memory.
    func logs(in space: SpaceNumber) throws(StoreError) -> [LogRecord]
    /// Grows whenever a record of a log of the space may have changed, and never falls while the store is open:
    /// what follows from the records alone needs to be computed anew only then.
    func logChangeCount(in space: SpaceNumber) -> UInt64
    /// One log of a space, or nil. Cheap as well.
    func log(_ tag: LogTag, in space: SpaceNumber) throws(StoreError) -> LogRecord?
    /// The log in this row, or nil. Cheap as well.
    func log(_ number: LogNumber) throws(StoreError) -> LogRecord?
    /// A new, empty log. The caller has looked that its tag is new in the space.
    func addLog(
        _ id: LogID, device: DeviceID, lane: Lane, in space: SpaceNumber
    ) throws(StoreError) -> LogRecord
    /// Replaces a log's record.
    func update(_ log: LogRecord) throws(StoreError)

    /// Keeps operations of one log, consecutive and ascending; returns the row of each.
    ///
    /// Rows ascend in the order in which operations are stored.
    func insert(
        _ operations: [VerifiedOperation], in log: LogNumber
    ) throws(StoreError) -> [OperationNumber]
    /// The operation at this place, or nil.
    func operation(at sequence: UInt64, in log: LogNumber) throws(StoreError) -> StoredOperation?
    /// The operation in this row, or nil.
    func operation(_ number: OperationNumber) throws(StoreError) -> StoredOperation?
    /// Operations of a log in ascending order, at most `limit` of them from the lowest place.
    func operations(
        in log: LogNumber, _ range: ClosedRange<UInt64>, limit: Int
    ) throws(StoreError) -> [StoredOperation]
    /// The same without their payloads: what the order asks for costs no key.
    func headers(
        in log: LogNumber, _ range: ClosedRange<UInt64>, limit: Int
    ) throws(StoreError) -> [StoredHeader]
    /// Replaces where an operation stands.
    func setStand(_ stand: Stand, of number: OperationNumber) throws(StoreError)
    /// For each log of the space with content among the newest `count` operations of lanes 1, 3
    /// and 4 by where they stand: the lowest place among those. Ascending by log number.
    func newestPlaces(
        in space: SpaceNumber, count: Int
    ) throws(StoreError) -> [(log: LogNumber, first: UInt64)]
    /// Drops what is held of a log from a point on, including signatures and views. The caller
    /// makes sure that views are recomputed.
    func drop(_ log: LogNumber, from point: LogPoint) throws(StoreError)
    /// Erases the payload of an operation, permanently.
    func erase(
        _ number: OperationNumber, commitment: Digest
    ) throws(StoreError)
    /// Puts back the payload of an operation that had arrived without it.
    func restore(_ operation: VerifiedOperation, in number: OperationNumber) throws(StoreError)

    /// Keeps a signature that was verified.
    func addHead(_ head: SignedHead, in log: LogNumber) throws(StoreError)
    /// The lowest signed head at or above this place, or nil.
    func head(atOrAfter sequence: UInt64, in log: LogNumber) throws(StoreError) -> SignedHead?
    /// The signed heads in this range, ascending.
    func heads(in log: LogNumber, _ range: ClosedRange<UInt64>) throws(StoreError) -> [SignedHead]

    /// Stores the view of a stretch of the log; a row at the same place is replaced.
    func setView(_ view: LogView, in log: LogNumber) throws(StoreError)
    /// Drops the row that begins at this place.
    func removeView(at first: UInt64, in log: LogNumber) throws(StoreError)
    /// The row with the highest place at or below this one, or nil.
    func view(at sequence: UInt64, in log: LogNumber) throws(StoreError) -> LogView?
    /// The rows that begin in this range, ascending.
    func views(
        in log: LogNumber, _ range: ClosedRange<UInt64>
    ) throws(StoreError) -> [LogView]

    /// Keeps proof of a fork and sets ``LogRecord/fork``. One proof a log is kept, the one whose
    /// branches part lowest; another changes nothing.
    func addFork(_ evidence: ForkEvidence, in log: LogNumber) throws(StoreError)
    /// Whether there is proof that a device wrote two histories. Cheap, however much there is.
    func hasForked(_ device: DeviceID) throws(StoreError) -> Bool
    /// All proof of forks, ascending by log.
    func forks() throws(StoreError) -> [ForkEvidence]
}

extension LogStore {
    /// The operation at this place without its payload, or nil.
    public func header(
        at sequence: UInt64, in log: LogNumber
    ) throws(StoreError) -> StoredHeader? {
        try headers(in: log, sequence...sequence, limit: 1).first
    }

    /// Shows the operations of a span, ascending, until `body` says that it saw enough; they are
    /// read in blocks.
    ///
    /// - Returns: whether everything that the span promises is there.
    public func eachOperation(
        of log: LogRecord, _ span: Span,
        _ body: (StoredOperation) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        var next = span.first
        while next <= span.last {
            let block = try operations(in: log.number, next...span.last, limit: 1024)
            guard let last = block.last else { return false }
            for stored in block { if try !body(stored) { return true } }
            next = last.sequence + 1
        }
        return true
    }

    /// Shows the operations of a range that are held, ascending, until `body` says that it saw enough.
    public func eachOperation(
        of log: LogRecord, in range: Range<UInt64>,
        _ body: (StoredOperation) throws(StoreError) -> Bool
    ) throws(StoreError) {
        for span in log.spans where span.first < range.upperBound && range.lowerBound <= span.last {
            var part = span
            part.first = max(span.first, range.lowerBound)
            part.last = min(span.last, range.upperBound - 1)
            var goesOn = true
            _ = try eachOperation(of: log, part) { stored throws(StoreError) in
                goesOn = try body(stored)
                return goesOn
            }
            guard goesOn else { return }
        }
    }
}
