import ParleySearch
import ParleyStorage
import ParleyWords

/// Goes through what may have the words of a search, the newest first, and keeps what has them: in
/// turns so short that nobody waits for the node's actor meanwhile.
struct WordWalk: Sendable {
    /// Rows that are taken from the index at once, and texts that are opened in one turn.
    private static let chunkCount = 256, turnCount = 100
    /// Texts that one search opens at most: where it asks what their messages are or have, most are
    /// passed over at a glance.
    private static let openedCountMax = 5000, glancedCountMax = 200_000

    /// Messages that have the words, the newest first.
    private(set) var found: [Int64] = []
    /// The same as their relevance sees them.
    private(set) var texts: [Ranking.Text] = []
    /// Whether nothing more is to be found, or enough was.
    private(set) var isDone = false
    /// After how many it ended though there were more; nil where it did not.
    private(set) var cutCount: Int?

    private let query: SearchQuery
    private let filter: SearchFilter
    private let places: PlaceTable
    private let limit: Int
    private var seen: Set<Int64> = []
    private var waiting = Newest()
    private var below: Int64?
    private var isLast = false
    private var opened = 0
    private let openedCountMax: Int

    /// A walk that ends once it has found so many.
    init(_ query: SearchQuery, _ filter: SearchFilter, _ places: PlaceTable, limit: Int) {
        self.query = query
        self.filter = filter
        self.places = places
        self.limit = limit
        openedCountMax = query.asksAboutMessages ? Self.glancedCountMax : Self.openedCountMax
        guard query.narrowing.isEmpty else { return }
        // Without words everything that passes may match.
        isLast = true
        for (operation, time) in places.times.enumerated()
        where places.passes(Int64(operation), filter) == true {
            waiting.insert(Int64(operation), time)
        }
    }

    /// One turn.
    mutating func advance(_ views: Views) throws {
        let end = min(opened + Self.turnCount, openedCountMax)
        while opened < end, found.count < limit {
            let bound = isLast ? 0 : places.newest(below: below ?? Int64(places.count))
            if let hit = waiting.take(from: bound) {
                opened += 1
                try look(at: hit, views)
            } else if isLast {
                isDone = true
                return
            } else {
                try fetch(views)
            }
        }
        isDone = found.count == limit || opened == openedCountMax
        if found.count < limit, opened == openedCountMax, !isLast || !waiting.isEmpty {
            cutCount = opened
        }
    }

    private mutating func fetch(_ views: Views) throws {
        let chunk = try views.store.wordHits(
            query.narrowing, excluding: query.excluding, below: below, limit: Self.chunkCount)
        for hit in chunk where places.passes(hit, filter) ?? true {
            waiting.insert(hit, places.time(hit) ?? .max)
        }
        isLast = chunk.count < Self.chunkCount
        below = chunk.last ?? below
    }

    private mutating func look(at hit: Int64, _ views: Views) throws {
        guard let (message, text) = try views.matching(hit, query),
            seen.insert(message).inserted
        else { return }
        found.append(message)
        let (length, counts) = query.occurrences(in: text)
        texts.append(Ranking.Text(operation: message, length: length, counts: counts))
    }
}

/// What waits to be opened, the newest first.
private struct Newest: Sendable {
    private var waiting: [(time: UInt64, operation: Int64)] = []
    private var isSorted = true

    var isEmpty: Bool { waiting.isEmpty }

    mutating func insert(_ operation: Int64, _ time: UInt64) {
        waiting.append((time, operation))
        isSorted = false
    }

    /// The newest, unless all that wait are older than `bound`.
    mutating func take(from bound: UInt64) -> Int64? {
        if !isSorted {
            waiting.sort { $0 < $1 }
            isSorted = true
        }
        guard let last = waiting.last, last.time >= bound else { return nil }
        waiting.removeLast()
        return last.operation
    }
}
