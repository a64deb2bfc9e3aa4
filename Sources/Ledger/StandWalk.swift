import ParleyWire

/// Finds out, operation by operation, where those of one log stand.
///
/// A stand is computed from what the operation names and from the one before it. A named operation
/// that is not held, lies beyond a bound, or has another check counts as nothing; of these only one
/// that is not held may arrive one day, so until then the stand is not settled.
/// Source: `Protocol/03-operations.md`, "Order".
struct StandWalk {
    private let log: LogRecord
    private let rule: StandRule
    /// Where the operation before the next one stands; nil for none, or where that is not held.
    private var last: Stand?
    private var witness: UInt64
    /// Whether everything seen so far is finally placed.
    private(set) var isSettled: Bool

    /// A walk that begins at a place.
    init(
        at first: UInt64, in log: LogRecord, _ rule: StandRule, _ store: some LogStore
    ) throws(StoreError) {
        self.log = log
        self.rule = rule
        witness = rule.beganAt ?? 0
        isSettled = true
        guard log.lane.carriesAuthority, first > 0 else { return }
        if first == log.base {
            follow(log.order.floor ?? Stand())
        } else if first == log.end {
            follow(log.order.tip)
            isSettled = log.order.settledEnd >= first
        } else if let before = try store.header(at: first - 1, in: log.number) {
            follow(before.stand)
            isSettled = first <= max(log.order.settledEnd, log.base)
        } else {
            try beginAboveHole(at: first, store)
        }
    }

    private mutating func follow(_ stand: Stand) {
        last = stand
        witness = max(stand.witness, rule.beganAt ?? 0)
    }

    /// What its author had seen is not known above a gap. So that its clock counts for the time
    /// being, what others wrote last in lane 0, which has no gaps, replaces that: keeping a gap
    /// open forever gains nothing.
    mutating func beginAboveHole(at first: UInt64, _ store: some LogStore) throws(StoreError) {
        last = nil
        isSettled = first < log.base
        guard let beganAt = rule.beganAt else { return }
        witness = beganAt
        for other in try store.logs(in: log.space)
        where other.lane == .control && rule.isAnother(other.device, than: log.device) {
            witness = max(witness, try Self.lastClock(of: other, store))
        }
    }

    /// The clock of the last operation of a log of lane 0 that counts: above a fork each may hold another
    /// branch.
    private static func lastClock(
        of other: LogRecord, _ store: some LogStore
    ) throws(StoreError) -> UInt64 {
        guard let bound = other.bound, bound.sequence < other.end else {
            return other.order.tip.wallClock
        }
        guard bound.sequence > 0 else { return 0 }
        return try store.header(at: bound.sequence - 1, in: other.number)?.stand.wallClock ?? 0
    }

    /// The log begins here for this node.
    mutating func beginAtFloor() {
        follow(log.order.floor ?? Stand())
        isSettled = true
    }

    /// Where the next operation stands.
    ///
    /// - Parameters:
    ///   - names: what of that which it names may count.
    ///   - settling: the logs that are walked through at the same time, and how far each of them is
    ///     settled: their records do not say it yet.
    mutating func step(
        _ header: OperationHeader, naming names: [OperationReference],
        besides settling: [LogTag: UInt64] = [:], _ store: some LogStore
    ) throws(StoreError) -> Stand {
        guard log.lane.carriesAuthority else { return Stand(unplaced: header) }
        var past = last?.value
        for cause in names { try look(at: cause, &past, settling, store) }
        let stand = rule.stand(wallClock: header.wallClock, past: past, witness: witness)
        last = stand
        return stand
    }

    private mutating func look(
        at name: OperationReference, _ past: inout UInt64?, _ settling: [LogTag: UInt64],
        _ store: some LogStore
    ) throws(StoreError) {
        // The previous operation of the own log is implied, except above a gap.
        guard name.tag != log.tag || (!isSettled && name.sequence >= log.base) else { return }
        guard let named = try store.log(name.tag, in: log.space) else {
            isSettled = false
            return
        }
        guard named.lane.isCausal, let cause = named.counted(name) else { return }
        // Of lane 0 only the clocks count: membership says nothing about where a message stands.
        let isControl = named.lane == .control
        if isControl, rule.beganAt == nil { return }
        guard let found = try stand(of: cause, in: named, settling, store) else { return }
        if rule.beganAt != nil, rule.isAnother(named.device, than: log.device) {
            witness = max(witness, found.stand.wallClock)
        }
        guard !isControl else { return }
        past = max(past ?? 0, found.stand.value)
        isSettled = isSettled && found.isSettled
    }

    /// Where a cause stands; nil where it counts as nothing.
    private mutating func stand(
        of cause: OperationReference, in named: LogRecord, _ settling: [LogTag: UInt64],
        _ store: some LogStore
    ) throws(StoreError) -> (stand: Stand, isSettled: Bool)? {
        let settledEnd = max(settling[named.tag] ?? named.order.settledEnd, named.base)
        let isSettled = cause.sequence < settledEnd
        // Almost always the tip is named: one look at the record, and none at the disk.
        if settling[named.tag] == nil, cause.sequence + 1 == named.end {
            return cause.check == named.tip.check ? (named.order.tip, isSettled) : nil
        }
        if let held = try store.header(at: cause.sequence, in: named.number) {
            return cause.check == held.id.check ? (held.stand, isSettled) : nil
        }
        if cause.sequence < named.base {
            guard cause.sequence + 1 == named.base, cause.check == named.floor?.anchor.check,
                let floor = named.order.floor
            else { return nil }
            return (floor, true)
        }
        self.isSettled = false
        return nil
    }
}

extension VerifiedRun {
    /// The same run with where its operations stand, and up to which place its log is settled once they
    /// are held.
    public func placed(
        in log: LogRecord, by rule: StandRule, _ store: some LogStore
    ) throws(StoreError) -> (run: VerifiedRun, settledEnd: UInt64) {
        guard log.lane.carriesAuthority else { return (self, log.order.settledEnd) }
        var walk = try StandWalk(at: first, in: log, rule, store)
        var placed = operations
        var settledEnd = max(log.order.settledEnd, log.base)
        for index in placed.indices {
            let sequence = placed[index].sequence
            let header = placed[index].operation.header
            placed[index].stand = try walk.step(
                header, naming: log.names(in: header, at: sequence), store)
            if walk.isSettled, sequence == settledEnd { settledEnd += 1 }
        }
        let run = VerifiedRun(
            log: self.log, device: device, lane: lane, operations: placed, anchor: anchor,
            heads: heads, isBackfill: isBackfill)
        return (run, settledEnd)
    }
}
