import ParleyWire

/// What of a stored log can be relied on: operations that can be read, follow from one another, and are
/// signed.
///
/// If some are lost, what lies above is kept all the same, and others fill the gap. Only lane 0 has
/// no gaps: of it everything is lost from the first one on.
public struct SoundPart: Sendable {
    /// More stretches of one log are not kept: the lowest is, and the newest.
    static let spanCountMax = 64

    /// The sound spans, ascending.
    public private(set) var spans: [Span]
    /// How many operations the record promises beside it.
    public private(set) var lostCount = 0
    /// Places within it whose signature does not hold.
    public private(set) var falseHeads: [UInt64] = []
    /// Whether all is sound that the record promises.
    public private(set) var isWhole = false

    /// The sound part of a log, as the store has it. What cannot be read counts as lost.
    public init(_ log: LogRecord, in store: some LogStore) {
        var search = StretchSearch(log)
        search.walk(store)
        spans = Self.kept(search.stretches, of: log)
        falseHeads = search.falseHeads.filter { place in
            spans.contains { $0.first <= place && place <= $0.last }
        }
        var kept = log
        kept.spans = spans
        // A record that does not open promises nothing; what the others tell lies between them.
        let promised = log.spans.isEmpty ? Int(kept.end - min(kept.end, log.base)) : log.heldCount
        lostCount = max(0, promised - kept.heldCount)
        isWhole = spans == log.spans && falseHeads.isEmpty
    }

    private static func kept(_ found: [Stretch], of log: LogRecord) -> [Span] {
        var stretches = found.enumerated().filter { index, stretch in
            if log.lane == .control {
                return index == 0 && stretch.isRooted && stretch.span.first <= log.base
            }
            // A separate stretch is believed for its signature.
            return stretch.isRooted || stretch.signed != nil
        }.map(\.element)
        if stretches.count > spanCountMax {
            stretches = [stretches[0]] + stretches.suffix(spanCountMax - 1)
        }
        // What others are to believe ends at a signature; what lies below a gap is proven by
        // filling the gap.
        while let top = stretches.popLast() {
            if top.span.isVouched(in: log) { return stretches.map(\.span) + [top.span] }
            guard let signed = top.signed else { continue }
            var span = top.span
            (span.last, span.tip) = (signed.sequence - 1, signed.anchor)
            return stretches.map(\.span) + [span]
        }
        return []
    }
}

extension Span {
    /// Whether the proof of a fork, or a cut, stands for a signature at its end.
    fileprivate func isVouched(in log: LogRecord) -> Bool {
        guard !log.lacksVouched, let bound = log.bound else { return false }
        return last + 1 == bound.sequence && tip == bound.anchor
    }
}

/// Operations that follow on one another.
private struct Stretch {
    var span: Span
    /// The place after the last one in it that a signature covers.
    var signed: LogPoint?
    /// Whether the identifier before its first is known from elsewhere than the row below.
    var isRooted: Bool
}

/// Finds the stretches of a log whose operations follow on one another.
private struct StretchSearch {
    /// How many places are read together, and one by one where some of them cannot be read.
    private static let blockCount: UInt64 = 256
    /// Places that cannot be read, in a row: then the rest counts as lost.
    private static let unreadableCountMax: UInt64 = 1 << 20

    private let log: LogRecord
    /// The operation right below a place, according to the record.
    private var known: [UInt64: OperationID] = [:]
    /// The last row that was seen, sound or not.
    private var previous: (place: UInt64, id: OperationID)?
    private(set) var stretches: [Stretch] = []
    private(set) var falseHeads: [UInt64] = []

    init(_ log: LogRecord) {
        self.log = log
        for span in log.spans {
            known[span.last + 1] = span.tip
            known[span.first] = span.anchor
        }
        for point in [log.floor, log.limit, log.proven] {
            if let point { known[point.sequence] = point.anchor }
        }
        known[0] = OperationID(reinterpreting: log.id)
    }

    mutating func walk(_ store: some LogStore) {
        var next: UInt64 = 0
        var unreadableCount: UInt64 = 0
        // A record that does not open as a whole promises nothing: then all rows are looked at.
        let end = log.spans.last.map { $0.last + 1 } ?? Limits.placeMax
        while next < end, unreadableCount < Self.unreadableCountMax {
            let range = next...end - 1
            // Missing or damaged rows are what this looks for.
            if let block = try? store.operations(
                in: log.number, range, limit: Int(Self.blockCount))
            {
                guard let last = block.last else { return }
                take(block, store)
                next = last.sequence + 1
                unreadableCount = 0
                continue
            }
            for place in next..<min(next + Self.blockCount, end) {
                let isRead = takeOne(at: place, store)
                unreadableCount = isRead ? 0 : unreadableCount + 1
            }
            next += Self.blockCount
        }
    }

    private mutating func takeOne(at place: UInt64, _ store: some LogStore) -> Bool {
        // As above.
        if let stored = try? store.operation(at: place, in: log.number) {
            take([stored], store)
            return true
        }
        // What does not open may still tell what the next one follows.
        if let header = try? store.header(at: place, in: log.number) {
            previous = (place, header.id)
        }
        return false
    }

    private mutating func take(_ block: [StoredOperation], _ store: some LogStore) {
        guard let first = block.first, let last = block.last else { return }
        // As above.
        let heads = try? store.heads(in: log.number, first.sequence...last.sequence)
        var next = (heads ?? single(of: block, store))[...]
        for stored in block {
            let isSound = add(stored)
            previous = (stored.sequence, stored.id)
            guard let head = next.first, head.sequence == stored.sequence else { continue }
            next = next.dropFirst()
            guard isSound else { continue }
            let holds = OperationHash.isSigned(
                head, log: log.id, operation: stored.id, by: log.device)
            if holds {
                stretches[stretches.count - 1].signed = LogPoint(
                    sequence: stored.sequence + 1, anchor: stored.id)
            } else {
                falseHeads.append(stored.sequence)
            }
        }
    }

    /// The signatures over these operations that can be read one by one.
    private func single(of block: [StoredOperation], _ store: some LogStore) -> [SignedHead] {
        block.compactMap { stored in
            let range = stored.sequence...stored.sequence
            // As above.
            return (try? store.heads(in: log.number, range))?.first
        }
    }

    /// Adds an operation to the stretch that it follows on, or begins another; not where it does not
    /// follow from anything.
    private mutating func add(_ stored: StoredOperation) -> Bool {
        let place = stored.sequence
        func follows(_ anchor: OperationID?) -> Bool {
            guard let anchor else { return false }
            return OperationHash.operation(stored.operation, after: anchor) == stored.id
        }
        if let open = stretches.last, open.span.last + 1 == place {
            guard follows(open.span.tip) else { return false }
            stretches[stretches.count - 1].span.last = place
            stretches[stretches.count - 1].span.tip = stored.id
            return true
        }
        let below = previous.flatMap { $0.place + 1 == place ? $0.id : nil }
        for anchor in [known[place], below].compactMap(\.self) where follows(anchor) {
            stretches.append(
                Stretch(
                    span: Span(first: place, last: place, anchor: anchor, tip: stored.id),
                    signed: nil, isRooted: anchor == known[place]))
            return true
        }
        return false
    }
}
