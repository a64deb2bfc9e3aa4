import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleyWire

/// Places lines about members between messages, polls and the like. Lane 0 names nothing of other lanes, so a
/// line is placed by what the authors of those had seen of lane 0.
/// Source: `Protocol/03-operations.md`, "Lines between messages".
struct MembershipPlacing<Held: LogStore> {
    /// A log of content, with what it had seen of lane 0.
    private struct Log {
        let record: LogRecord
        let rows: [LogView]
        /// What is held and counts. A member who came back also holds content from an earlier time,
        /// below the floor: it gives them the same lines as those who never left.
        let spans: [Span]
        /// The place after the last that counts.
        let end: UInt64

        /// The first place at or above this one that is held.
        func held(from place: UInt64) -> UInt64? {
            spans.first { $0.last >= place }.map { max($0.first, place) }
        }
    }

    private struct Place: Hashable {
        let log: LogNumber
        let sequence: UInt64
    }

    private let graph: ControlGraph
    private let store: Held
    private var logs: [Log] = []
    /// Operations that were looked at: many lines ask for the same ones.
    private var known: [Place: OrderKey?] = [:]
    /// What of lane 0 each log had seen last.
    private var lastTips: Set<LogTip> = []
    /// The newest stand of content, if it is not that of its author's clock.
    private var farthest: UInt64?
    /// Where the line above stands: nil at the end. No value at all before the first.
    private var previous: OrderKey??

    init(
        _ space: SpaceRecord, _ judge: Judge, in store: Held
    ) throws(StoreError) {
        graph = judge.graph
        self.store = store
        var newest = Stand()
        for record in try store.logs(in: space.number)
        where [.content, .shared].contains(record.lane) {
            let agreed = record.agreed
            guard judge.roster.person(of: record.device) != nil, !agreed.spans.isEmpty else {
                continue
            }
            let rows = try store.views(in: record.number, 0...UInt64.max)
                .prefix { $0.isSettled && $0.first < agreed.end }
            logs.append(
                Log(record: record, rows: Array(rows), spans: agreed.spans, end: agreed.end))
            lastTips.formUnion(rows.last?.tips ?? [])
            if agreed.end == record.end, record.order.tip.value > newest.value {
                newest = record.order.tip
            }
        }
        if newest.value >> 16 > newest.wallClock { farthest = newest.value }
    }

    /// Where the line of an operation of lane 0 stands: right below this key; nil for the end. Lines are
    /// asked for in the order of lane 0.
    mutating func place(
        of line: OrderKey, by device: DeviceID
    ) throws(StoreError) -> OrderKey? {
        let tip = LogTip(tag: line.tag, sequence: line.sequence)
        var key: OrderKey? = line
        let isUnseen = !isSeen(tip, by: lastTips)
        let own = logs.filter { $0.record.device == device }
        for log in own {
            if let last = try lastLacking(tip, in: log) { key = Self.later(key, last) }
        }
        if !isUnseen, let seen = try placeByWhoSaw(tip, line, in: own) {
            key = Self.later(key, seen)
        }
        let saysNothing = key != line || farthest.map { $0 > line.stand } ?? false
        if isUnseen, saysNothing { key = nil }
        if let previous { key = Self.later(previous, key) }
        if !isUnseen, let first = try firstSeen(tip, below: key) { key = first.justAbove }
        previous = .some(key)
        return key
    }

    private static func later(_ left: OrderKey?, _ right: OrderKey?) -> OrderKey? {
        guard let left, let right else { return nil }
        return max(left, right)
    }

    private func isSeen(_ place: LogTip, by tips: some Sequence<LogTip>) -> Bool {
        tips.contains { $0 == place || graph.isInPast(place, of: $0) }
    }

    // MARK: Around the line

    /// The last that a log says before it has seen a place: of the line's own device, it was written
    /// before the line.
    private mutating func lastLacking(
        _ tip: LogTip, in log: Log
    ) throws(StoreError) -> OrderKey? {
        let next = firstRow(of: tip, in: log).flatMap { log.held(from: $0.first) } ?? log.end
        return next > 0 ? try key(at: next - 1, in: log) : nil
    }

    /// Right above an operation of somebody who had seen the line; nil where it stands by its own clock, and
    /// the line by that of its author.
    private mutating func place(
        of line: OrderKey, rightAbove seen: OrderKey
    ) throws(StoreError) -> OrderKey? {
        guard let log = logs.first(where: { $0.record.tag == seen.tag }),
            let header = try store.header(at: seen.sequence, in: log.record.number),
            header.stand.value >> 16 > header.header.wallClock
        else { return nil }
        // The clock of the device is behind what it had seen. If that is so for everything in
        // between, the device had seen it by then, and its own time says nothing about the order.
        let clock = header.header.wallClock << 16
        guard let between = try first(after: line), between.stand > clock else { return nil }
        return seen.justAbove
    }

