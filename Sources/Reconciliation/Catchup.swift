public import ParleyLedger
public import ParleyWire

/// What two devices that have no link tell and send each other through a relay: one question, one
/// answer, no session. Source: `Protocol/06-relay.md`, "Repair".
public enum Catchup {
    /// What is held here of a space, as a request for the rest: for each log the place up to which
    /// nothing is missing.
    ///
    /// - Parameters:
    ///   - device: the reader, if it is a single device.
    ///   - asks: whether the receiver should send what lies above.
    public static func frontier(
        of space: SpaceRecord, _ scope: SharingScope, for device: DeviceID?, asks: Bool,
        in store: some LogStore
    ) throws(StoreError) -> Frontier {
        var entries: [Frontier.Entry] = []
        let logs = try scope.logs(of: space.number, in: store)
        for log in logs {
            guard let place = log.wholeThrough else { continue }
            let check = try store.check(at: place, of: log) ?? Check(high: 0, low: 0)
            entries.append(Frontier.Entry(tag: log.tag, sequence: place, check: check))
        }
        return Frontier(
            space: space.id, isComplete: entries.count <= Limits.frontierEntryCountMax,
            asksForMissing: asks, entries: Array(entries.prefix(Limits.frontierEntryCountMax)),
            ownTips: try device.map { device throws(StoreError) in
                try Frontier.ownTips(of: device, among: logs, in: store)
            } ?? [])
    }

    /// What a peer with this frontier lacks: control first, then every log from its lowest missing
    /// place.
    ///
    /// - Parameters:
    ///   - room: bytes that a run should keep to.
    ///   - runCountMax: how many runs at most: the rest is asked for again.
    public static func runs(
        lackedBy frontier: Frontier, of space: SpaceRecord, _ scope: SharingScope, room: Int,
        runCountMax: Int, in store: some LogStore
    ) throws(StoreError) -> [Run] {
        var ends: [LogTag: UInt64] = [:]
        for entry in frontier.entries { ends[entry.tag] = entry.sequence + 1 }
        var found: [Run] = []
        let logs = try scope.logs(of: space.number, in: store)
        for log in logs.sorted(by: { ($0.lane, $0.tag) < ($1.lane, $1.tag) }) {
            // What is held below the start of the log here is from an earlier time in the space:
            // others may lack it, and its author may be the last to hold it.
            let first = max(ends[log.tag] ?? 0, scope.first(of: log.tag))
            // A gap here as well does not hide what lies above it.
            for span in log.spans {
                var next = max(first, span.first)
                while next <= span.last, found.count < runCountMax,
                    let run = try RunReader.forward(
                        log, from: next, room: room, bringsAnchor: true, store: store)
                {
                    found.append(run)
                    next = run.last + 1
                }
            }
        }
        return found
    }

    /// What a peer requests by places, as far as it may have it and it is held here: each range
    /// from its top down.
    ///
    /// - Parameters:
    ///   - room: bytes that a run should keep to.
    ///   - runCountMax: how many runs at most: the rest is asked for again.
    public static func runs(
        answering want: Want, of space: SpaceRecord, _ scope: SharingScope, room: Int,
        runCountMax: Int, in store: some LogStore
    ) throws(StoreError) -> [Run] {
        var found: [Run] = []
        var limit = want.limit
        for range in want.ranges {
            let first = max(range.first, scope.first(of: range.tag))
            guard let log = try scope.log(range.tag, of: space.number, in: store) else { continue }
            var last = range.last
            while first <= last, limit > 0, found.count < runCountMax,
                let run = try RunReader.backward(
                    log, first...last, room: room, limit: limit, store: store)
            {
                found.append(run)
                limit -= min(limit, UInt64(run.operations.count))
                guard run.first > first else { break }
                last = run.first - 1
            }
        }
        return found
    }
}
