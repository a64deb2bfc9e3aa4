import ParleyLedger
import ParleyNodeCore
import ParleySearch
import ParleyStorage
import ParleyWords

/// Answers searches. What it needs in memory is loaded by the first and dropped some idle minutes
/// after the last.
actor SearchDesk {
    /// After how many idle seconds memory is released.
    static let idleSeconds = 300
    /// How long a search waits at most for messages that are not indexed yet: if nobody else
    /// indexes them, and if the node does so anyway.
    private static let patience: Duration = .seconds(2), patienceOfNode: Duration = .milliseconds(5)
    /// Messages and operations whose places are read in one turn of the node's actor.
    private static let placeCount = 8192, datedPlaceCount = 1024, newPlaceCount = 256

    let running: RunningNode
    let indexer: SearchIndexer
    private var places: PlaceTable?
    /// Vectors in memory.
    var tables: [ModelPackage: LoadedVectors] = [:]
    /// Those that are being read into memory, and those of which that failed.
    var loads: [ModelPackage: Task<Void, any Error>] = [:]
    var failed: Set<ModelPackage> = []
    /// How often everything was dropped.
    private(set) var round = 0
    private var searchCount = 0

    init(running: RunningNode, indexer: SearchIndexer) {
        self.running = running
        self.indexer = indexer
    }

    // MARK: Searching

    /// Answers a search.
    func find(_ request: SearchMessages) async throws -> SearchReply {
        guard (1...200).contains(request.limit) else {
            throw NodeError("bad-limit", "A search can find from 1 to 200 messages.")
        }
        return try await find(try Self.query(request), request)
    }

    func find(_ query: SearchQuery, _ request: SearchMessages) async throws -> SearchReply {
        let start = ContinuousClock.now
        let notes = try await settle()
        let filter = try await running.read { try $0.filter(of: query) }
        let places = try await table(isDated: filter.isAboutTime)
        let meant = try await opinions(on: query, filter, places, isTyping: request.isTyping)
        let time = SystemClock.now.wall
        // Where nothing but words counts, those that are shown are enough.
        var wordCount = meant.opinions.isEmpty ? request.limit : Self.wordCount
        while true {
            let words = try await words(of: query, filter, places, request.order, wordCount)
            let found = Ranking.fused(words: words.found, opinions: meant.opinions) { operation in
                places.time(operation).map { Double(time) / 864e5 - Double($0) / 864e5 }
            }
            let hits = try await hits(found, query, filter, meant.sources, request)
            if hits.count == request.limit || words.found.count < wordCount
                || wordCount >= Self.relevantCount
            {
                return SearchReply(
                    hits: hits, semantic: meant.state,
                    notes: notes + meant.notes
                        + Self.note(words, isFull: hits.count == request.limit),
                    milliseconds: Self.milliseconds(since: start))
            }
            // Some of them say something else by now.
            wordCount *= 5
        }
    }

    /// That more may match than were looked at, where nobody found enough among these.
    static func note(_ words: FoundByWords, isFull: Bool) -> [String] {
        guard let count = words.cutCount, !isFull else { return [] }
        return [
            "Only the newest \(count) messages that may match were looked at: add a word, in:, "
                + "from:, before: or after: to find older ones."
        ]
    }

    /// The newest so many that have all words are ranked, by their age or their relevance.
    static let wordCount = 200, relevantCount = 1000

    /// Hits as they are shown, until there are enough.
    func hits(
        _ found: [Ranking.Found], _ query: SearchQuery, _ filter: SearchFilter,
        _ sources: [Int64: [Int64]], _ request: SearchMessages
    ) async throws -> [SearchHit] {
        try await running.read { views in
            var hits: [SearchHit] = []
            var byteCount = 0
            for entry in found {
                if hits.count == request.limit || byteCount > MessagePage.byteCountMax { break }
                guard
                    let shown = try views.hit(
                        entry.operation, query, filter, isByWords: entry.meaningRank == nil)
                else { continue }
                let isMeant =
                    try entry.meaningRank != nil
                    && views.says(shown.message, sources[entry.operation] ?? [])
                guard isMeant || entry.wordRank != nil else { continue }
                // It contains its text twice.
                byteCount += 2 * shown.message.lineByteCount
                hits.append(
                    SearchHit(
                        message: shown.message, conversation: shown.name,
                        reason: !isMeant ? "word" : entry.wordRank == nil ? "meaning" : "both",
                        pieces: shown.pieces, cursor: shown.cursor,
                        explanation: request.isExplained ? .init(entry) : nil))
            }
            return hits
        }
    }

    /// Messages that have all words, in the order that was asked for.
    private func words(
        of query: SearchQuery, _ filter: SearchFilter, _ places: PlaceTable,
        _ order: SearchMessages.Order, _ count: Int
    ) async throws -> FoundByWords {
        if query.wanted.isEmpty, !query.question.isEmpty { return FoundByWords() }
        let walk = try await walk(
            query, filter, places, limit: order == .newest ? count : Self.relevantCount)
        switch order {
        case .newest: return FoundByWords(found: walk.found, cutCount: walk.cutCount)
        case .relevance:
            let (holders, count) = try await holders(of: query)
            return FoundByWords(
                found: Ranking.byRelevance(walk.texts, holders: holders, among: count),
                cutCount: walk.cutCount)
        }
    }

    /// Goes through what may match, turn by turn, until so many are found.
    func walk(
        _ query: SearchQuery, _ filter: SearchFilter, _ places: PlaceTable, limit: Int
    ) async throws -> WordWalk {
        var walk = WordWalk(query, filter, places, limit: limit)
        while !walk.isDone {
            // Who asked may be gone.
            try Task.checkCancellation()
            let before = walk
            walk = try await running.read { views in
                var walk = before
                try walk.advance(views)
                return walk
            }
        }
        return walk
    }

    /// In how many texts each word of a query stands, and how many texts there may be.
    func holders(of query: SearchQuery) async throws -> (holders: [Int], count: Int) {
        try await running.read { views in
            (
                try query.wantedTerms.map { groups in
                    try groups.map { try views.store.textCounts(of: $0).reduce(0, +) }.min() ?? 0
                }, views.store.operationCount
            )
        }
    }

    static func query(_ request: SearchMessages) throws -> SearchQuery {
        do {
            return try SearchQuery(
                request.text, at: SystemClock.now.wall, isTyping: request.isTyping)
        } catch {
            throw NodeError(error)
        }
    }

    /// Lets the index catch up, and says where it could not.
    func settle() async throws -> [String] {
        let isDone = try await SearchIndexer.followWords(
            running, atMost: indexer.isFollowing ? Self.patienceOfNode : Self.patience)
        let state = try await running.read { views in
            (try views.store.wordIndexState(), views.store.operationCount)
        }
        indexer.poke()
        if state.0.isOff {
            return ["The word index is off, so nothing is found by words."]
        }
        if isDone { return [] }
        let through = state.0.isCurrent ? state.0.through : 0
        let part = Self.percent(through, of: state.1)
        return ["\(part) % of the messages is indexed; \(await outlook())."]
    }

    /// How much is indexed if not everything is: the rest is not nothing, however little.
    static func percent(_ through: Int64, of held: Int) -> Int {
        min(99, 100 * Int(through) / max(1, held))
    }

    /// What happens to messages that are not indexed yet.
    private func outlook() async -> String {
        guard let bar = await running.bar else { return "the rest follows" }
        return "the rest is not found, and nothing more is indexed here: \(bar.reason)"
    }

    // MARK: What is in memory

    /// The places of messages, with those that arrived since it was last used.
    ///
    /// - Parameter isDated: whether the times that they show are needed as well.
    func table(isDated: Bool) async throws -> PlaceTable {
        searchCount += 1
        letGoLater(searchCount)
        var table: PlaceTable
        if let places, places.isDated || !isDated {
            table = places
        } else {
            table = try await readPlaces(isDated: isDated)
        }
        while true {
            let from = Int64(table.count - 1)
            let more = try await running.read {
                try $0.store.messagePlaces(after: from, limit: Self.newPlaceCount)
            }
            if more.through == from { break }
            table.grow(to: Int(more.through) + 1)
            for place in more.places { table.add(place) }
        }
        places = table
        return table
    }

    private func readPlaces(isDated: Bool) async throws -> PlaceTable {
        var table = PlaceTable(
            operationCount: try await running.read { $0.store.operationCount }, isDated: isDated)
        var cursor: MessageCursor? = .start
        while let from = cursor {
            let found = try await running.read { views in
                var places: [MessagePlace] = []
                let next = try views.store.eachMessagePlace(
                    after: from, limit: isDated ? Self.datedPlaceCount : Self.placeCount,
                    isDated: isDated
                ) { places.append($0) }
                return (places, next)
            }
            for place in found.0 { table.add(place) }
            cursor = found.1
        }
        return table
    }

    private func letGoLater(_ count: Int) {
        Task { [weak self] in
            // Cancelled only with the process: then there is nothing to drop.
            try? await Task.sleep(for: .seconds(Self.idleSeconds))
            await self?.letGo(unlessAfter: count)
        }
    }

    private func letGo(unlessAfter count: Int) {
        if searchCount == count { forget() }
    }

    /// Drops everything that can be read again.
    func forget() {
        places = nil
        tables = [:]
        round += 1
        let indexer = indexer
        Task { await indexer.letGo() }
    }

    /// Bytes in memory, by model, and those of the places.
    var memory: (places: Int, models: [ModelPackage: Int]) {
        (places?.byteCount ?? 0, tables.mapValues { $0.table.byteCount })
    }

    static func milliseconds(since start: ContinuousClock.Instant) -> Double {
        let time = start.duration(to: .now).components
        let whole = Double(time.seconds) * 1e3 + Double(time.attoseconds) / 1e15
        return (whole * 1e3).rounded() / 1e3
    }
}

