public import ParleyLedger
public import ParleyRoster
public import ParleyWire

/// Messages that a screen showed, and in which version.
public struct ShownMessages: Equatable, Sendable {
    /// The messages.
    public var messages: [OperationNumber]
    /// The last operation that was stored when they were shown: later ones were not seen. Nil if
    /// they were shown as they are now.
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
    ///
    /// - Parameter ownSpace: where it is recorded whom the person blocked, and how far conversations were
    ///   read that they are out of, who write no receipts there any more.
    public static func unreadCount(
        of space: SpaceRecord, roster: Roster, ownPerson: PersonID, ownSpace: SpaceNumber? = nil,
        in store: some MergeStore
    ) throws(StoreError) -> Int {
        try UnreadPlaces(of: space, roster, ownPerson, ownSpace, in: store)
            .messageCount(of: space, in: store)
    }

    /// Whether the person marked this conversation as unread, and has read nothing in it since.
    public static func isMarkedUnread(
        _ space: SpaceID, ownSpace: SpaceNumber, in store: some MergeStore
    ) throws(StoreError) -> Bool {
        try preference(.unread, about: space.bytes, ownSpace: ownSpace, in: store) == [1]
    }

    /// The place of the oldest message of others that the person has not read; nil if there is
    /// none.
    public static func firstUnread(
        of space: SpaceRecord, roster: Roster, ownPerson: PersonID, ownSpace: SpaceNumber? = nil,
        in store: some MergeStore
    ) throws(StoreError) -> OrderKey? {
        let unread = try UnreadPlaces(of: space, roster, ownPerson, ownSpace, in: store)
        var first: OrderKey?
        try unread.each(of: space, in: store) { first = $0.order }
        return first
    }

    /// Up to where a conversation that the person is out of is read once these messages were shown: all
    /// that stands there or above. It moves past nothing that nobody saw; nil where it does not move.
    public static func readOutside(
        reading shown: ShownMessages, in space: SpaceRecord, roster: Roster, ownPerson: PersonID,
        ownSpace: SpaceNumber, _ store: some MergeStore
    ) throws(StoreError) -> UInt64? {
        let unread = try UnreadPlaces(of: space, roster, ownPerson, ownSpace, in: store)
        let messages = Set(shown.messages)
        var end: UInt64?
        var isSeen = false
        // The newest come first: one that was not shown excludes what is below it.
        try unread.each(of: space, in: store) { row in
            if messages.contains(row.operation) {
                end = end ?? row.order.stand
                isSeen = true
            } else {
                isSeen = false
                end = row.order.stand - min(1, row.order.stand)
            }
        }
        // The first that is not read was not among them.
        return isSeen ? end : nil
    }

    /// What a receipt must say so that these messages, as they were shown, count as read; nothing
    /// for logs of which it was said already. A log is reported as far as one receipt can.
    ///
    /// - Parameters:
    ///   - isTold: whether others are told; else only own devices are, and it is counted apart.
    ///   - lacking: places of which the words have not come: nobody has read those.
    ///   - ownSpace: where it is recorded whom the person blocked: they are told nothing.
    public static func progress(
        reading shown: ShownMessages, in space: SpaceRecord, roster: Roster, by device: DeviceID,
        isTold: Bool = true, lacking: [LogTag: PlaceSet] = [:], ownSpace: SpaceNumber? = nil,
        _ store: some MergeStore
    ) throws(StoreError) -> [Receipts.Progress] {
        guard let ownPerson = roster.person(of: device) else { return [] }
        let own = try OwnReading(
            in: space, on: roster.everyDevice(of: ownPerson), ownSpace: ownSpace, store)
        var read: [LogNumber: [UInt64]] = [:]
        for number in Set(shown.messages).sorted() {
            guard let stored = try store.operation(number), let log = try store.log(stored.log),
                log.space == space.number
            else { continue }
            read[log.number, default: []].append(stored.sequence)
            let edits = try Target.notes(
                store.entries(
                    about: .operation(log.tag, stored.sequence), in: space.number, field: .edit),
                about: stored.id.check, in: store)
            for edit in edits where edit.operation <= shown.last ?? edit.operation {
                guard let log = try store.log(edit.order.tag, in: space.number) else { continue }
                read[log.number, default: []].append(edit.order.sequence)
            }
        }
        var progress: [Receipts.Progress] = []
        for number in read.keys.sorted() {
            guard let log = try store.log(number), log.lane == .content,
                let author = roster.person(of: log.device), author != ownPerson,
                try !isHidden(author, in: space, ownSpace: ownSpace, store)
            else { continue }
            let known = try own.places(of: log.tag, store)
            let lacking = lacking[log.tag] ?? PlaceSet()
            var places = PlaceSet()
            for place in read[number] ?? []
            where !known.contains(place) && !lacking.contains(place) {
                places.insert(place..<place + 1)
            }
            guard !places.isEmpty else { continue }
            let said =
                try isTold
                ? store.placesRead(of: log.tag, on: [device], in: space.number)
                : own.unsaid(of: log.tag, on: device, store)
            var told = said
            told.tell(try joined(places, with: said, lacking: lacking, in: log, store))
            if told != said { progress.append(.init(tag: log.tag, places: told)) }
        }
        return progress
    }

