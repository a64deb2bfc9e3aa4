public import ParleyWire

/// The causal graph of a space, as far as it must be known: which causes are present, and which
/// operations nobody has named yet.
///
/// A log's record holds how far it is held and how far others have named it, so the graph costs
/// two numbers a log and no memory of its own.
public enum Causality {
    /// What of the causes of an operation is missing.
    public struct Missing: OptionSet, Sendable {
        /// The bits.
        public let rawValue: UInt8
        /// What these bits stand for.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// Something in a log of another lane than 0.
        public static let content = Missing(rawValue: 1)
        /// Something in lane 0.
        public static let control = Missing(rawValue: 2)
        /// Something in a log of which nothing is known, so that its lane is not.
        public static let unknown = Missing(rawValue: 4)
        /// The authority of an operation, so that such a log may be of lane 0.
        public static let authority = Missing(rawValue: 8)
    }

    /// What is missing of everything an operation names; nothing if it may be applied.
    ///
    /// An operation in the hole of a log counts as present: newer operations of the log are held,
    /// and it will be filled in. An operation of lane 0 names lane 0 alone: no roster can be made of
    /// one that names another lane, so it waits for a log of lane 0 that will never exist.
    public static func missing(
        _ header: OperationHeader, lane: Lane, in space: SpaceNumber, store: some LogStore
    ) throws(StoreError) -> Missing {
        var missing: Missing = []
        for cause in header.dependencies + header.references {
            guard let log = try store.log(cause.tag, in: space) else {
                missing.insert(.unknown)
                continue
            }
            if lane == .control, log.lane != .control {
                missing.insert(.control)
                continue
            }
            guard try !isPresent(cause, in: log, store: store) else { continue }
            missing.insert(log.lane == .control ? .control : .content)
        }
        return missing
    }

    private static func isPresent(
        _ cause: OperationReference, in log: LogRecord, store: some LogStore
    ) throws(StoreError) -> Bool {
        // It may never arrive: nobody serves what lies above a proven fork or a cut.
        if let bound = log.bound, cause.sequence >= bound.sequence { return true }
        guard cause.sequence < log.end else { return false }
        // Its author may have named the branch that does not count: that one never arrives.
        if let fork = log.proven, cause.sequence >= fork.sequence { return true }
        // Where it costs nothing, the branch is compared as well.
        return cause.sequence + 1 < log.end || cause.check == log.tip.check
    }

    /// Records what an applied operation names.
    ///
    /// What is at or above a bound names nothing: the next author must name again what only such an
    /// operation has named. A name of such a place may be invented, and may count as nothing in the order, as one
    /// of another branch does: whoever comes next names the last place that counts.
    public static func cover(
        _ header: OperationHeader, at sequence: UInt64, in log: LogRecord, store: some LogStore
    ) throws(StoreError) {
        let isControl = log.lane == .control
        guard log.lane.isCausal, isControl || !log.isBeyondBound(sequence) else { return }
        for cause in header.dependencies + header.references {
            guard var named = try store.log(cause.tag, in: log.space) else { continue }
            let counted = named.coveredEnd(by: cause)
            let end = cause.sequence + 1
            guard counted > named.coveredEnd || (isControl && end > named.controlCoveredEnd)
            else { continue }
            named.coveredEnd = max(named.coveredEnd, counted)
            if isControl { named.controlCoveredEnd = max(named.controlCoveredEnd, end) }
            try store.update(named)
        }
    }

    /// Up to which place a log was named before anything of it arrived: while it was unknown, that
    /// was recorded nowhere. What named it is not finally placed, so nothing else is examined.
    public static func namedEnd(
        of log: LogRecord, store: some LogStore
    ) throws(StoreError) -> UInt64 {
        var namedEnd: UInt64 = 0
        for other in try store.logs(in: log.space)
        where other.lane.carriesAuthority && other.lacksOrder {
            var next = max(other.order.settledEnd, other.base)
            let end = min(other.end, other.bound?.sequence ?? .max)
            while next < end {
                let stored = try store.headers(
                    in: other.number, next...end - 1, limit: headerStride)
                for cause in stored.flatMap({ $0.header.dependencies + $0.header.references })
                where cause.tag == log.tag {
                    namedEnd = max(namedEnd, log.coveredEnd(by: cause))
                }
                guard stored.count == headerStride, let last = stored.last else { break }
                next = last.sequence + 1
            }
        }
        return namedEnd
    }

    /// Recomputes what of content was named, if logs count differently than before.
    static func coverAgain(
        _ space: SpaceNumber, store: some LogStore
    ) throws(StoreError) {
        let logs = try store.logs(in: space).filter(\.lane.carriesAuthority)
        let known = Dictionary(uniqueKeysWithValues: logs.map { ($0.tag, $0) })
        var ends = known.mapValues(\.unnamedBase)
        for log in logs {
            // A member who comes back names nothing below a floor, nor what only that had named.
            var next = log.unnamedBase
            let bound = log.bound?.sequence ?? .max
            while next < bound {
                let stored = try store.headers(
                    in: log.number, next...bound - 1, limit: headerStride)
                for cause in stored.flatMap({ $0.header.dependencies + $0.header.references }) {
                    guard let named = known[cause.tag] else { continue }
                    ends[cause.tag] = max(ends[cause.tag] ?? 0, named.coveredEnd(by: cause))
                }
                guard stored.count == headerStride, let last = stored.last else { break }
                next = last.sequence + 1
            }
        }
        for var log in logs where ends[log.tag] != log.coveredEnd {
            log.coveredEnd = ends[log.tag] ?? log.unnamedBase
            try store.update(log)
        }
    }

    private static let headerStride = 256

    /// The logs that are named as causes, but for ``own``, as far as they count.
    private static func namedLogs(
        besides own: LogTag, in space: SpaceNumber, store: some LogStore
    ) throws(StoreError) -> [LogRecord] {
        try store.agreedLogs(in: space).filter { log in
            log.lane.isCausal && log.lane != .control && log.tag != own && log.end > 0
        }
    }

    /// The last operations of logs that somebody claims to have named beyond their end.
    ///
    /// What fills a hole is applied before its causes, so that it may name places that are not held
    /// yet, or that never will be. Until they are, nobody can tell whether the tip was named.
    static func doubtfulHeads(
        for lane: Lane, besides own: LogTag, in space: SpaceNumber, store: some LogStore
    ) throws(StoreError) -> [LogRecord] {
        guard lane.isCausal, lane != .control else { return [] }
        return try namedLogs(besides: own, in: space, store: store)
            .filter { $0.end < $0.coveredEnd }
    }

    /// The last operations of logs of content that no operation has named: what the next one must
    /// name. Control names control alone.
    ///
    /// - Parameters:
    ///   - lane: the lane of the next operation.
    ///   - own: the log that the next operation is written in; its own tip goes without saying.
    static func openHeads(
        for lane: Lane, besides own: LogTag, in space: SpaceNumber, store: some LogStore
    ) throws(StoreError) -> [LogRecord] {
        guard lane.isCausal, lane != .control else { return [] }
        return try namedLogs(besides: own, in: space, store: store)
            .filter { $0.end > $0.coveredEnd }
    }

    /// The operations of lane 0 that no other of lane 0 has named: together they have everything
    /// known of it in their past. Of a forked log the part below counts.
    public static func controlHeads(
        in space: SpaceNumber, store: some LogStore
    ) throws(StoreError) -> [LogRecord] {
        try store.agreedLogs(in: space).filter { log in
            log.lane == .control && log.end > log.controlCoveredEnd
        }
    }
}
