public import ParleyWire

/// What counts of a log at and above a proven fork: in lane 0 what others' words keep, in the other
/// lanes what the ending cut names.
/// Source: `Protocol/08-roster.md`, "Forks" and "Cuts".
public struct VouchedPart: Equatable, Sendable {
    /// Where it ends; nil while the branch that is named is not held.
    public var end: LogPoint?
    /// The place after the highest that is named.
    public var namedEnd: UInt64

    /// A part with these fields.
    public init(end: LogPoint?, namedEnd: UInt64) {
        self.end = end
        self.namedEnd = namedEnd
    }

    /// What a cut keeps of a log of another lane above a proven fork: it names an operation, and
    /// thereby a branch. Nil if there is no fork, or the cut ends the log below.
    public init?(cutOf log: LogRecord, in store: some LogStore) throws(StoreError) {
        guard log.lane != .control, let fork = log.proven, let limit = log.limit,
            limit.sequence > fork.sequence
        else { return nil }
        let last = limit.sequence - 1
        let held = try log.holds(last) ? store.operation(at: last, in: log.number)?.id : nil
        end = held == limit.anchor ? limit : nil
        namedEnd = limit.sequence
    }
}

/// What counts of a log for others: the part below a proven fork, and below the cuts of a removal.
///
/// A node keeps what lies at or above that point. It neither serves, requests, accepts, nor
/// compares it, or two nodes that hold different parts would exchange forever.
/// Source: `Protocol/03-operations.md`, "Forks" and "Cuts".
extension LogRecord {
    /// Where the counting part of a forked log ends: above what others vouch for, else at the fork.
    /// Nil if no fork is proven.
    public var fork: LogPoint? { proven == nil ? nil : vouched?.end ?? proven }

    /// Whether others vouch for more of a forked log than is held.
    public var lacksVouched: Bool {
        guard let fork, let vouched else { return false }
        return vouched.namedEnd > fork.sequence
    }

    /// Where the accepted part of the log ends: as ``fork``, unless more is sought above it.
    public var intakeEnd: LogPoint? { lacksVouched ? nil : fork }

    /// Whether the branch that others vouch for is not held, or not far enough to tell: then any
    /// other that arrives replaces what is held.
    public var awaitsBranch: Bool { fork != nil && vouched != nil && vouched?.end == nil }

    /// The record without what is held at or above a proven fork.
    public var withoutBranch: LogRecord {
        var log = self
        if let proven { log.spans = below(proven).spans }
        return log
    }

    /// Where the part ends that counts; nil where all of the log does.
    public var bound: LogPoint? {
        guard let fork, let limit else { return fork ?? limit }
        return fork.sequence <= limit.sequence ? fork : limit
    }

    /// Whether the operation at this place does not count.
    func isBeyondBound(_ sequence: UInt64) -> Bool {
        bound.map { sequence >= $0.sequence } ?? false
    }

    /// Up to which place a name of this log covers it: whoever writes next need not name that. A name of another
    /// branch covers nothing, and one at or above the bound may be invented.
    func coveredEnd(by name: OperationReference) -> UInt64 {
        let end = name.sequence + 1
        guard let bound, end >= bound.sequence else {
            return end == self.end && name.check != tip.check ? 0 : end
        }
        // What is still to come below the bound was named before, and moves what named it.
        if self.end < bound.sequence { return bound.sequence }
        return end == bound.sequence && name.check == bound.anchor.check ? end : 0
    }

    /// The place that a name of this log counts as: at or above the bound, the last operation below
    /// it, which was seen as well; nil if nothing is left.
    func counted(_ name: OperationReference) -> OperationReference? {
        guard let bound, name.sequence >= bound.sequence else { return name }
        guard bound.sequence > 0 else { return nil }
        return OperationReference(
            tag: tag, sequence: bound.sequence - 1, check: bound.anchor.check)
    }

    /// The record as far as all honest members can agree on it; the record itself without a bound.
    public var agreed: LogRecord { bound.map(below) ?? self }

