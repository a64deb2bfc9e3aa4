public import ParleyLedger
public import ParleyWire

/// Finds, by questions to a peer, the first place at which two branches of a log differ, and then
/// the operations that prove it.
///
/// If only a third party's operation says that the branches differ, the place itself is requested
/// first. Then comes a binary search: the anchor of a single operation tells whether the one before
/// it is the same. Then it reads upwards from the fork to the peer's next signature. Nothing the
/// peer says is believed: the result is checked like any proof.
struct ForkSearch: Sendable {
    /// The result of an answer.
    enum Step {
        case goesOn
        case failed
        case proven(ForkProof)
    }

    /// Operations asked for at once on the way up.
    private static let stride: UInt64 = 64

    let tag: LogTag
    /// All below is the same.
    private var equalBelow: UInt64
    /// This place differs.
    private var differsAt: UInt64
    /// The peer holds its branch through this place.
    private let last: UInt64
    private var asked: Want.Range?
    /// Whether the place is known to differ.
    private var isSure: Bool
    /// The parts of the answer so far, in any order.
    private var pieces: [Run] = []
    /// The peer's branch from where it parts.
    private var branch: [Operation] = []

    init(
        _ tag: LogTag, above floor: UInt64, differsAt place: UInt64, heldThrough last: UInt64,
        isSure: Bool = true
    ) {
        self.isSure = isSure
        self.tag = tag
        equalBelow = min(floor, place)
        differsAt = place
        self.last = max(place, last)
    }

    private var middle: UInt64 { equalBelow + (differsAt - equalBelow) / 2 }

    /// Whether an answer is due.
    var isWaiting: Bool { asked != nil }

    /// What to ask now, or nil while an answer is due or nothing is left to ask.
    mutating func question() -> Want.Range? {
        guard asked == nil else { return nil }
        let first: UInt64
        let end: UInt64
        if !isSure {
            first = differsAt
            end = first
        } else if equalBelow < differsAt {
            first = middle + 1
            end = first
        } else {
            first = differsAt + UInt64(branch.count)
            end = min(last, first + Self.stride - 1)
        }
        guard first <= end else { return nil }
        asked = Want.Range(tag: tag, first: first, last: end)
        return asked
    }

    func asksFor(_ run: Run) -> Bool {
        asked.map { $0.first <= run.first && run.last <= $0.last } ?? false
    }

    mutating func take(_ run: Run) {
        // Overlaps come from no honest peer, and are found out below.
        if pieces.count < Int(Self.stride) { pieces.append(run) }
    }

    /// Continues with what arrived.
    mutating func advance(
        in log: LogRecord, of space: SpaceID, store: some LogStore
    ) throws(StoreError) -> Step {
        guard let range = asked else { return .failed }
        pieces.sort { $0.first < $1.first }
        var next = range.first
        for piece in pieces {
            guard piece.first == next else { return piece.first > next ? .goesOn : .failed }
            next = piece.last + 1
        }
        // An answer comes from the top down, in as many frames as it takes.
        guard next > range.last else { return .goesOn }
        asked = nil
        defer { pieces = [] }
        if !isSure { return try confirm(log, store: store) }
        return equalBelow < differsAt
            ? try halve(log, store: store) : try climb(log, of: space, store: store)
    }

    /// Compares what the peer holds at the place.
    private mutating func confirm(
        _ log: LogRecord, store: some LogStore
    ) throws(StoreError) -> Step {
        guard let piece = pieces.first, let operation = piece.operations.first,
            let previous = differsAt == 0 ? OperationID(reinterpreting: log.id) : piece.anchor,
            let ours = try store.operation(at: differsAt, in: log.number)?.id,
            OperationHash.operation(operation, after: previous) != ours
        else { return .failed }
        isSure = true
        return .goesOn
    }

    private mutating func halve(
        _ log: LogRecord, store: some LogStore
    ) throws(StoreError) -> Step {
        guard let theirs = pieces.first?.anchor,
            let ours = try store.operation(at: middle, in: log.number)?.id
        else { return .failed }
        if theirs == ours { equalBelow = middle + 1 } else { differsAt = middle }
        return .goesOn
    }

