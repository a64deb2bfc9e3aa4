public import ParleyWire

/// Walks stored logs and checks what was verified on arrival: the chain, and the signatures.
public struct LogAudit {
    /// Operations that were looked at.
    public private(set) var operationCount = 0
    /// Operations whose identifier does not follow from the one before.
    public private(set) var brokenCount = 0
    /// Signatures that hold.
    public private(set) var headCount = 0
    /// Signatures that are missing at the end of a log, or do not hold.
    public private(set) var unsignedCount = 0
    /// Logs of others whose end no signature covers yet: the rest of a run waits for its causes
    /// (`Protocol/06-sync.md`, "Known gaps"). The next part of such a log brings one.
    public private(set) var awaitedCount = 0

    /// The device whose store it is: over what that wrote it holds every signature.
    private let own: DeviceID

    /// An audit that has looked at nothing of this device's store.
    public init(of own: DeviceID) { self.own = own }

    /// Checks one log.
    public mutating func check(_ log: LogRecord, in store: some LogStore) throws(StoreError) {
        for span in log.spans {
            var previous = span.anchor
            var next = span.first
            while next <= span.last {
                let block = try store.operations(
                    in: log.number, next...span.last, limit: 1024)
                guard let last = block.last else {
                    brokenCount += Int(span.last - next) + 1
                    break
                }
                let heads = try store.heads(in: log.number, next...last.sequence)
                let signatures = Dictionary(
                    heads.map { ($0.sequence, $0) }, uniquingKeysWith: { first, _ in first })
                for stored in block {
                    let id = OperationHash.operation(stored.operation, after: previous)
                    operationCount += 1
                    if id != stored.id { brokenCount += 1 }
                    if let head = signatures[stored.sequence] { check(head, of: log, id) }
                    previous = stored.id
                }
                next = last.sequence + 1
            }
            if previous != span.tip { brokenCount += 1 }
        }
        // The proof of a fork, or a cut, stands for a signature right below it.
        if let last = log.spans.last?.last, !(log.endsAtBound && last + 1 == log.bound?.sequence),
            try store.head(atOrAfter: last, in: log.number) == nil
        {
            if log.device == own || log.lane == .control {
                unsignedCount += 1
            } else {
                awaitedCount += 1
            }
        }
    }

    private mutating func check(_ head: SignedHead, of log: LogRecord, _ id: OperationID) {
        if OperationHash.isSigned(head, log: log.id, operation: id, by: log.device) {
            headCount += 1
        } else {
            unsignedCount += 1
        }
    }
}

extension LogRecord {
    /// How many operations are held.
    public var heldCount: Int {
        spans.reduce(0) { $0 + Int($1.last - $1.first) + 1 }
    }
}
