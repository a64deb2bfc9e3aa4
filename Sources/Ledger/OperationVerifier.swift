import ParleySealing
public import ParleyWire

/// Why a run from outside was turned away. Never carries content or keys.
public enum RunRejection: Error, Equatable, Sendable {
    /// The operations do not lead to the signed head, or to what is held above them.
    case unproven
    /// No signature reaches the run's operations, and nothing held above vouches for them.
    case unsigned
    /// The run does not begin at anything known and brings no anchor.
    case anchorMissing
    /// It would open a second hole in the log.
    case wouldLeaveGap
    /// A signature shows that the device wrote another history: the branches part at this place
    /// or below.
    case forked(at: UInt64)
}

/// Consecutive operations of one log that were checked and are not held yet.
public struct VerifiedRun: Equatable, Sendable {
    /// The log's name.
    public let log: LogID
    /// The author.
    public let device: DeviceID
    /// The lane.
    public let lane: Lane
    /// At least one, ascending.
    public let operations: [VerifiedOperation]
    /// The identifier of the operation before the first.
    public let anchor: OperationID
    /// Signatures that hold, over places of these operations, ascending.
    public let heads: [SignedHead]
    /// Whether newer operations of the log are held: then the causes of these lie in the past of
    /// applied operations, and are not waited for.
    public internal(set) var isBackfill: Bool

    /// The place of the first operation.
    public var first: UInt64 { operations[0].sequence }
    /// The place of the last operation.
    public var last: UInt64 { operations[operations.count - 1].sequence }

    /// How many of the first `count` operations a signature among them is over.
    public func signedCount(ofFirst count: Int) -> Int {
        let end = first + UInt64(min(count, operations.count))
        return heads.last { $0.sequence < end }.map { Int($0.sequence - first) + 1 } ?? 0
    }

    /// What is left once the first `count` operations were applied.
    public func droppingFirst(_ count: Int) -> VerifiedRun? {
        guard count < operations.count else { return nil }
        guard count > 0 else { return self }
        let rest = Array(operations[count...])
        return VerifiedRun(
            log: log, device: device, lane: lane, operations: rest,
            anchor: operations[count - 1].id,
            heads: heads.filter { $0.sequence >= rest[0].sequence }, isBackfill: isBackfill)
    }

    /// The first `count` operations.
    public func prefix(_ count: Int) -> VerifiedRun? {
        guard count > 0 else { return nil }
        guard count < operations.count else { return self }
        let start = Array(operations[..<count])
        return VerifiedRun(
            log: log, device: device, lane: lane, operations: start, anchor: anchor,
            heads: heads.filter { $0.sequence <= start[count - 1].sequence },
            isBackfill: isBackfill)
    }
}

/// How unproven bytes become operations: the payload by its commitment, the place by the hash
/// chain, the author by the signature over a later operation.
///
/// Operations that end where something held begins need no signature: the held operation commits to
/// everything before it.
/// Source: `Protocol/03-operations.md`, "Proof".
public struct OperationVerifier {
    private let run: Run
    private let log: LogID
    private let held: [Span]
    /// What is really held, if a bound hides part of it.
    private let stored: [Span]
    private let mayLeaveGaps: Bool
    private let anchor: OperationID
    private let chain: [VerifiedOperation]

    /// Checks a run of a log against what is held of it.
    ///
    /// - Parameters:
    ///   - run: as it arrived.
    ///   - space: the space that the frame named.
    ///   - held: the spans of the log here, ascending; empty for an unknown log.
    ///   - bound: where the log is known to be forked or cut: what is there and above is left
    ///     out, and the proof of that vouches for what ends right below.
    ///   - floor: where the log begins for this node: what is below is left out.
    ///   - mayLeaveGaps: whether more than one gap may stay, as after a repair: in an own file.
    /// - Returns: the new parts of it, ascending; none if all of it was held.
    public static func verify(
        _ run: Run, in space: SpaceID, held: [Span], bound: LogPoint? = nil,
        floor: LogPoint? = nil, mayLeaveGaps: Bool = false
    ) throws(RunRejection) -> [VerifiedRun] {
        let stored = held.filter { $0.last + 1 >= floor?.sequence ?? 0 }
        let held = visible(counted(stored, above: floor), below: bound)
        // Nothing new costs nothing: duplicates are common, and no hash is computed for them.
        if held.contains(where: { $0.first <= run.first && run.last <= $0.last }) { return [] }
        return try OperationVerifier(
            run, in: space, held: held, stored: stored, mayLeaveGaps: mayLeaveGaps
        ).newRuns()
    }

    /// What is held, and below it one span that covers everything below the floor.
    private static func counted(_ held: [Span], above floor: LogPoint?) -> [Span] {
        guard let floor, floor.sequence > 0 else { return held }
        // Held operations reach below the floor: then they tell what is there.
        if let lowest = held.first, lowest.first <= floor.sequence {
            guard lowest.first > 0 else { return held }
            let below = Span(
                first: 0, last: lowest.first - 1, anchor: lowest.anchor, tip: lowest.anchor)
            return [below] + held
        }
        let below = Span(
            first: 0, last: floor.sequence - 1, anchor: floor.anchor, tip: floor.anchor)
        return [below] + held
    }

