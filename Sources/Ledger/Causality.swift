public import ParleyWire

/// The causal graph of a space, as far as it must be known: which causes are present, and which
/// operations nobody has named yet.
///
/// A log's record holds how far it is held and how far others have named it, so the graph costs
/// two numbers a log and no memory of its own.
public enum Causality {
    /// Whether all that an operation names is present, so that it may be applied.
    ///
    /// An operation in the hole of a log counts as present: newer operations of the log are held,
    /// and it will be filled in.
    public static func isReady(
        _ header: OperationHeader, in space: SpaceNumber, store: some LogStore
    ) throws(StoreError) -> Bool {
        for cause in header.dependencies {
            guard try isPresent(cause, in: space, store: store) else { return false }
        }
        for cause in header.references {
            guard try isPresent(cause, in: space, store: store) else { return false }
        }
        return true
    }

    private static func isPresent(
        _ cause: OperationReference, in space: SpaceNumber, store: some LogStore
    ) throws(StoreError) -> Bool {
        guard let log = try store.log(cause.tag, in: space) else { return false }
        // It may be of a branch that never comes: nobody serves what lies above a proven fork.
        if let fork = log.fork, cause.sequence >= fork.sequence { return true }
        guard cause.sequence < log.end else { return false }
        // Where it costs nothing, the branch is compared as well.
        return cause.sequence + 1 < log.end || cause.check == log.tip.check
    }

    /// Takes note of what an applied operation names.
    public static func cover(
        _ header: OperationHeader, lane: Lane, in space: SpaceNumber, store: some LogStore
    ) throws(StoreError) {
        guard lane.isCausal else { return }
        for cause in header.dependencies {
            try cover(cause, lane: lane, in: space, store: store)
        }
        for cause in header.references {
            try cover(cause, lane: lane, in: space, store: store)
        }
    }

    private static func cover(
        _ cause: OperationReference, lane: Lane, in space: SpaceNumber, store: some LogStore
    ) throws(StoreError) {
        guard var log = try store.log(cause.tag, in: space) else { return }
        let end = cause.sequence + 1
        guard end > log.coveredEnd || (lane == .control && end > log.controlCoveredEnd) else {
            return
        }
        log.coveredEnd = max(log.coveredEnd, end)
        if lane == .control { log.controlCoveredEnd = max(log.controlCoveredEnd, end) }
        try store.update(log)
    }

    /// The last operations of logs that somebody claims to have named beyond their end.
    ///
    /// What fills a hole is applied before its causes, so that it may name places that are not held
    /// yet, or that never will be. Until they are, nobody can tell whether the tip was named.
    static func doubtfulHeads(
        for lane: Lane, besides own: LogTag, in space: SpaceNumber, at wallClock: UInt64,
        store: some LogStore
    ) throws(StoreError) -> [LogRecord] {
        guard lane.isCausal else { return [] }
        return try store.logs(in: space).filter { log in
            guard log.lane.isCausal, log.tag != own, log.end > 0, log.fork == nil else {
                return false
            }
            if lane == .control {
                return log.lane == .control && log.end < log.controlCoveredEnd
            }
            guard log.end < log.coveredEnd else { return false }
            return log.lane == .control || !HybridClock.isFarFuture(log.tipClock, at: wallClock)
        }
    }

    /// The last operations of logs that no operation has named: what the next one must name.
    ///
    /// - Parameters:
    ///   - lane: the lane of the next operation. Control names control alone.
    ///   - own: the log that the next operation is written in; its own tip goes without saying.
    ///   - wallClock: leaves out tips that are far ahead of it, so that one wrong clock does not
    ///     draw everybody along. Control is always named.
    static func openHeads(
        for lane: Lane, besides own: LogTag, in space: SpaceNumber, at wallClock: UInt64,
        store: some LogStore
    ) throws(StoreError) -> [LogRecord] {
        guard lane.isCausal else { return [] }
        return try store.logs(in: space).filter { log in
            guard log.lane.isCausal, log.tag != own, log.end > 0, log.fork == nil else {
                return false
            }
            if lane == .control {
                return log.lane == .control && log.end > log.controlCoveredEnd
            }
            guard log.end > log.coveredEnd else { return false }
            return log.lane == .control || !HybridClock.isFarFuture(log.tipClock, at: wallClock)
        }
    }
}
