import ParleyConversation
public import ParleyLedger
import ParleyWire

/// What the log of events asks of a store: rows that are numbered from 1 without a hole, of which
/// the oldest go.
public protocol EventStore: AnyObject {
    /// The operation that was stored last; 0 before the first.
    var lastOperation: OperationNumber { get }
    /// The number that the next entry gets; the first of all is 1.
    var nextEventEntry: UInt64 { get }
    /// Keeps an entry under that number.
    func appendEventEntry(_ content: [UInt8]) throws(StoreError)
    /// At most `limit` entries from this number on, ascending.
    func eventEntries(
        from number: UInt64, limit: Int
    ) throws(StoreError) -> [(number: UInt64, content: [UInt8])]
    /// Drops the entries below this number.
    func dropEventEntries(below number: UInt64) throws(StoreError)
}

/// The event log: permanent changes, in order, written by the same transaction that made them.
///
/// A reader holds a cursor, which is valid over restarts of both sides. Nothing is left out
/// silently: if events after a cursor no longer exist, the page says so. Source:
/// `Protocol/Decisions/0011-event-log.md`.
public enum EventLog {
    /// So many entries are kept, and at most ``dropCount`` more; an entry is what one step changed.
    public static let entryCountMax: UInt64 = 65_536
    /// So many go at once.
    static let dropCount: UInt64 = 256

    /// The cursor after everything that has happened.
    public static func end(in store: some EventStore) throws(StoreError) -> EventCursor {
        let next = store.nextEventEntry
        guard let last = try entry(next - 1, in: store) else { return .start }
        return EventCursor(generation: last.generation, entry: next)
    }

    /// The events after a cursor that was returned in this process, at any time, or never.
    public static func resume(
        after cursor: EventCursor, limit: Int, in store: some EventStore
    ) throws(StoreError) -> EventPage {
        let (begin, gap) = try place(of: cursor, in: store)
        var page = try page(from: begin, limit: limit, in: store)
        if let gap { page.gap = gap }
        return page
    }

    /// The events after a cursor of a page from this process.
    public static func page(
        from cursor: EventCursor, limit: Int, in store: some EventStore
    ) throws(StoreError) -> EventPage {
        var page = EventPage(begin: cursor, cursor: cursor)
        while page.events.count < limit {
            guard let row = try store.eventEntries(from: page.cursor.entry, limit: 1).first
            else {
                page.isEnd = true
                break
            }
            let entry = try decoded(row.content)
            if row.number != page.cursor.entry {
                // The oldest have gone since.
                page.cursor = EventCursor(generation: entry.generation, entry: row.number)
                (page.begin, page.gap) = (page.cursor, .forgotten)
            }
            let (skip, count) = (page.cursor.skip, entry.eventCount)
            let events = entry.events(from: skip, limit: limit - page.events.count)
            for (offset, event) in events.enumerated() {
                let told = skip + offset + 1
                page.cursor = EventCursor(
                    generation: entry.generation,
                    entry: told < count ? row.number : row.number + 1,
                    skip: told < count ? told : 0)
                page.events.append((event, page.cursor))
            }
            // No reader was told more of an entry than it contains.
            if events.isEmpty {
                page.cursor = EventCursor(generation: entry.generation, entry: row.number + 1)
            }
        }
        if !page.isEnd { page.isEnd = page.cursor.entry >= store.nextEventEntry }
        return page
    }

