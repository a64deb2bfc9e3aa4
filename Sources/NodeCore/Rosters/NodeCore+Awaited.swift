import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleyWire

/// The name of a log of which nothing is known, so that it could be of lane 0, and whose operations were
/// applied without it.
///
/// The authority of an operation is computed from what it names of lane 0, so the operation waits
/// for such a log for a while. But a member can invent one, and waiting forever would separate
/// honest members. So the wait ends, the names of such logs are kept, and the whole space is judged
/// again when a log of lane 0 turns out to have one of these names, and when everything named of it
/// is held: the order of arrival leaves no trace. Each author has separate names, so that one
/// inventor does not crowd out the names of others.
/// Source: `Protocol/03-operations.md`, "References".
struct AwaitedLog: Hashable, Comparable {
    let tag: LogTag
    let author: LogTag

    static func < (left: Self, right: Self) -> Bool {
        (left.tag, left.author) < (right.tag, right.author)
    }
}

/// What is awaited from such a log.
struct AwaitedPlace {
    /// The last place that was named.
    var sequence: UInt64
    /// Whether something of the log is held, and all was judged again since.
    var isFound = false
}

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
        guard let judge = rosters.judges[space.number] else { return [.control] }
        if run.lane == .control {
            // A newcomer's operation may arrive before the one that admits them.
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
            header.authority.map { rosters.judges[space.number]?.tips(underAuthority: $0) != nil }
            ?? true
        missing.insert(isKnown ? .content : .authority)
        return missing
    }

    /// The places from which nobody serves the logs of former members: an author who had not heard
    /// of the removal may name them, although nothing of them was ever held here.
    private func closedLogs(in space: SpaceRecord) -> [LogTag: UInt64] {
        guard let roster = rosters.judges[space.number]?.roster else { return [:] }
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
        var known = rosters.awaited[space.number] ?? [:]
        defer { rosters.awaited[space.number] = known }
        for cause in header.dependencies where try store.log(cause.tag, in: space.number) == nil {
            let name = AwaitedLog(tag: cause.tag, author: LogTag(log))
            if let place = known[name] {
                guard cause.sequence > place.sequence else { continue }
            } else if !hasRoom(for: name, among: known) {
                try dropFound(&known, in: space, store)
                guard hasRoom(for: name, among: known) else { return false }
            }
            let place = AwaitedPlace(sequence: cause.sequence)
            known[name] = place
            try Self.note(place, of: name, in: space, store)
        }
        return true
    }

    private func hasRoom(for name: AwaitedLog, among known: [AwaitedLog: AwaitedPlace]) -> Bool {
        known.keys.count { $0.author == name.author } < Self.awaitedCountMax
    }

    /// Records the names of logs that an operation names and that are not, or no longer, completely
    /// held: what is lost may arrive again.
    ///
    /// - Parameter known: those that this log has named so far.
    static func awaitLogs(
        namedIn header: OperationHeader, of log: LogRecord,
        _ known: inout [AwaitedLog: AwaitedPlace], _ judge: Judge, _ space: SpaceRecord,
        _ store: some Store
    ) throws(StoreError) {
        for cause in header.dependencies {
            let name = AwaitedLog(tag: cause.tag, author: log.tag)
            guard known[name] != nil || known.count < awaitedCountMax,
                cause.sequence >= known[name]?.sequence ?? 0
            else { continue }
            let record = try store.log(cause.tag, in: space.number)
            guard record?.lane ?? .control == .control,
                judge.tips([], naming: [LogTip(cause)]) == nil
            else { continue }
            let place = AwaitedPlace(sequence: cause.sequence, isFound: record != nil)
            known[name] = place
            try note(place, of: name, in: space, store)
        }
    }

    /// Drops the names of logs of lane 0 of which all is held by now that was named, and of logs that
    /// turned out to be of another lane.
    private func dropFound(
        _ known: inout [AwaitedLog: AwaitedPlace], in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) {
        for (name, place) in known.sorted(by: { $0.key < $1.key }) {
            guard let log = try store.log(name.tag, in: space.number),
                log.lane != .control || holds(place, of: name, in: space)
            else { continue }
            known[name] = nil
            try Self.note(nil, of: name, in: space, store)
        }
    }

    private func holds(_ place: AwaitedPlace, of name: AwaitedLog, in space: SpaceRecord) -> Bool {
        let tip = LogTip(tag: name.tag, sequence: place.sequence)
        return rosters.judges[space.number]?.tips([], naming: [tip]) != nil
    }

    /// Whether a log of lane 0 arrived that something was applied without, or everything named of
    /// it is held now.
    mutating func foundAwaitedLog(
        in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> Bool {
        guard var known = rosters.awaited[space.number],
            let graph = rosters.judges[space.number]?.graph
        else { return false }
        let found = known.filter { name, place in
            !place.isFound && graph.contains(LogTip(tag: name.tag, sequence: 0))
                || holds(place, of: name, in: space)
        }
        guard !found.isEmpty else { return false }
        for name in found.keys.sorted() {
            known[name]?.isFound = true
            try Self.note(known[name], of: name, in: space, store)
        }
        try dropFound(&known, in: space, store)
        rosters.awaited[space.number] = known
        return true
    }

    /// Reads which logs are awaited.
    mutating func loadAwaited(_ store: some Store) throws(StoreError) {
        for (key, value) in try store.values(.awaitedLog) {
            let names = Array(key.suffix(16))
            guard let id = SpaceID(Array(key.dropLast(16))), let space = try store.space(id),
                let tag = LogTag(bytes: Array(names.prefix(8))),
                let author = LogTag(bytes: Array(names.suffix(8))), let place = AwaitedPlace(value)
            else { continue }
            rosters.awaited[space.number, default: [:]][AwaitedLog(tag: tag, author: author)] =
                place
        }
    }

    private static func note(
        _ place: AwaitedPlace?, of name: AwaitedLog, in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) {
        let key = space.id.bytes + name.tag.bytes + name.author.bytes
        try store.setValue(place.map(\.bytes), .awaitedLog, key)
    }
}

extension AwaitedPlace {
    fileprivate var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 9)
        writer.uint64(sequence)
        writer.byte(isFound ? 1 : 0)
        return writer.bytes
    }

    fileprivate init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        // An unreadable row counts as none: what it named is judged when everything is.
        guard let sequence = try? reader.uint64(), let isFound = try? reader.byte() else {
            return nil
        }
        self.init(sequence: sequence, isFound: isFound == 1)
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
