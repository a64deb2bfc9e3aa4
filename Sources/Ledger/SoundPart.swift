import ParleyWire

/// How far a stored log can be relied on: the part whose operations can be read, follow from one
/// another, and are signed.
public struct SoundPart: Sendable {
    /// Where it ends; nil where it is all that the record promises.
    public private(set) var end: LogPoint?
    /// How many operations the record promises above it.
    public private(set) var lostCount = 0

    /// The sound part of a log, as the store has it. What cannot be read counts as lost.
    public init(_ log: LogRecord, in store: some LogStore) {
        for (index, span) in log.spans.enumerated() {
            let isTop = index == log.spans.count - 1
            guard let point = Self.end(of: span, isTop: isTop, in: log, store) else { continue }
            end = point
            let kept = log.below(point)
            lostCount = log.heldCount - kept.heldCount
            return
        }
    }

    /// Where the sound part of a stretch ends; nil where all of it is sound.
    private static func end(
        of span: Span, isTop: Bool, in log: LogRecord, _ store: some LogStore
    ) -> LogPoint? {
        var previous = span.anchor
        var next = span.first
        var signed = LogPoint(sequence: span.first, anchor: span.anchor)
        while next <= span.last {
            let stored = readable(next...span.last, of: log, store)
            guard !stored.isEmpty else { return signed }
            for operation in stored {
                guard operation.sequence == next,
                    OperationHash.operation(operation.operation, after: previous) == operation.id
                else { return signed }
                previous = operation.id
                if isSigned(operation, in: log, store) {
                    signed = LogPoint(sequence: next + 1, anchor: previous)
                }
                next += 1
            }
        }
        guard previous == span.tip else { return signed }
        // What lies right below something that is held, a fork or a cut needs no signature.
        let isVouched = log.endsAtBound && span.last + 1 == log.bound?.sequence
        return isTop && !isVouched && signed.sequence <= span.last ? signed : nil
    }

    /// The next operations that can be read: a block of them, or one.
    private static func readable(
        _ range: ClosedRange<UInt64>, of log: LogRecord, _ store: some LogStore
    ) -> [StoredOperation] {
        // Rows that are missing or damaged are what is looked for.
        if let block = try? store.operations(in: log.number, range, limit: 256) { return block }
        // As above.
        let one = try? store.operation(at: range.lowerBound, in: log.number)
        return one.map { [$0] } ?? []
    }

    private static func isSigned(
        _ operation: StoredOperation, in log: LogRecord, _ store: some LogStore
    ) -> Bool {
        // As above.
        let heads = try? store.heads(in: log.number, operation.sequence...operation.sequence)
        guard let head = heads?.first else { return false }
        return OperationHash.isSigned(
            head, log: log.id, operation: operation.id, by: log.device)
    }
}
