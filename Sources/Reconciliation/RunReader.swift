public import ParleyLedger
public import ParleyWire

/// Cuts runs out of stored logs so that a receiver can prove them.
public enum RunReader {
    /// A signature is included at least once per this many operations, so that receivers can pass
    /// on shorter runs themselves. For lane 0 all are: a removed member is sent places that others
    /// named, and nobody passes on what no signature proves.
    static let headSpacing: UInt64 = 256
    private static let blockOperationCount = 512

    /// Operations from a place upward that end on a signed head.
    ///
    /// - Parameters:
    ///   - room: bytes that the run should keep to. It exceeds them only to reach a head.
    ///   - bringsAnchor: whether the receiver may not hold the operation before.
    /// - Returns: nil where nothing provable is held there.
    public static func forward(
        _ log: LogRecord, from first: UInt64, room: Int, bringsAnchor: Bool, store: some LogStore
    ) throws(StoreError) -> Run? {
        guard let span = log.spans.first(where: { $0.first <= first && first <= $0.last }) else {
            return nil
        }
        var stored = try block(of: log, first...span.last, room: room, store: store)
        guard let last = stored.last else { return nil }
        var heads = try store.heads(in: log.number, first...last.sequence)
        if heads.isEmpty {
            guard let head = try store.head(atOrAfter: first, in: log.number),
                head.sequence <= span.last
            else {
                return try unsigned(log, from: first, store: store)
            }
            stored = try store.operations(
                in: log.number, first...head.sequence,
                limit: min(Limits.runOperationCountMax, Int(head.sequence - first) + 1))
            heads = [head]
        }
        let end = end(of: stored, heads: heads, room: room)
        return try run(
            log, stored: Array(stored.prefix { $0.sequence <= end }),
            heads: heads.filter { $0.sequence <= end }, bringsAnchor: bringsAnchor, store: store)
    }

    /// Operations from the lowest place of a range upward, until they fill the room or are a block. Few are
    /// read at first: each may be as large as a message may be.
    private static func block(
        of log: LogRecord, _ range: ClosedRange<UInt64>, room: Int, store: some LogStore
    ) throws(StoreError) -> [StoredOperation] {
        var stored: [StoredOperation] = []
        var size = 0
        while size <= room, stored.count < blockOperationCount {
            let from = stored.last.map { $0.sequence + 1 } ?? range.lowerBound
            guard from <= range.upperBound else { break }
            let more = try store.operations(
                in: log.number, from...range.upperBound,
                limit: partCount(after: stored.count, of: size, room: room))
            if more.isEmpty { break }
            size += byteCount(of: more)
            stored += more
        }
        return stored
    }

    /// Operations from the highest place of a range downward, in the same way; ascending.
    private static func blockBelow(
        _ range: ClosedRange<UInt64>, of log: LogRecord, room: Int, store: some LogStore
    ) throws(StoreError) -> [StoredOperation] {
        var parts: [[StoredOperation]] = []
        var (size, count) = (0, 0)
        var top = range.upperBound
        while size < room, count < blockOperationCount {
            let wanted = UInt64(partCount(after: count, of: size, room: room))
            let first = top - min(top - range.lowerBound, wanted - 1)
            let more = try store.operations(in: log.number, first...top, limit: Int(wanted))
            if more.isEmpty { break }
            size += byteCount(of: more)
            count += more.count
            parts.append(more)
            guard first > range.lowerBound else { break }
            top = first - 1
        }
        return Array(parts.reversed().joined())
    }

    /// So many operations are read first.
    private static let partCountMin = 8

    /// How many more operations seem to fit, by the mean of those that were read.
    private static func partCount(after count: Int, of size: Int, room: Int) -> Int {
        guard count > 0 else { return partCountMin }
        let fitting = (room - size) / max(1, size / count) + 1
        return min(max(1, fitting), blockOperationCount - count)
    }