    private mutating func climb(
        _ log: LogRecord, of space: SpaceID, store: some LogStore
    ) throws(StoreError) -> Step {
        let heads = pieces.flatMap(\.heads)
        for piece in pieces { branch += piece.operations.map(\.withoutPayload) }
        guard let head = heads.first else {
            let isLong = branch.count >= Limits.forkOperationCountMax
            return isLong || differsAt + UInt64(branch.count) > last ? .failed : .goesOn
        }
        branch.removeLast(branch.count - Int(head.sequence - differsAt) - 1)
        guard let device = pieces.first?.device,
            let own = try store.head(atOrAfter: differsAt, in: log.number),
            own.sequence - differsAt < UInt64(Limits.forkOperationCountMax)
        else { return .failed }
        let ours = try store.operations(
            in: log.number, differsAt...own.sequence, limit: Limits.forkOperationCountMax)
        let anchor = try anchor(log, store: store)
        func run(_ operations: [Operation], _ head: SignedHead) -> Run {
            Run(
                device: device, lane: log.lane, first: differsAt, anchor: anchor,
                operations: operations, heads: [head])
        }
        let proof = ForkProof(
            space: space, left: run(ours.map(\.operation.withoutPayload), own),
            right: run(branch, head))
        guard ForkEvidence(proof) != nil,
            Frame.fork(proof).encoded().count <= Limits.frameByteCountMax
        else { return .failed }
        return .proven(proof)
    }

    /// The proof that a run of another branch brings along, where it shows where they part.
    fileprivate static func proof(
        in run: Run, against log: LogRecord, of space: SpaceID, store: some LogStore
    ) throws(StoreError) -> ForkProof? {
        guard let place = try parting(run, log, store: store) else { return nil }
        var search = ForkSearch(
            log.tag, above: place, differsAt: place, heldThrough: run.last)
        var rest = run
        rest.first = place
        rest.operations = Array(rest.operations.dropFirst(Int(place - run.first)))
        rest.heads.removeAll { $0.sequence < place }
        search.pieces = [rest]
        guard case .proven(let proof) = try search.climb(log, of: space, store: store) else {
            return nil
        }
        return proof
    }

    /// The first place at which a run differs from what is held, if it follows that.
    private static func parting(
        _ run: Run, _ log: LogRecord, store: some LogStore
    ) throws(StoreError) -> UInt64? {
        var previous = OperationID(reinterpreting: log.id)
        if run.first > 0 {
            guard let anchor = run.anchor,
                try store.operation(at: run.first - 1, in: log.number)?.id == anchor
            else { return nil }
            previous = anchor
        }
        for (index, operation) in run.operations.enumerated() {
            let place = run.first + UInt64(index)
            guard let held = try store.operation(at: place, in: log.number)?.id else { return nil }
            previous = OperationHash.operation(operation, after: previous)
            if previous != held { return place }
        }
        return nil
    }

    private func anchor(
        _ log: LogRecord, store: some LogStore
    ) throws(StoreError) -> OperationID? {
        guard differsAt > 0 else { return nil }
        if let span = log.spans.first(where: { $0.first == differsAt }) { return span.anchor }
        return try store.operation(at: differsAt - 1, in: log.number)?.id
    }
}

extension ForkProof {
    /// The proof in a run that is of another branch than what is held of its log: nil if it does
    /// not show where they diverge, as an answer to questions on a link would.
    ///
    /// - Parameter log: the log of the run, as it is held.
    public static func found(
        in run: Run, against log: LogRecord, of space: SpaceID, store: some LogStore
    ) throws(StoreError) -> ForkProof? {
        try ForkSearch.proof(in: run, against: log, of: space, store: store)
    }
}

extension Operation {
    /// The operation as it is proven: it hashes the same, and payloads are no business of a proof.
    fileprivate var withoutPayload: Operation {
        guard let commitment = OperationHash.commitment(of: self) else { return self }
        return erased(commitment: commitment)
    }
}
