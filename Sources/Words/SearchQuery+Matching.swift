extension SearchQuery {
    /// Terms by which an index narrows what must be looked at: of each inner list one, of the
    /// outer all. A text that matches has them; one that has them need not match.
    public var narrowing: [[Term]] {
        coveringTerms + (has.contains("link") ? [[.has("link")]] : [])
    }

    /// For each thing that is wanted, terms as in ``narrowing``.
    public var wantedTerms: [[[Term]]] { wanted.map(\.terms) }

    /// Whether a text alone does not tell if its message is what is looked for.
    public var asksAboutMessages: Bool { has.contains("reaction") || !states.isEmpty }

    /// How many words a text has, and how often each thing that is wanted stands there.
    public func occurrences(in text: String) -> (wordCount: Int, counts: [Int]) {
        let words = WordSplitter.words(of: text)
        let language = Language.ofWords(words)
        let stems = words.map { Stemmer.stem($0.folded, in: language) }
        return (words.count, wanted.map { $0.places(in: words, stems).count })
    }

    /// Terms that no matching text has, where that can be told by terms alone.
    public var excluding: [Term] {
        unwanted.flatMap { condition -> [Term] in
            guard case .word(let word) = condition else { return [] }
            return Stemmer.stems(of: word).map { .word($0) }
        }
    }

    /// What of a text matches, in bytes of its UTF-8, ascending and apart; nil where the text does
    /// not match. A search without words matches everything, with nothing marked.
    public func matches(in text: String) -> [Range<Int>]? {
        let words = WordSplitter.words(of: text)
        let language = Language.ofWords(words)
        let stems = words.map { Stemmer.stem($0.folded, in: language) }
        var (places, missing): ([Range<Int>], [Int]) = ([], [])
        for (index, condition) in wanted.enumerated() {
            let found = condition.places(in: words, stems)
            if found.isEmpty { missing.append(index) }
            places += found
            if !missing.isEmpty, covering == nil { return nil }
        }
        guard isCovered(without: missing) else { return nil }
        if unwanted.contains(where: { !$0.places(in: words, stems).isEmpty }) { return nil }
        if has.contains("link"), !Terms.hasLink(text) { return nil }
        return Self.joined(places, words)
    }

    /// Words of the question that stand in a text, to be marked where all of them need not.
    public func marks(in text: String) -> [Range<Int>] {
        let words = WordSplitter.words(of: text)
        let language = Language.ofWords(words)
        let stems = words.map { Stemmer.stem($0.folded, in: language) }
        return Self.joined(wanted.flatMap { $0.places(in: words, stems) }, words)
    }

    /// Whether a text may be found by meaning although it lacks words.
    public func allows(_ text: String) -> Bool {
        guard !unwanted.isEmpty || !has.isEmpty else { return true }
        let words = WordSplitter.words(of: text)
        let language = Language.ofWords(words)
        let stems = words.map { Stemmer.stem($0.folded, in: language) }
        if unwanted.contains(where: { !$0.places(in: words, stems).isEmpty }) { return false }
        return has.allSatisfy { $0 != "link" || Terms.hasLink(text) }
    }

    /// Places in the list of words as bytes of the text, those that touch made one.
    private static func joined(_ places: [Range<Int>], _ words: [Word]) -> [Range<Int>] {
        let ranges = places.map {
            words[$0.lowerBound].range.lowerBound..<words[$0.upperBound - 1].range.upperBound
        }
        var joined: [Range<Int>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = joined.last, range.lowerBound <= last.upperBound {
                joined[joined.count - 1] =
                    last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                joined.append(range)
            }
        }
        return joined
    }
}
