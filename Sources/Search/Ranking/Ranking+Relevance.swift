import Glibc

extension Ranking {
    /// A text as its relevance sees it.
    public struct Text: Equatable, Sendable {
        /// The operation.
        public var operation: Int64
        /// Words of the text.
        public var length: Int
        /// How often each of the words that are looked for stands there.
        public var counts: [Int]
        /// A text with these fields.
        public init(operation: Int64, length: Int, counts: [Int]) {
            self.operation = operation
            self.length = length
            self.counts = counts
        }
    }

    /// How soon more of the same word counts no more, and how much a text's length does: what
    /// everybody uses.
    private static let saturation = 1.2, lengthWeight = 0.75

    /// How much each word says by being there: the fewer texts have it, the more.
    ///
    /// - Parameters:
    ///   - holders: in how many texts each word stands.
    ///   - count: how many texts there are.
    public static func rarity(holders: [Int], among count: Int) -> [Double] {
        holders.map { log(1 + (Double(max(0, count - $0)) + 0.5) / (Double($0) + 0.5)) }
    }

    /// Texts by their relevance, the best first; of those alike, in the order in which they came.
    ///
    /// Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond".
    /// The length of a text is compared with those that have the words as well.
    ///
    /// - Parameters:
    ///   - holders: in how many texts each word stands.
    ///   - count: how many texts there are.
    public static func byRelevance(
        _ texts: [Text], holders: [Int], among count: Int
    ) -> [Int64] {
        let mean = Double(texts.reduce(0) { $0 + $1.length }) / Double(max(1, texts.count))
        let rarity = rarity(holders: holders, among: count)
        let scores = texts.map { text in
            let length = 1 - lengthWeight + lengthWeight * Double(text.length) / max(1, mean)
            return zip(text.counts, rarity).reduce(0) { sum, word in
                let often = Double(word.0)
                return sum + word.1 * often * (saturation + 1) / (often + saturation * length)
            }
        }
        return texts.indices.sorted {
            scores[$0] != scores[$1] ? scores[$0] > scores[$1] : $0 < $1
        }.map { texts[$0].operation }
    }
}
