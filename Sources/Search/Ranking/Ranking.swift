import Glibc

/// Merges the results by words and by meaning into one order.
///
/// Source: `Protocol/10-search.md`, "Ranking".
public enum Ranking {
    /// Something that was found, and why it stands where it does.
    public struct Found: Equatable, Sendable {
        /// The operation.
        public var operation: Int64
        /// Its place among those that have all words, from 1.
        public var wordRank: Int?
        /// Its place by meaning, from 1.
        public var meaningRank: Int?
        /// By how many standard deviations it is nearer than usual, in the model that says most.
        public var deviation: Float?
        /// The cosine by each model that found it near.
        public var cosines: [String: Float]
        /// What its age adds.
        public var recency: Double
        /// All of it together.
        public var score: Double
    }

    /// What a model says of a search.
    public struct Opinion: Sendable {
        /// The model.
        public var model: String
        /// What its scan found, the cosines those of the vectors themselves.
        public var scan: VectorTable.Scan
        /// An opinion with these fields.
        public init(model: String, scan: VectorTable.Scan) {
            self.model = model
            self.scan = scan
        }
    }

    /// By how much the first places of a list count more than the next.
    static let rankOffset = 60.0
    /// What a message of this moment gets more than one of long ago: less than one place at the top.
    static let recencyWeight = 0.0002
    /// After so many days that is down to a third.
    static let recencyDays = 60.0
    /// What is nearer than usual by less than this is not near …
    public static let deviationMin: Float = 2
    /// … unless its cosine is this high: among a handful nothing can stand out by much.
    static let cosineMin: Float = 0.35
    /// What no model finds this near is not near, however much it stands out: of many that have nothing to
    /// do with a question some always do.
    static let cosineFloor: Float = 0.3

    /// One order, the best first.
    ///
    /// - Parameters:
    ///   - words: operations that have all words, the best first.
    ///   - opinions: what each model says.
    ///   - age: of an operation, in days; nil where nobody knows.
    public static func fused(
        words: [Int64], opinions: [Opinion], age: (Int64) -> Double?
    ) -> [Found] {
        var found: [Int64: Found] = [:]
        func with(_ operation: Int64, _ change: (inout Found) -> Void) {
            var entry =
                found[operation]
                ?? Found(operation: operation, cosines: [:], recency: 0, score: 0)
            change(&entry)
            found[operation] = entry
        }
        for opinion in opinions {
            for near in opinion.scan.nearest {
                let deviation = opinion.scan.deviations(near.cosine)
                with(near.operation) { entry in
                    entry.cosines[opinion.model] = near.cosine
                    entry.deviation = max(entry.deviation ?? deviation, deviation)
                }
            }
        }
        let near = found.values.sorted(by: isNearer)
        for (place, entry) in near.filter(isNear).enumerated() {
            with(entry.operation) { $0.meaningRank = place + 1 }
        }
        for (place, operation) in words.enumerated() {
            with(operation) { $0.wordRank = place + 1 }
        }
        return found.values.filter { $0.wordRank != nil || $0.meaningRank != nil }
            .map { scored($0, age($0.operation)) }.sorted(by: isBetter)
    }

    private static func scored(_ entry: Found, _ age: Double?) -> Found {
        var entry = entry
        entry.recency = age.map { recencyWeight * exp(-max(0, $0) / recencyDays) } ?? 0
        entry.score = entry.recency
        for rank in [entry.wordRank, entry.meaningRank] {
            if let rank { entry.score += 1 / (rankOffset + Double(rank)) }
        }
        return entry
    }

    private static func isNear(_ entry: Found) -> Bool {
        guard let cosine = entry.cosines.values.max(), cosine >= cosineFloor else { return false }
        return cosine >= cosineMin || entry.deviation ?? 0 >= deviationMin
    }

    private static func isNearer(_ one: Found, _ other: Found) -> Bool {
        let (left, right) = (one.deviation ?? -.infinity, other.deviation ?? -.infinity)
        return left != right ? left > right : one.operation > other.operation
    }

    private static func isBetter(_ one: Found, _ other: Found) -> Bool {
        one.score != other.score ? one.score > other.score : one.operation > other.operation
    }
}
