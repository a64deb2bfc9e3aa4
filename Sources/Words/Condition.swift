/// One thing that a text must have, or must not.
public enum Condition: Hashable, Sendable {
    /// A word, whatever its ending.
    case word([UInt8])
    /// A word that begins like this. The index knows three letters and more.
    case beginning([UInt8])
    /// These words, as they are and one after the other.
    case phrase([[UInt8]])

    /// Terms that a text with this has: of each inner list one, of the outer all. Empty where it
    /// has none that could be looked for.
    var terms: [[Term]] {
        switch self {
        case .word(let word):
            return [Stemmer.stems(of: word).map { .word($0) }]
        case .beginning(let letters):
            for length in Terms.beginningLengths.reversed() {
                if let beginning = Terms.beginning(of: letters, length) {
                    return [[.beginning(beginning)]]
                }
            }
            return []
        case .phrase(let words):
            return words.map { word in Stemmer.stems(of: word).map { .word($0) } }
        }
    }

    /// Where a text has it, as places in the list of its words; empty where it has not.
    func places(in words: [Word], _ stems: [[UInt8]]) -> [Range<Int>] {
        switch self {
        case .word(let word):
            let wanted = Stemmer.stems(of: word)
            return words.indices.filter { wanted.contains(stems[$0]) || words[$0].folded == word }
                .map { $0..<($0 + 1) }
        case .beginning(let letters):
            return words.indices.filter { words[$0].folded.starts(with: letters) }
                .map { $0..<($0 + 1) }
        case .phrase(let wanted):
            guard !wanted.isEmpty, words.count >= wanted.count else { return [] }
            return (0...(words.count - wanted.count)).filter { start in
                wanted.indices.allSatisfy { words[start + $0].folded == wanted[$0] }
            }.map { $0..<($0 + wanted.count) }
        }
    }
}