    private static func byteCount(of operations: [StoredOperation]) -> Int {
        operations.reduce(0) { $0 + $1.operation.byteCount + 2 }
    }

    /// What ends right below a proven fork: the proof, which the receiver has, vouches for it.
    private static func unsigned(
        _ log: LogRecord, from first: UInt64, store: some LogStore
    ) throws(StoreError) -> Run? {
        guard log.endsAtBound, let span = log.spans.last, span.first <= first else { return nil }
        let stored = try store.operations(
            in: log.number, first...span.last, limit: Limits.runOperationCountMax)
        guard stored.last?.sequence == span.last else { return nil }
        return try run(log, stored: stored, heads: [], bringsAnchor: true, store: store)
    }

    /// The last head within the room, or else the first.
    private static func end(
        of stored: [StoredOperation], heads: [SignedHead], room: Int
    ) -> UInt64 {
        var size = 0
        var end = heads[0].sequence
        var next = heads[...]
        for operation in stored {
            size += operation.operation.byteCount + 2
            if size > room { break }
            while let head = next.first, head.sequence <= operation.sequence {
                end = head.sequence
                next = next.dropFirst()
            }
        }
        return end
    }

    /// Operations from the top of a range downward; what the receiver holds above proves them. Where the
    /// top is not held here, from the highest place below that is: a signature proves these.
    static func backward(
        _ log: LogRecord, _ range: ClosedRange<UInt64>, room: Int, limit: UInt64 = UInt64.max,
        store: some LogStore
    ) throws(StoreError) -> Run? {
        guard let span = log.spans.last(where: { $0.first <= range.upperBound }),
            span.last >= range.lowerBound
        else { return nil }
        let lowest = max(range.lowerBound, span.first)
        var highest = min(range.upperBound, span.last)
        if highest < range.upperBound, span.last < log.spans.last?.last ?? 0 {
            // A repair may leave a hole above what no signature reaches yet.
            guard let head = try store.heads(in: log.number, lowest...highest).last else {
                return nil
            }
            highest = head.sequence
        }
        let count = min(UInt64(blockOperationCount), highest - lowest + 1, max(1, limit))
        let first = highest - (count - 1)
        let stored = try blockBelow(first...highest, of: log, room: room, store: store)
        var size = 0
        let kept = stored.reversed().prefix { operation in
            defer { size += operation.operation.byteCount + 2 }
            return size < room
        }
        guard let lowestKept = kept.last else { return nil }
        let heads = try store.heads(in: log.number, lowestKept.sequence...highest)
        return try run(
            log, stored: kept.reversed(), heads: heads, bringsAnchor: true, store: store)
    }

    private static func run(
        _ log: LogRecord, stored: [StoredOperation], heads: [SignedHead], bringsAnchor: Bool,
        store: some LogStore
    ) throws(StoreError) -> Run? {
        guard let first = stored.first?.sequence else { return nil }
        var anchor: OperationID?
        if bringsAnchor, first > 0 {
            anchor = try identifier(before: first, in: log, store: store)
        }
        return Run(
            device: log.device, lane: log.lane, first: first, anchor: anchor,
            operations: stored.map(\.operation),
            heads: log.lane == .control ? heads : spaced(heads))
    }

    private static func identifier(
        before place: UInt64, in log: LogRecord, store: some LogStore
    ) throws(StoreError) -> OperationID? {
        if let span = log.spans.first(where: { $0.first == place }) { return span.anchor }
        return try store.operation(at: place - 1, in: log.number)?.id
    }

    /// The last head and, below it, one for every so many operations.
    private static func spaced(_ heads: [SignedHead]) -> [SignedHead] {
        var kept: [SignedHead] = []
        for head in heads.reversed() {
            guard let lowest = kept.last else {
                kept.append(head)
                continue
            }
            if head.sequence + headSpacing <= lowest.sequence { kept.append(head) }
        }
        return kept.reversed()
    }
}
