import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleyWire

/// Logs that somebody named and of which nothing is known, so that they could be of lane 0.
///
/// What an operation was written under is made of what it names of lane 0, so it waits for such a
/// log first. But a member can invent one, and who happened to hold an authority would then apply what
/// others wait for without end. So the wait ends everywhere, the names are kept, and the day a log
/// of lane 0 has one of them all of the space is judged again: the order in which things came leaves
/// no trace. Source: `Protocol/03-operations.md`, "References".
extension NodeCore {
    /// So many names are kept for each space. What names more waits as long as it takes.
    static let awaitedCountMax = 64

    /// What is missing before an operation may be applied.
    mutating func missing(
        _ header: OperationHeader, _ run: VerifiedRun, in space: SpaceRecord, _ store: some Store,
        _ ingested: inout Ingested
    ) throws(StoreError) -> Causality.Missing {
        var missing = try Causality.missing(header, in: space.number, store: store)
        guard let judge = judges[space.number] else { return [.control] }
        if run.lane == .control {
            // A newcomer's word may come before the word of who let them in.
            let letsItselfIn = header.kind == .genesis || header.kind == .ident
            if !letsItselfIn, !judge.knows(run.device) { missing.insert(.control) }
            return missing.isEmpty ? [] : [.control]
        }
        guard missing.contains(.unknown) else { return missing }
        if try awaited(header, in: space, store, &ingested).isEmpty {
            missing.remove(.unknown)
        } else if header.authority.map({ judge.graph.tips(underAuthority: $0) != nil }) ?? true {
            // What it was written under is known, so the log is of another lane.
            missing.remove(.unknown)
            missing.insert(.content)
        }
        return missing
    }

    /// The logs that an operation names and of which nothing is known, and may yet be.
    private func awaited(
        _ header: OperationHeader, in space: SpaceRecord, _ store: some Store,
        _ ingested: inout Ingested
    ) throws(StoreError) -> [LogTag] {
        let closed = ingested.closedLogs ?? closedLogs(in: space)
        ingested.closedLogs = closed
        var tags: [LogTag] = []
        for cause in header.dependencies + header.references
        where closed[cause.tag].map({ cause.sequence < $0 }) ?? true {
            if try store.log(cause.tag, in: space.number) == nil { tags.append(cause.tag) }
        }
        return tags
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
        of header: OperationHeader, in space: SpaceRecord, _ store: some Store,
        _ ingested: inout Ingested
    ) throws(StoreError) -> Bool {
        let known = try awaitedLogs(in: space, store)
        let new = Set(try awaited(header, in: space, store, &ingested)).subtracting(known)
        guard known.count + new.count <= Self.awaitedCountMax else { return false }
        for tag in new.sorted() {
            try store.setValue([1], .awaitedLog, Self.key(ofAwaited: tag, in: space))
        }
        hasAwaitedLogs = true
        return true
    }

    /// Whether a log of lane 0 has come that something was applied without; its name is dropped.
    mutating func foundAwaitedLog(
        in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> Bool {
        guard hasAwaitedLogs else { return false }
        var isFound = false
        for tag in try awaitedLogs(in: space, store) {
            guard let log = try store.log(tag, in: space.number) else { continue }
            try store.setValue(nil, .awaitedLog, Self.key(ofAwaited: tag, in: space))
            isFound = isFound || log.lane == .control
        }
        return isFound
    }

    private func awaitedLogs(
        in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> [LogTag] {
        let prefix = space.id.bytes
        return try store.values(.awaitedLog).filter { $0.key.starts(with: prefix) }.map { key, _ in
            LogTag(key.dropFirst(prefix.count).reduce(0) { $0 << 8 | UInt64($1) })
        }
    }

    private static func key(ofAwaited tag: LogTag, in space: SpaceRecord) -> [UInt8] {
        var writer = ByteWriter(capacity: 40)
        writer.identifier(space.id)
        writer.uint64(tag.value)
        return writer.bytes
    }
}
