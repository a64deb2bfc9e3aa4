extension Analysis {
    /// Sentences of a summary, at most.
    public static let pointCountMax = 50

    /// How much a sentence of its own kind weighs more.
    private enum Weight {
        static let action = 0.6, decision = 0.9, question = 0.2, reaction = 0.15, reply = 0.1
        /// Being one of the first or the last of the conversation.
        static let edge = 0.1
        /// How much a sentence that says what another one says loses.
        static let redundancy = 0.7
    }

    /// Words of a sentence that can stand alone, at least.
    private static let pointTermCountMin = 4
    /// The length at which a sentence says enough, in words that say something.
    private static let fullTermCount = 12.0

    /// The sentences that say most of what was said, in the order of the conversation.
    ///
    /// - Parameters:
    ///   - count: how many, at most ``pointCountMax``.
    ///   - isMissed: whether only what others said is chosen.
    ///   - vectors: what messages mean, by their number: vectors of length 1, all of one dimension.
    public func points(
        count: Int, isMissed: Bool = false, vectors: [Int64: [Float]] = [:]
    ) -> [CitedSentence] {
        let count = min(max(0, count), Self.pointCountMax)
        let candidates = candidates(isMeant: !vectors.isEmpty).filter {
            !isMissed || !messages[sentences[$0.index].place].isOwn
        }
        guard count > 0, !candidates.isEmpty else { return [] }
        let graph = SentenceGraph(
            candidates.map { candidate in
                let message = messages[sentences[candidate.index].place]
                return SentenceGraph.Node(
                    terms: sentences[candidate.index].terms, author: message.author,
                    vector: vectors[message.number] ?? [])
            })
        let scores = zip(graph.centrality(), candidates).map { $0 * $1.weight }
        return diverse(scores, candidates.map(\.index), graph, count: count)
            .map { candidates[$0].index }.sorted().map { sentences[$0].cited(in: messages) }
    }

    /// How the newest messages of others begin, in the order of the conversation: of what says too little
    /// for ``points(count:isMissed:vectors:)``.
    public func newest(count: Int) -> [CitedSentence] {
        var found: [CitedSentence] = []
        for (place, message) in messages.enumerated().reversed() where !message.isOwn {
            guard found.count < count else { break }
            if let first = sentences[spans[place]].first {
                found.append(first.cited(in: messages))
            }
        }
        return found.reversed()
    }

    /// The sentences that are most like all others, and nothing else: what ``points(count:isMissed:vectors:)`` is
    /// compared with.
    public func centralSentences(count: Int) -> [CitedSentence] {
        let all = sentences.filter { $0.terms.count >= Self.pointTermCountMin }
            .prefix(SentenceGraph.countMax)
        let central = SentenceGraph(
            all.map { SentenceGraph.Node(terms: $0.terms, author: "", vector: []) }
        ).centrality()
        return zip(central, all).sorted { $0.0 > $1.0 }.prefix(max(0, count))
            .map { $0.1.cited(in: messages) }
    }

    /// What may be a point: of very many those that carry most, nobody's more than half.
    private func candidates(isMeant: Bool) -> [(index: Int, weight: Double)] {
        let countMax = isMeant ? SentenceGraph.meantCountMax : SentenceGraph.countMax
        var seen: Set<[[UInt8]]> = []
        // What is said again is said once.
        let all = sentences.indices.filter {
            sentences[$0].terms.count >= Self.pointTermCountMin
                && seen.insert(sentences[$0].terms).inserted
        }.map { (index: $0, weight: weight(of: sentences[$0])) }
        guard all.count > countMax else { return all }
        let ranked = all.sorted { ($0.weight, $0.index) > ($1.weight, $1.index) }
        let authors = ranked.map { messages[sentences[$0.index].place].author }
        return AuthorShare.kept(authors, count: countMax).map { ranked[$0] }
            .sorted { $0.index < $1.index }
    }

    /// How much a sentence weighs before it is compared with others.
    private func weight(of sentence: Sentence) -> Double {
        let message = messages[sentence.place]
        var weight = 1.0
        if action(in: sentence) != nil { weight += Weight.action }
        if decision(in: sentence) != nil { weight += Weight.decision }
        if isAsking(sentence), !isAnswered(sentence) { weight += Weight.question }
        weight += Weight.reaction * Double(min(8, max(0, message.reactionCount)))
        weight += Weight.reply * Double(min(8, replies[message.number]?.count ?? 0))
        let edge = messages.count / 20
        if sentence.place <= edge || sentence.place >= messages.count - 1 - edge {
            weight += Weight.edge
        }
        return weight * min(1, Double(sentence.terms.count) / Self.fullTermCount + 0.4)
    }

    /// The best that do not say the same, of no author more than half while others wait.
    private func diverse(
        _ scores: [Double], _ candidates: [Int], _ graph: SentenceGraph, count: Int
    ) -> [Int] {
        var left = Array(candidates.indices)
        var chosen: [Int] = []
        var nearest = [Double](repeating: 0, count: candidates.count)
        var shares: [String: Int] = [:]
        let share = max(1, count / 2)
        func author(_ index: Int) -> String { messages[sentences[candidates[index]].place].author }
        while chosen.count < count, !left.isEmpty {
            let free = left.filter { shares[author($0), default: 0] < share }
            let best = (free.isEmpty ? left : free).max { one, other in
                let (a, b) = (
                    scores[one] * (1 - Weight.redundancy * nearest[one]),
                    scores[other] * (1 - Weight.redundancy * nearest[other])
                )
                return (a, -one) < (b, -other)
            }
            guard let best else { break }
            chosen.append(best)
            shares[author(best), default: 0] += 1
            left.removeAll { $0 == best }
            for index in left { nearest[index] = max(nearest[index], graph.likeness(index, best)) }
        }
        return chosen
    }
}