    /// Where to continue after a cursor, and why earlier events are not reported.
    private static func place(
        of cursor: EventCursor, in store: some EventStore
    ) throws(StoreError) -> (EventCursor, EventGap?) {
        guard let row = try store.eventEntries(from: 1, limit: 1).first else {
            return (.start, cursor == .start ? nil : .foreign)
        }
        let (oldest, next) = (row.number, store.nextEventEntry)
        let first = try decoded(row.content).generation
        let begin = EventCursor(generation: first, entry: oldest)
        if cursor == .start { return (begin, oldest > 1 ? .forgotten : nil) }
        for told in [cursor.lastTold, cursor.entry] where (oldest..<next).contains(told) {
            // Of a page that began with the oldest, the first entry itself tells the generation.
            if try entry(told, in: store)?.generation == cursor.generation { return (cursor, nil) }
        }
        // How far that generation goes here, found by halves: their numbers ascend.
        var (low, high) = (oldest, next)
        while low < high {
            let middle = low + (high - low) / 2
            let found = try entry(middle, in: store)?.generation ?? .max
            if found >> 32 <= cursor.generation >> 32 { low = middle + 1 } else { high = middle }
        }
        if low > oldest, try entry(low - 1, in: store)?.generation == cursor.generation,
            cursor.lastTold >= low
        {
            return (EventCursor(generation: cursor.generation, entry: low), .undone)
        }
        // A generation above all stored ones is not of this store, nor is one between them.
        let isOlder = cursor.generation >> 32 <= first >> 32 && cursor.lastTold < oldest
        return (begin, isOlder ? .forgotten : .foreign)
    }

    static func entry(
        _ number: UInt64, in store: some EventStore
    ) throws(StoreError) -> EventEntry? {
        guard number > 0, let row = try store.eventEntries(from: number, limit: 1).first,
            row.number == number
        else { return nil }
        return try decoded(row.content)
    }

    private static func decoded(_ content: [UInt8]) throws(StoreError) -> EventEntry {
        do {
            return try EventEntry(bytes: content)
        } catch {
            throw StoreError(.corrupt, attempt: "reading what happened", detail: "\(error)")
        }
    }
}

extension NodeCore {
    /// Stores what a step changed permanently, in the transaction of the step itself.
    ///
    /// - Parameter lastBefore: the last operation that was stored before it.
    mutating func recordEvents(since lastBefore: OperationNumber, _ turn: inout some Turn)
        throws(StoreError)
    {
        var gathering = EventGathering(after: lastBefore)
        for case .changed(let changes) in turn.effects {
            for change in changes { gathering.add(change) }
        }
        guard !gathering.items.isEmpty else { return }
        let generation = try currentGeneration(&turn)
        var items = gathering.items[...]
        while !items.isEmpty {
            let part = items.prefix(EventGathering.itemCountMax)
            items = items.dropFirst(part.count)
            let number = turn.store.nextEventEntry
            try turn.store.appendEventEntry(
                EventEntry(generation: generation, items: Array(part)).bytes)
            if number % EventLog.dropCount == 0, number > EventLog.entryCountMax {
                try turn.store.dropEventEntries(below: number - EventLog.entryCountMax + 1)
            }
        }
    }

    /// Begins the log of a store that already contains conversations, for example from a restored
    /// backup: a reader that starts at the beginning learns that each has content.
    func tellWhatWasThere(in store: some Store, _ turn: inout some Turn) throws(StoreError) {
        guard turn.store.nextEventEntry == 1 else { return }
        for space in try turn.store.spaces() where space.kind != .own {
            if try turn.store.messages(in: space.number, before: nil, limit: 1).isEmpty { continue }
            turn.emit(.changed([.refolded(space.number)]))
        }
    }

    /// Distinguishes entries of this run of the node from those that a power loss undid, and from
    /// those of another run on a copy of this store: both clocks, at the time of its first entry.
    /// That entry is on disk before any reader gets it.
    private mutating func currentGeneration(_ turn: inout some Turn) throws(StoreError) -> UInt64 {
        if let eventGeneration { return eventGeneration }
        let last =
            try EventLog.entry(turn.store.nextEventEntry - 1, in: turn.store)?.generation ?? 0
        let mixed =
            (turn.now.wall &* 0x9E37_79B9_7F4A_7C15) ^ (turn.now.monotonic &* 0xBF58_476D_1CE4_E5B9)
        let generation = (last >> 32 + 1) << 32 | mixed >> 32
        eventGeneration = generation
        turn.emit(.commitFully)
        return generation
    }
}
