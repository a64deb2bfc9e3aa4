import ParleySearch
import ParleyWords

extension SearchDesk {
    /// What stands of a question in a text that may answer it: words that weigh so much of all, rare ones
    /// more. Source: `Protocol/10-search.md`, "Questions", with the figures that it was chosen by.
    static let coveredPart = 0.5
    /// What has none of the words answers only if a model finds it this near: what is merely about
    /// something alike is no answer. Source: as above.
    static let cosineMin: Float = 0.35

    /// Messages that may answer a question, the best first: those that have all of its words or the telling
    /// ones, by their relevance, and those of about its meaning.
    func passages(for question: SearchQuery, limit: Int) async throws -> SearchReply {
        let start = ContinuousClock.now
        let notes = try await settle()
        let filter = try await running.read { try $0.filter(of: question) }
        let places = try await table(isDated: filter.isAboutTime)
        let meant = try await opinions(on: question, filter, places, isTyping: false)
        let (words, loose) = try await relevant(question, filter, places)
        // How old an answer is says nothing of whether it is one.
        let found = Ranking.fused(words: words.found, opinions: meant.opinions) { _ in nil }
            .filter { $0.wordRank != nil || $0.cosines.values.contains { $0 >= Self.cosineMin } }
        let hits = try await hits(
            found, loose, filter, meant.sources, SearchMessages("", limit: limit))
        return SearchReply(
            hits: hits, semantic: meant.state,
            notes: notes + meant.notes + Self.note(words, isFull: hits.count == limit),
            milliseconds: Self.milliseconds(since: start))
    }

    /// Messages with enough of the words of a question, the most relevant first, and the query by which
    /// they match.
    private func relevant(
        _ question: SearchQuery, _ filter: SearchFilter, _ places: PlaceTable
    ) async throws -> (FoundByWords, SearchQuery) {
        guard !question.wanted.isEmpty else { return (FoundByWords(), question) }
        let (holders, count) = try await holders(of: question)
        // Those that have all words come first, however many newer ones have some.
        let whole = try await walk(question, filter, places, limit: Self.relevantCount)
        var (texts, cutCount) = (whole.texts, whole.cutCount)
        var loose = question
        if question.wanted.count > 1, !question.isOfFrequentWords {
            // A word that nobody wrote weighs most: what it asks for is not here.
            let weights = Ranking.rarity(holders: holders, among: count)
            loose = question.covered(by: weights, atLeast: Self.coveredPart)
            let more = try await walk(loose, filter, places, limit: Self.relevantCount)
            let known = Set(texts.map(\.operation))
            texts += more.texts.filter { !known.contains($0.operation) }
            cutCount = cutCount ?? more.cutCount
        }
        let found = Ranking.byRelevance(texts, holders: holders, among: count)
        return (FoundByWords(found: found, cutCount: cutCount), loose)
    }
}
