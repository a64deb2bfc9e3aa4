/// How much sentences say the same, and which one says most of what the others say (TextRank over words
/// weighed by how rare they are).
struct SentenceGraph {
    /// A sentence.
    struct Node {
        var terms: [[UInt8]]
        var author: String
        /// What it means; empty where that is not known.
        var vector: [Float]
    }

    /// Sentences that are compared, at most: without vectors, and with them.
    static let countMax = 600, meantCountMax = 300
    /// What one says again oneself counts less than what another one says as well.
    private static let ownShare = 0.4
    private static let damping = 0.85
    private static let roundCount = 24

    private struct Edge {
        var end: Int
        var weight: Double
    }

    /// Weights of words, ascending by the word.
    private var words: [[(term: Int, weight: Double)]] = []
    private var edges: [[Edge]] = []
    private let nodes: [Node]

    init(_ nodes: [Node]) {
        self.nodes = nodes
        words = Self.weights(of: nodes)
        edges = edges(among: nodes)
    }

    /// Of each sentence the weights of its words, of length 1 together.
    private static func weights(of nodes: [Node]) -> [[(term: Int, weight: Double)]] {
        var (numbers, counts): ([[UInt8]: Int], [Int]) = ([:], [])
        var found: [[Int: Int]] = []
        for node in nodes {
            var own: [Int: Int] = [:]
            for term in node.terms {
                let number = numbers[term] ?? counts.count
                if number == counts.count {
                    numbers[term] = number
                    counts.append(0)
                }
                own[number, default: 0] += 1
            }
            for (number, _) in own { counts[number] += 1 }
            found.append(own)
        }
        return found.map { own in
            let weighed = own.sorted { $0.key < $1.key }.map { number, count in
                let rarity = Self.logarithm(1 + Double(nodes.count) / Double(counts[number]))
                return (term: number, weight: (1 + Self.logarithm(Double(count))) * rarity)
            }
            let length = weighed.reduce(0) { $0 + $1.weight * $1.weight }.squareRoot()
            return weighed.map { ($0.term, length > 0 ? $0.weight / length : 0) }
        }
    }

    /// To the base of two, near enough: this room has no library for it.
    private static func logarithm(_ value: Double) -> Double {
        guard value > 0 else { return 0 }
        return Double(value.exponent) + value.significand - 1
    }

    private func edges(among nodes: [Node]) -> [[Edge]] {
        var postings: [Int: [Int]] = [:]
        for (index, words) in words.enumerated() {
            for word in words { postings[word.term, default: []].append(index) }
        }
        var found = [[Edge]](repeating: [], count: nodes.count)
        // A word of nearly all says nothing, and would join all with all.
        let common = max(8, nodes.count / 4)
        for index in nodes.indices {
            var likeness: [Int: Double] = [:]
            for word in words[index] {
                let others = postings[word.term] ?? []
                guard others.count <= common else { continue }
                for other in others where other > index { likeness[other] = 0 }
            }
            if !nodes[index].vector.isEmpty {
                for other in nodes.indices where other > index { likeness[other] = 0 }
            }
            for other in likeness.keys.sorted() {
                var weight = self.likeness(index, other)
                if nodes[index].author == nodes[other].author { weight *= Self.ownShare }
                guard weight > 0.02 else { continue }
                found[index].append(Edge(end: other, weight: weight))
                found[other].append(Edge(end: index, weight: weight))
            }
        }
        return found
    }

    /// How much two say the same, from 0 to 1.
    func likeness(_ one: Int, _ other: Int) -> Double {
        let (a, b) = (words[one], words[other])
        var (i, j, sum) = (0, 0, 0.0)
        while i < a.count, j < b.count {
            if a[i].term == b[j].term {
                sum += a[i].weight * b[j].weight
                (i, j) = (i + 1, j + 1)
            } else if a[i].term < b[j].term {
                i += 1
            } else {
                j += 1
            }
        }
        let (u, v) = (nodes[one].vector, nodes[other].vector)
        guard !u.isEmpty, u.count == v.count else { return min(1, sum) }
        let meant = zip(u, v).reduce(Float(0)) { $0 + $1.0 * $1.1 }
        return min(1, max(0, (sum + Double(meant)) / 2))
    }

    /// How much of what is said each says, on an average 1.
    func centrality() -> [Double] {
        let count = Double(nodes.count)
        let sums = edges.map { $0.reduce(0) { $0 + $1.weight } }
        var ranks = [Double](repeating: 1, count: nodes.count)
        for _ in 0..<Self.roundCount {
            var next = [Double](repeating: 1 - Self.damping, count: nodes.count)
            var lost = 0.0
            for (index, own) in edges.enumerated() {
                guard sums[index] > 0 else {
                    lost += ranks[index]
                    continue
                }
                for edge in own {
                    next[edge.end] += Self.damping * ranks[index] * edge.weight / sums[index]
                }
            }
            // Who is like nobody gives to all.
            let share = Self.damping * lost / count
            ranks = next.map { $0 + share }
        }
        return ranks
    }
}