    /// The same by the first that the line's own device wrote since, or else by the first, of whomever,
    /// who had seen it: its author may have written nothing, or nothing that tells.
    private mutating func placeByWhoSaw(
        _ tip: LogTip, _ line: OrderKey, in own: [Log]
    ) throws(StoreError) -> OrderKey? {
        var next: OrderKey?
        for log in own {
            guard let place = firstRow(of: tip, in: log).flatMap({ log.held(from: $0.first) }),
                let key = try key(at: place, in: log)
            else { continue }
            next = next.map { min($0, key) } ?? key
        }
        if let next, let place = try place(of: line, rightAbove: next) { return place }
        guard let seen = try firstSeen(tip, below: nil) else { return nil }
        return try place(of: line, rightAbove: seen)
    }

    /// The first operation of content behind a place.
    private mutating func first(after line: OrderKey) throws(StoreError) -> OrderKey? {
        var found: OrderKey?
        for log in logs {
            for span in log.spans {
                guard let key = try first(after: line, in: span, of: log) else { continue }
                found = found.map { min($0, key) } ?? key
                break
            }
        }
        return found
    }

    private mutating func first(
        after line: OrderKey, in span: Span, of log: Log
    ) throws(StoreError) -> OrderKey? {
        var (low, high) = (span.first, span.last + 1)
        while low < high {
            let middle = low + (high - low) / 2
            if let key = try key(at: middle, in: log), key > line {
                high = middle
            } else {
                low = middle + 1
            }
        }
        return low <= span.last ? try key(at: low, in: log) : nil
    }

    // MARK: Who has seen it

    /// The first row of a log that has seen a place. What a log has seen only grows.
    private func firstRow(of tip: LogTip, in log: Log) -> LogView? {
        var (low, high) = (0, log.rows.count)
        while low < high {
            let middle = (low + high) / 2
            if isSeen(tip, by: log.rows[middle].tips) { high = middle } else { low = middle + 1 }
        }
        return low < log.rows.count ? log.rows[low] : nil
    }

    /// The first operation of content, in order, that stands above a key though its author had seen
    /// a place; nil if there is none.
    private mutating func firstSeen(
        _ tip: LogTip, below key: OrderKey?
    ) throws(StoreError) -> OrderKey? {
        var found: OrderKey?
        for log in logs {
            // Where clocks are right, nothing above a line has seen it: one look a log shows that.
            guard let last = try lastRow(of: log, below: found ?? key),
                isSeen(tip, by: last.tips), let row = firstRow(of: tip, in: log),
                let place = log.held(from: row.first), let first = try self.key(at: place, in: log)
            else { continue }
            found = found.map { min($0, first) } ?? first
        }
        return found
    }

    private mutating func lastRow(
        of log: Log, below key: OrderKey?
    ) throws(StoreError) -> LogView? {
        guard let key else { return log.rows.last }
        var (low, high) = (0, log.rows.count)
        while low < high {
            let middle = (low + high) / 2
            if let place = log.held(from: log.rows[middle].first),
                let first = try self.key(at: place, in: log), first < key
            {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low > 0 ? log.rows[low - 1] : nil
    }

    /// Where an operation stands; nil where it is not held.
    private mutating func key(
        at sequence: UInt64, in log: Log
    ) throws(StoreError) -> OrderKey? {
        let place = Place(log: log.record.number, sequence: sequence)
        if let key = known[place] { return key }
        let key = try store.header(at: sequence, in: log.record.number).map { stored in
            OrderKey(
                stand: stored.stand.value, tag: log.record.tag, sequence: sequence, id: stored.id)
        }
        known[place] = .some(key)
        return key
    }
}

extension OrderKey {
    /// The greatest place above this one.
    fileprivate var justAbove: OrderKey {
        if sequence > 0 { return OrderKey(stand: stand, tag: tag, sequence: sequence - 1, id: id) }
        if tag.value > 0 {
            return OrderKey(stand: stand, tag: LogTag(tag.value - 1), sequence: .max, id: id)
        }
        return OrderKey(
            stand: stand - min(stand, 1), tag: LogTag(UInt64.max), sequence: .max, id: id)
    }
}
