import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleyWire

/// Logs that somebody named and of which nothing is known, so that they could be of lane 0.
///
/// What an operation was written under is made of what it names of lane 0, so it waits for such a
/// log for a while. But a member can invent one, and a wait without end would part honest members. So
/// the wait ends, the names of such logs are kept, and the day a log of lane 0 has one of them all of
/// the space is judged again: the order in which things came leaves no trace.
/// Source: `Protocol/03-operations.md`, "References".
extension NodeCore {
    /// So many names are kept for each log that names them. Where it names more, it waits.
    static let awaitedCountMax = 64

    /// What is missing before an operation may be applied.
    mutating func missing(
        _ header: OperationHeader, _ run: VerifiedRun, in space: SpaceRecord, _ store: some Store,
        _ ingested: inout Ingested
    ) throws(StoreError) -> Causality.Missing {
        var missing = try Causality.missing(
            header, lane: run.lane, in: space.number, store: store)
        guard let judge = judges[space.number] else { return [.control] }
        if run.lane == .control {
            // A newcomer's word may come before the word of who let them in.
            let letsItselfIn = header.kind == .genesis || header.kind == .ident
            if !letsItselfIn, !judge.knows(run.device) { missing.insert(.control) }
            return missing.isEmpty ? [] : [.control]
        }
        guard missing.contains(.unknown) else { return missing }
        let closed = ingested.closedLogs ?? closedLogs(in: space)
        ingested.closedLogs = closed
        var isAwaited = false
        for cause in header.dependencies + header.references
        where closed[cause.tag].map({ cause.sequence < $0 }) ?? true {
            if try store.log(cause.tag, in: space.number) == nil { isAwaited = true }
        }
        guard isAwaited else { return missing.subtracting(.unknown) }
        let isKnown =
            header.authority.map { judges[space.number]?.tips(underAuthority: $0) != nil } ?? true
        missing.insert(isKnown ? .content : .authority)
        return missing
    }

    /// From which place on nobody serves the logs of those who are out: what somebody wrote who had
    /// not heard of it may name them, though nothing of them was ever held here.
    private func closedLogs(in space: SpaceRecord) -> [LogTag: UInt64] {
        guard let roster = judges[space.number]?.roster else { return [:] }
        var closed: [LogTag: UInt64] = [:]
        for device in roster.everyDevice where roster.isFormer(device) {
            for lane in Lane.allCases where lane != .control {
                let log = OperationHash.log(space: space.id, device: device, lane: lane)
                closed[LogTag(log)] = roster.limit(of: device, lane: lane, log)?.sequence
            }
        }
        return closed
    }

    /// Keeps the names of logs that an operation is applied without.
    ///
    /// - Returns: whether there was room for them.
    mutating func awaitLogs(
        of header: OperationHeader, in log: LogID, _ space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> Bool {
        var known = awaited[space.number] ?? [:]
        let author = LogTag(log)
        for cause in header.dependencies
        where try store.log(cause.tag, in: space.number) == nil && known[cause.tag] == nil {
            if known.values.count(where: { $0 == author }) >= Self.awaitedCountMax {
                try dropFound(&known, in: space, store)
                guard known.values.count(where: { $0 == author }) < Self.awaitedCountMax else {
                    awaited[space.number] = known
                    return false
                }
            }
            known[cause.tag] = author
            try Self.note(cause.tag, namedBy: author, in: space, store)
        }
        awaited[space.number] = known
        return true
    }

    /// Keeps the names of logs of which nothing is held any more, or never was: among them may be one of
    /// lane 0 that was lost.
    ///
    /// - Parameter known: those that this log has named so far.
    static func awaitLogs(
        namedIn header: OperationHeader, of log: LogRecord, _ known: inout Set<LogTag>,
        _ space: SpaceRecord, _ store: some Store
    ) throws(StoreError) {
        for cause in header.dependencies where known.count < awaitedCountMax {
            guard try store.log(cause.tag, in: space.number) == nil,
                known.insert(cause.tag).inserted
            else { continue }
            try note(cause.tag, namedBy: log.tag, in: space, store)
        }
    }

    private static func note(
        _ tag: LogTag, namedBy author: LogTag, in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) {
        try store.setValue(author.bytes, .awaitedLog, key(ofAwaited: tag, in: space))
    }

    /// Drops the names of logs of which something is known by now.
    private func dropFound(
        _ known: inout [LogTag: LogTag], in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) {
        for tag in known.keys.sorted() where try store.log(tag, in: space.number) != nil {
            known[tag] = nil
            try store.setValue(nil, .awaitedLog, Self.key(ofAwaited: tag, in: space))
        }
    }

    /// Whether a log of lane 0 has come that something was applied without; its name is dropped.
    mutating func foundAwaitedLog(
        in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> Bool {
        guard var known = awaited[space.number], let graph = judges[space.number]?.graph,
            known.keys.contains(where: { graph.contains(LogTip(tag: $0, sequence: 0)) })
        else { return false }
        try dropFound(&known, in: space, store)
        awaited[space.number] = known
        return true
    }

    /// Reads which logs are awaited.
    mutating func loadAwaited(_ store: some Store) throws(StoreError) {
        for (key, value) in try store.values(.awaitedLog) {
            let (place, author) = (key.dropLast(8), LogTag(bytes: value))
            guard let id = SpaceID(Array(place)), let tag = LogTag(bytes: Array(key.suffix(8))),
                let author, let space = try store.space(id)
            else { continue }
            awaited[space.number, default: [:]][tag] = author
        }
    }

    private static func key(ofAwaited tag: LogTag, in space: SpaceRecord) -> [UInt8] {
        space.id.bytes + tag.bytes
    }
}

extension LogTag {
    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 8)
        writer.uint64(value)
        return writer.bytes
    }

    init?(bytes: [UInt8]) {
        guard bytes.count == 8 else { return nil }
        self.init(bytes.reduce(0) { $0 << 8 | UInt64($1) })
    }
}