    /// The record as if nothing at or above a point were held.
    public func below(_ point: LogPoint) -> LogRecord {
        var agreed = self
        agreed.spans = spans.compactMap { span in
            guard span.first < point.sequence else { return nil }
            guard span.last >= point.sequence else { return span }
            return Span(
                first: span.first, last: point.sequence - 1, anchor: span.anchor, tip: point.anchor)
        }
        if base > point.sequence { agreed.floor = point.sequence == 0 ? nil : point }
        return agreed
    }

    /// Whether the part below the bound is held to its end: the proof of the fork, or the cut, then
    /// vouches for it.
    public var endsAtBound: Bool {
        guard let bound, !lacksVouched else { return false }
        return agreed.end == bound.sequence
    }

    /// The record once nothing at or above a point is stored any more.
    public func dropped(
        from point: LogPoint, _ store: some LogStore
    ) throws(StoreError) -> LogRecord {
        var log = below(point)
        log.order.settledEnd = min(order.settledEnd, point.sequence)
        if log.end < end, log.end > 0 {
            log.order.tip =
                try store.header(at: log.end - 1, in: number)?.stand ?? log.order.floor ?? Stand()
        }
        return log
    }

    /// The record once only these spans, which it has, are still stored.
    public func keeping(
        _ spans: [Span], _ store: some LogStore
    ) throws(StoreError) -> LogRecord {
        var log = self
        log.spans = spans
        log.order.settledEnd = min(
            order.settledEnd, log.wholeThrough.map { $0 + 1 } ?? log.base)
        if log.end < end, log.end > 0 {
            log.order.tip =
                try store.header(at: log.end - 1, in: number)?.stand ?? log.order.floor ?? Stand()
        }
        return log
    }

    /// The log's beginning for a newcomer. What is held below stays, and is missing to nobody.
    ///
    /// - Parameter stand: where the operation right below stands.
    public mutating func begin(at floor: LogPoint?, below stand: Stand = Stand()) {
        self.floor = floor
        order.floor = floor.map { _ in stand }
        order.settledEnd = 0
        guard let floor else { return }
        if end == floor.sequence { order.tip = stand }
        coveredEnd = max(coveredEnd, unnamedBase)
        if lane == .control { controlCoveredEnd = max(controlCoveredEnd, floor.sequence) }
    }
}

extension LogStore {
    /// The logs of a space as far as all honest members can agree on them, ascending by tag.
    public func agreedLogs(in space: SpaceNumber) throws(StoreError) -> [LogRecord] {
        let logs = try logs(in: space)
        // Asked for every digest, and almost never is there a bound.
        return logs.contains { $0.bound != nil } ? logs.map(\.agreed) : logs
    }

    /// One log of a space as far as all honest members can agree on it, or nil.
    public func agreedLog(
        _ tag: LogTag, in space: SpaceNumber
    ) throws(StoreError) -> LogRecord? {
        try log(tag, in: space)?.agreed
    }

    /// The start of the identifier of the operation at a place of a log; nil if that is not known.
    public func check(at place: UInt64, of log: LogRecord) throws(StoreError) -> Check? {
        guard place < log.end else { return nil }
        if place + 1 == log.end { return log.tip.check }
        // The floor tells it of the place right below, which need not be held.
        if let floor = log.floor, place + 1 == floor.sequence { return floor.anchor.check }
        return try log.holds(place) ? operation(at: place, in: log.number)?.id.check : nil
    }

    /// The last place of a log up to which nothing is missing and everything is finally vouched
    /// for, or nil.
    ///
    /// What no signature covers, because the rest of its run still waits, or because only a cut
    /// vouches for it, is dropped once no cut holds any more.
    public func lastSoundPlace(of log: LogRecord) throws(StoreError) -> UInt64? {
        guard log.isWhole, let place = log.wholeThrough else { return nil }
        guard log.holds(place), place >= log.base, log.fork?.sequence != place + 1,
            try head(atOrAfter: place, in: log.number) == nil
        else { return place }
        let signed = try heads(in: log.number, log.base...place).last?.sequence
        return signed ?? (log.base > 0 ? log.base - 1 : nil)
    }

    /// The operation at ``lastSoundPlace(of:)``, or nil.
    public func lastSound(of log: LogRecord) throws(StoreError) -> OperationReference? {
        guard let place = try lastSoundPlace(of: log), let check = try check(at: place, of: log)
        else { return nil }
        return OperationReference(tag: log.tag, sequence: place, check: check)
    }
}
