import ParleyWire

/// Places operations again whose stand was not settled: causes first, each once.
///
/// An operation that has not arrived may be named by many, and these by others in turn. So all logs
/// of a space are walked together, from where they are settled, each as far as the others allow.
/// Source: `Protocol/03-operations.md`, "Order".
public struct StandSettling {
    /// One log on its way.
    private struct Cursor {
        var log: LogRecord
        var walk: StandWalk
        /// What was read and not placed yet, the next one last.
        var ahead: [StoredHeader] = []
        /// The place after the last one that was read.
        var read: UInt64
        /// The place after the last one that was placed.
        var done: UInt64
        var tip: Stand?

        /// The next place that is not placed; nil if there is none.
        var next: UInt64? { ahead.last?.sequence }
    }

    private static let stride = 256

    private let rule: StandRule
    private var cursors: [Cursor] = []
    private var places: [LogTag: Int] = [:]
    private var settling: [LogTag: UInt64] = [:]
    /// Names that count as nothing, by who bears them; nil until logs wait for each other.
    private var circles: [LogTip: [OperationReference]]?
    private var hasMoved = false

    private init(_ rule: StandRule) { self.rule = rule }

    /// Places what is not settled.
    ///
    /// - Returns: whether anything stands elsewhere than before, so that the views are to be folded.
    public static func settle(
        _ space: SpaceNumber, by rule: StandRule, in store: some LogStore
    ) throws(StoreError) -> Bool {
        var settling = StandSettling(rule)
        for log in try store.logs(in: space)
        where log.lane.carriesAuthority && log.lacksOrder {
            try settling.add(log, store)
        }
        guard !settling.cursors.isEmpty else { return false }
        try settling.run(store)
        return settling.hasMoved
    }

    /// Places everything again: other logs count than before, or another part of them.
    ///
    /// - Returns: as ``settle(_:by:in:)``.
    public static func again(
        _ space: SpaceNumber, by rule: StandRule, in store: some LogStore
    ) throws(StoreError) -> Bool {
        for var log in try store.logs(in: space)
        where log.lane.carriesAuthority && log.order.settledEnd > 0 {
            log.order.settledEnd = 0
            try store.update(log)
        }
        try Causality.coverAgain(space, store: store)
        return try settle(space, by: rule, in: store)
    }

    private mutating func add(_ log: LogRecord, _ store: some LogStore) throws(StoreError) {
        // What lies below the start of the log keeps the stand it had when the log began there.
        let first = max(log.order.settledEnd, log.base)
        let start = log.holds(first) ? first : log.spans.first { $0.first > first }?.first
        guard let start else { return }
        var cursor = Cursor(
            log: log, walk: try StandWalk(at: start, in: log, rule, store), read: start, done: start
        )
        try Self.fetch(&cursor, store)
        places[log.tag] = cursors.count
        settling[log.tag] = first
        cursors.append(cursor)
    }

    private static func fetch(_ cursor: inout Cursor, _ store: some LogStore) throws(StoreError) {
        guard cursor.ahead.isEmpty, cursor.read < cursor.log.end else { return }
        cursor.ahead = try store.headers(
            in: cursor.log.number, cursor.read...UInt64.max, limit: stride
        ).reversed()
        cursor.read = cursor.ahead.first.map { $0.sequence + 1 } ?? cursor.log.end
    }

    private mutating func run(_ store: some LogStore) throws(StoreError) {
        var ready = Array(cursors.indices.reversed())
        var waiting: [LogTip: [Int]] = [:]
        var unfinished = Set(cursors.indices)
        while true {
            while let place = ready.popLast() {
                let isOver = try advance(place, &ready, &waiting, store)
                if isOver { unfinished.remove(place) }
            }
            guard let stuck = unfinished.min() else { break }
            waiting = [:]
            ready = unfinished.sorted().reversed()
            if circles == nil {
                circles = try StandCircles.names(
                    in: cursors.compactMap { cursor in cursor.next.map { (cursor.log, $0) } },
                    store)
            } else {
                // Without those names there is none; whatever this is, it ends.
                try placeNext(of: stuck, &ready, &waiting, store)
            }
        }
        for cursor in cursors {
            guard var log = try store.log(cursor.log.number) else { continue }
            log.order.settledEnd = settling[log.tag] ?? log.order.settledEnd
            if let tip = cursor.tip { log.order.tip = tip }
            try store.update(log)
        }
    }

    /// Continues with a log until it waits for another. Returns whether it is done.
    private mutating func advance(
        _ place: Int, _ ready: inout [Int], _ waiting: inout [LogTip: [Int]],
        _ store: some LogStore
    ) throws(StoreError) -> Bool {
        while let next = cursors[place].ahead.last {
            if let cause = try unplacedCause(of: next, besides: place, store) {
                waiting[cause, default: []].append(place)
                return false
            }
            try placeNext(of: place, &ready, &waiting, store)
        }
        return true
    }

    /// The first cause of an operation that is still to be placed, or nil.
    private func unplacedCause(
        of stored: StoredHeader, besides place: Int, _ store: some LogStore
    ) throws(StoreError) -> LogTip? {
        for name in names(of: stored, at: place) {
            guard let other = places[name.tag], other != place,
                let cause = cursors[other].log.counted(name), let next = cursors[other].next,
                cause.sequence >= next,
                let named = try store.header(at: cause.sequence, in: cursors[other].log.number),
                named.id.check == cause.check
            else { continue }
            return LogTip(cause)
        }
        return nil
    }

    /// What may count of that which the next operation of a log names.
    private func names(of stored: StoredHeader, at place: Int) -> [OperationReference] {
        let log = cursors[place].log
        let names = log.names(in: stored.header, at: stored.sequence)
        guard let circles,
            let void = circles[LogTip(tag: log.tag, sequence: stored.sequence)]
        else { return names }
        return names.filter { !void.contains($0) }
    }

    private mutating func placeNext(
        of place: Int, _ ready: inout [Int], _ waiting: inout [LogTip: [Int]],
        _ store: some LogStore
    ) throws(StoreError) {
        guard let stored = cursors[place].ahead.popLast() else { return }
        let log = cursors[place].log
        let sequence = stored.sequence
        if sequence > 0, sequence == log.base {
            cursors[place].walk.beginAtFloor()
        } else if sequence > cursors[place].done {
            try cursors[place].walk.beginAboveHole(at: sequence, store)
        }
        let names = names(of: stored, at: place)
        let stand = try cursors[place].walk.step(
            stored.header, naming: names, besides: settling, store)
        cursors[place].done = sequence + 1
        if stand != stored.stand {
            try store.setStand(stand, of: stored.number)
            hasMoved = hasMoved || stand.value != stored.stand.value
        }
        if cursors[place].walk.isSettled, sequence == settling[log.tag] {
            settling[log.tag] = sequence + 1
        }
        if sequence + 1 == log.end { cursors[place].tip = stand }
        ready += waiting.removeValue(forKey: LogTip(tag: log.tag, sequence: sequence)) ?? []
        try Self.fetch(&cursors[place], store)
    }
}

extension LogRecord {
    /// Whether something held of it that counts is not finally placed.
    public var lacksOrder: Bool { max(order.settledEnd, base) < end }
}