    /// What is held below a bound, and above it one span that covers everything.
    private static func visible(_ held: [Span], below bound: LogPoint?) -> [Span] {
        guard let fork = bound else { return held }
        let below = held.filter { $0.first < fork.sequence }.map { span in
            span.last < fork.sequence
                ? span
                : Span(
                    first: span.first, last: fork.sequence - 1, anchor: span.anchor,
                    tip: fork.anchor)
        }
        let above = Span(
            first: fork.sequence, last: Limits.placeMax, anchor: fork.anchor, tip: fork.anchor)
        return below + [above]
    }

    private init(
        _ run: Run, in space: SpaceID, held: [Span], stored: [Span], mayLeaveGaps: Bool
    ) throws(RunRejection) {
        self.run = run
        self.mayLeaveGaps = mayLeaveGaps
        self.held = held
        self.stored = stored
        log = OperationHash.log(space: space, device: run.device, lane: run.lane)
        if run.first == 0 {
            anchor = OperationID(reinterpreting: log)
        } else if let given = run.anchor ?? held.first(where: { $0.last + 1 == run.first })?.tip {
            anchor = given
        } else {
            throw .anchorMissing
        }
        let tag = LogTag(log)
        var previous = anchor
        var sequence = run.first
        var chain: [VerifiedOperation] = []
        chain.reserveCapacity(run.operations.count)
        for operation in run.operations {
            // A payload that is never erased was not rightfully lost.
            if case .erased(_, salted: false, _) = operation.body { throw .unproven }
            previous = OperationHash.operation(operation, after: previous)
            chain.append(
                VerifiedOperation(id: previous, tag: tag, sequence: sequence, operation: operation))
            sequence += 1
        }
        self.chain = chain
    }

    private func newRuns() throws(RunRejection) -> [VerifiedRun] {
        try checkBoundaries()
        var runs: [VerifiedRun] = []
        var start = run.first
        for span in held + [nil] as [Span?] {
            let end = min(span.map { $0.first } ?? run.last + 1, run.last + 1)
            if start < end { runs.append(try newRun(start..<end, below: span)) }
            if let span { start = max(start, span.last + 1) }
        }
        return runs
    }

    /// The new operations in this range; `above` begins somewhere after them.
    private func newRun(
        _ range: Range<UInt64>, below above: Span?
    ) throws(RunRejection) -> VerifiedRun {
        let heads = run.heads.filter { range.contains($0.sequence) }
        for head in heads where !isSigned(by: head) { throw .unproven }
        let isVouchedFor = above.map { $0.first == range.upperBound } ?? false
        guard let end = isVouchedFor ? range.upperBound : heads.last.map({ $0.sequence + 1 })
        else { throw .unsigned }
        let follows = held.contains { $0.last + 1 == range.lowerBound }
        // Even the beginning of the log: beside two stretches it would be a third.
        let isBackfill = stored.contains { $0.first >= range.upperBound }
        let mayStandAlone = stored.count < 2 && (!isBackfill || range.lowerBound == 0)
        let leads = stored.contains { $0.first == range.upperBound }
        guard follows || leads || mayStandAlone || mayLeaveGaps else {
            throw .wouldLeaveGap
        }
        let offset = Int(range.lowerBound - run.first)
        return VerifiedRun(
            log: log, device: run.device, lane: run.lane,
            operations: Array(chain[offset..<Int(end - run.first)]),
            anchor: offset == 0 ? anchor : chain[offset - 1].id, heads: heads,
            isBackfill: isBackfill)
    }

    /// Compares with what is held wherever the run touches it.
    private func checkBoundaries() throws(RunRejection) {
        for span in held {
            if let id = identifier(at: Int64(span.last)), id != span.tip {
                throw difference(at: span.last)
            }
            if span.first > 0, let id = identifier(at: Int64(span.first) - 1), id != span.anchor {
                throw difference(at: span.first - 1)
            }
        }
    }

    /// What the run says about this place, including the one before its first.
    private func identifier(at place: Int64) -> OperationID? {
        let offset = place - Int64(run.first)
        if offset == -1 { return place >= 0 ? anchor : nil }
        return chain.indices.contains(Int(offset)) ? chain[Int(offset)].id : nil
    }

    /// A fork where a signature proves the other branch; else just a run that proves nothing.
    private func difference(at place: UInt64) -> RunRejection {
        guard let head = run.heads.first(where: { $0.sequence >= place }), isSigned(by: head) else {
            return .unproven
        }
        return .forked(at: place)
    }

    private func isSigned(by head: SignedHead) -> Bool {
        guard let id = identifier(at: Int64(head.sequence)) else { return false }
        return OperationHash.isSigned(
            head, log: log, operation: id, by: run.device)
    }
}
