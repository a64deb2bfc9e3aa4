public import ParleyLedger
public import ParleyRoster
public import ParleyWire

/// Messages that a screen showed, and what they looked like there.
public struct ShownMessages: Equatable, Sendable {
    /// The messages.
    public var messages: [OperationNumber]
    /// The last operation that was stored when they were shown: what came later was not seen. Nil
    /// where they were shown as they are now.
    public var last: OperationNumber?

    /// These messages, as they looked when this was the last operation.
    public init(_ messages: [OperationNumber], last: OperationNumber? = nil) {
        self.messages = messages
        self.last = last
    }
}

/// What a person has read. Messages and edits are read; everything else is not.
extension Overview {
    /// So many places between two that were read are looked at, to tell whether anything between
    /// them can be read.
    private static let betweenCountMax: UInt64 = 4096

    /// How many messages of others the person has not read.
    ///
    /// Counted by log, not by position: a late message stays unread wherever it is shown.
    public static func unreadCount(
        of space: SpaceRecord, roster: Roster, ownPerson: PersonID, in store: some MergeStore
    ) throws(StoreError) -> Int {
        let unread = try UnreadPlaces(of: space, roster, ownPerson, in: store)
        var count = 0
        for (log, gaps) in unread.gaps {
            for gap in gaps { count += try store.messageCount(in: log, gap.closed) }
        }
        return count
    }

    /// Where the oldest message of others stands that the person has not read; nil where there is
    /// none.
    public static func firstUnread(
        of space: SpaceRecord, roster: Roster, ownPerson: PersonID, in store: some MergeStore
    ) throws(StoreError) -> OrderKey? {
        let unread = try UnreadPlaces(of: space, roster, ownPerson, in: store)
        var left = try unreadCount(
            of: space, roster: roster, ownPerson: ownPerson, in: store)
        var before: OrderKey?
        var first: OrderKey?
        while left > 0 {
            let rows = try store.messages(in: space.number, before: before, limit: 500)
            guard let last = rows.last else { break }
            for row in rows where !row.flags.contains(.deleted) && unread.contains(row.order) {
                first = row.order
                left -= 1
            }
            before = last.order
        }
        return first
    }

    /// What a receipt must say so that these messages, as they were shown, count as read; nothing of
    /// logs of which it is said. A log is told as far as one receipt can.
    public static func progress(
        reading shown: ShownMessages, in space: SpaceRecord, roster: Roster, by device: DeviceID,
        _ store: some MergeStore
    ) throws(StoreError) -> [Receipts.Progress] {
        guard let ownPerson = roster.person(of: device) else { return [] }
        let own = roster.everyDevice(of: ownPerson)
        var read: [LogNumber: [UInt64]] = [:]
        for number in Set(shown.messages).sorted() {
            guard let stored = try store.operation(number), let log = try store.log(stored.log),
                log.space == space.number
            else { continue }
            read[log.number, default: []].append(stored.sequence)
            let edits = try store.entries(
                about: .operation(log.tag, stored.sequence), in: space.number, field: .edit)
            for edit in edits where edit.operation <= shown.last ?? edit.operation {
                guard let log = try store.log(edit.order.tag, in: space.number) else { continue }
                read[log.number, default: []].append(edit.order.sequence)
            }
        }
        var progress: [Receipts.Progress] = []
        for number in read.keys.sorted() {
            guard let log = try store.log(number), log.lane == .content,
                let author = roster.person(of: log.device), author != ownPerson
            else { continue }
            let known = try store.placesRead(of: log.tag, on: own, in: space.number)
            var places = PlaceSet()
            for place in read[number] ?? [] where !known.contains(place) {
                places.insert(place..<place + 1)
            }
            guard !places.isEmpty else { continue }
            let said = try store.placesRead(of: log.tag, on: [device], in: space.number)
            var told = said
            told.tell(try joined(places, with: said, in: log, store))
            if told != said { progress.append(.init(tag: log.tag, places: told)) }
        }
        return progress
    }

    /// The places, and those between them, and between them and what was told, that hold nothing to
    /// read.
    private static func joined(
        _ places: PlaceSet, with said: PlaceSet, in log: LogRecord, _ store: some MergeStore
    ) throws(StoreError) -> PlaceSet {
        var joined = said
        joined.formUnion(places)
        guard let end = places.ranges.last?.upperBound else { return joined }
        for gap in joined.gaps(in: min(log.base, end)..<end)
        where try holdsNothingToRead(gap, in: log, store) {
            joined.insert(gap)
        }
        return joined
    }

    private static func holdsNothingToRead(
        _ range: Range<UInt64>, in log: LogRecord, _ store: some MergeStore
    ) throws(StoreError) -> Bool {
        guard range.upperBound - range.lowerBound <= betweenCountMax,
            log.spans.contains(where: {
                $0.first <= range.lowerBound && range.upperBound <= $0.last + 1
            }), try store.messageCount(in: log.number, range.closed) == 0
        else { return false }
        var isQuiet = true
        try store.eachOperation(of: log, in: range) { stored in
            isQuiet = stored.operation.header.kind != .edit || stored.operation.isErased
            return isQuiet
        }
        return isQuiet
    }
}

/// The places of others' logs of content that the person has not read.
private struct UnreadPlaces {
    private(set) var gaps: [(log: LogNumber, gaps: [Range<UInt64>])] = []
    private var byTag: [LogTag: [Range<UInt64>]] = [:]

    init(
        of space: SpaceRecord, _ roster: Roster, _ ownPerson: PersonID, in store: some MergeStore
    ) throws(StoreError) {
        let own = roster.everyDevice(of: ownPerson)
        for log in try store.logs(in: space.number) where log.lane == .content && log.end > 0 {
            guard let person = roster.person(of: log.device), person != ownPerson else {
                continue
            }
            let read = try store.placesRead(of: log.tag, on: own, in: space.number)
            let gaps = read.gaps(in: 0..<log.end)
            guard !gaps.isEmpty else { continue }
            self.gaps.append((log.number, gaps))
            byTag[log.tag] = gaps
        }
    }

    func contains(_ order: OrderKey) -> Bool {
        byTag[order.tag]?.contains { $0.contains(order.sequence) } ?? false
    }
}