    /// The places, and those between them, and between them and reported ones, that hold nothing to
    /// read.
    private static func joined(
        _ places: PlaceSet, with said: PlaceSet, lacking: PlaceSet, in log: LogRecord,
        _ store: some MergeStore
    ) throws(StoreError) -> PlaceSet {
        var joined = said
        joined.formUnion(places)
        guard let end = places.ranges.last?.upperBound else { return joined }
        for gap in joined.gaps(in: min(log.base, end)..<end).flatMap({ lacking.gaps(in: $0) })
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
            // A message that nobody accepts, since its author was out, was not shown; it may count again.
            let isText = [.text, .edit].contains(stored.operation.header.kind)
            isQuiet = !isText || stored.operation.isErased
            return isQuiet
        }
        return isQuiet
    }
}

/// The places of others' logs of content that a person has not read.
public struct UnreadPlaces {
    private var gaps: [(log: LogNumber, gaps: [Range<UInt64>])] = []
    private var byTag: [LogTag: [Range<UInt64>]] = [:]
    /// Up to where everything counts as read, since the person is out and read so far; nil where places
    /// alone count.
    private(set) var end: UInt64?

    /// What this person has not read of a space.
    public init(
        of space: SpaceRecord, roster: Roster, ownPerson: PersonID, ownSpace: SpaceNumber?,
        in store: some MergeStore
    ) throws(StoreError) {
        try self.init(of: space, roster, ownPerson, ownSpace, in: store)
    }

    init(
        of space: SpaceRecord, _ roster: Roster, _ ownPerson: PersonID, _ ownSpace: SpaceNumber?,
        in store: some MergeStore
    ) throws(StoreError) {
        let own = try OwnReading(
            in: space, on: roster.everyDevice(of: ownPerson), ownSpace: ownSpace, store)
        for log in try store.logs(in: space.number) where log.lane == .content && log.end > 0 {
            guard let person = roster.person(of: log.device), person != ownPerson else {
                continue
            }
            let read = try own.places(of: log.tag, store)
            let gaps = read.gaps(in: 0..<log.end)
            guard !gaps.isEmpty,
                try !Overview.isHidden(person, in: space, ownSpace: ownSpace, store)
            else { continue }
            self.gaps.append((log.number, gaps))
            byTag[log.tag] = gaps
        }
        // A person who is in again writes receipts again, and they alone count.
        guard !gaps.isEmpty, let ownSpace, roster.member(ownPerson) == nil else { return }
        end = try Overview.number(
            .readOutside, about: space.id.bytes, ownSpace: ownSpace, in: store)
    }

    /// How many messages are not read.
    func messageCount(of space: SpaceRecord, in store: some MergeStore) throws(StoreError) -> Int {
        guard end != nil else { return try count(in: store) }
        var count = 0
        try each(of: space, in: store) { _ in count += 1 }
        return count
    }

    /// What is not read, by log.
    var sortedGaps: [(tag: LogTag, gap: ClosedRange<UInt64>)] {
        byTag.sorted { $0.key < $1.key }.flatMap { tag, gaps in
            gaps.map { (tag: tag, gap: $0.closed) }
        }
    }

    /// How many messages of others mention the person at these places.
    public func mentionCount(
        of space: SpaceRecord, in store: some MergeStore
    ) throws(StoreError) -> Int {
        var count = 0
        for (tag, gap) in sortedGaps {
            count += try store.mentionCount(on: tag, gap, above: end ?? 0, in: space.number)
        }
        return count
    }

    /// Whether the operation at a place is not read.
    public func contains(_ order: OrderKey) -> Bool {
        (byTag[order.tag]?.contains { $0.contains(order.sequence) } ?? false)
            && end.map { order.stand > $0 } ?? true
    }

    /// How many messages stand at these places.
    func count(in store: some MergeStore) throws(StoreError) -> Int {
        var count = 0
        for (log, gaps) in gaps {
            for gap in gaps { count += try store.messageCount(in: log, gap.closed) }
        }
        return count
    }

    /// Shows each message that is not read, the newest first.
    func each(
        of space: SpaceRecord, in store: some MergeStore, _ body: (MessageRow) -> Void
    ) throws(StoreError) {
        var left = try count(in: store)
        var before: OrderKey?
        while left > 0 {
            let rows = try store.messages(in: space.number, before: before, limit: 500)
            guard let last = rows.last else { return }
            for row in rows where !row.flags.contains(.deleted) && holds(row.order) {
                left -= 1
                if let end, row.order.stand <= end { return }
                body(row)
            }
            before = last.order
        }
    }

    private func holds(_ order: OrderKey) -> Bool {
        byTag[order.tag]?.contains { $0.contains(order.sequence) } ?? false
    }
}
