/// How much of what is wanted must stand in a text that need not have all of it.
struct Covering: Equatable, Sendable {
    /// What each thing that is wanted weighs; all of them together weigh 1.
    let weights: [Double]
    /// So much of that must be there.
    let part: Double
}

extension SearchQuery {
    /// Sums of weights differ by so much from what they are.
    private static let slack = 1e-9

    /// The same query, which texts match also where words are missing, as long as those that stand there
    /// weigh enough. What was put in quotation marks must still be there.
    ///
    /// - Parameters:
    ///   - weights: what each thing that is wanted weighs, in the order of ``wantedTerms``: rare words more.
    ///   - part: how much of all must be there, above 0 and up to 1.
    public func covered(by weights: [Double], atLeast part: Double) -> SearchQuery {
        precondition(weights.count == wanted.count, "each thing that is wanted has a weight")
        let total = weights.reduce(0, +)
        guard total > 0 else { return self }
        var query = self
        query.covering = Covering(weights: weights.map { $0 / total }, part: part)
        return query
    }

    /// Whether no word of it says anything by itself.
    public var isOfFrequentWords: Bool {
        wanted.allSatisfy {
            guard case .word(let word) = $0 else { return false }
            return Language.isFrequent(word)
        }
    }

    /// Narrows it further: what is said here holds in place of what was said before.
    ///
    /// - Parameters:
    ///   - author: the one who wrote it.
    ///   - conversation: the one in which it stands.
    ///   - after: in Unix milliseconds; it was written then or later.
    ///   - before: in Unix milliseconds; it was written earlier.
    public mutating func narrow(
        author: String?, conversation: String?, after: UInt64?, before: UInt64?
    ) {
        if let author { authors = [author] }
        if let conversation { conversations = [conversation] }
        if let after { self.after = after }
        if let before { self.before = before }
    }

    /// Whether it may do without these of the things that are wanted.
    func isCovered(without missing: [Int]) -> Bool {
        guard let covering else { return missing.isEmpty }
        guard missing.allSatisfy({ $0 >= exactCount }) else { return false }
        let lacking = missing.reduce(0) { $0 + covering.weights[$1] }
        return 1 - lacking >= covering.part - Self.slack
    }

    /// Terms of the heaviest words, of which every text that covers enough has at least one.
    var coveringTerms: [[Term]] {
        guard let covering else { return wanted.flatMap(\.terms) }
        let exact = wanted.prefix(exactCount).flatMap(\.terms)
        let heaviest = wanted.indices.dropFirst(exactCount).sorted {
            covering.weights[$0] != covering.weights[$1]
                ? covering.weights[$0] > covering.weights[$1] : $0 < $1
        }
        var (group, rest) = ([] as [Term], 1.0)
        for index in heaviest {
            // What is left cannot be enough by itself.
            if rest < covering.part - Self.slack { break }
            rest -= covering.weights[index]
            group += wanted[index].terms.first ?? []
        }
        // Where phrases are enough, no word is needed beside them.
        let isNeeded = rest < covering.part - Self.slack && !group.isEmpty
        return exact + (isNeeded ? [group] : [])
    }
}