/// Messages that have the words.
struct FoundByWords {
    var found: [Int64] = []
    /// How many were looked at where there were more; nil where all were, or enough found.
    var cutCount: Int?
}

extension NodeError {
    /// Why a text is no search.
    init(_ refusal: SearchQuery.Refusal) {
        switch refusal {
        case .tooLong:
            self.init(
                "bad-search", "A search can have at most \(SearchQuery.byteCountMax) bytes.")
        case .empty:
            self.init("bad-search", "Say what to find.")
        case .missing(let key):
            self.init("bad-search", "There is nothing after “\(key):”.")
        case .noDay(let text):
            self.init(
                "bad-search", "“\(text)” is not a day.",
                hint: "Write it like 2026-01-31, 2026-01, 2026, today, yesterday or 7d.")
        case .unknownHas(let text):
            self.init(
                "bad-search", "There is no “has:\(text)”.",
                hint: "There are has:link, for messages with a web address, and has:reaction.")
        case .unknownState(let text):
            self.init(
                "bad-search", "There is no “is:\(text)”.",
                hint: "There are is:reply, for messages that answer another, and is:edited.")
        }
    }
}

extension SearchHit.Explanation {
    init(_ found: Ranking.Found) {
        self.init(
            wordRank: found.wordRank, meaningRank: found.meaningRank,
            cosines: found.cosines.mapValues { Double($0) },
            deviation: found.deviation.map { Double($0) }, recency: found.recency,
            score: found.score)
    }
}
