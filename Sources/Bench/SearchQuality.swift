public import Foundation
public import ParleySearch
import ParleyWords

/// Messages, and questions whose answers among them are known: a file like
/// `{"messages": [{"id", "text"}], "queries": [{"kind", "text", "gold": [id]}]}`.
public struct QualitySet: Decodable, Sendable {
    struct Message: Decodable, Sendable {
        var id: String
        var text: String
    }
    struct Query: Decodable, Sendable {
        var kind: String
        var text: String
        var gold: [String]
    }
    var messages: [Message]
    var queries: [Query]

    /// The set in a file.
    public init(_ data: Data) throws { self = try JSONDecoder().decode(Self.self, from: data) }
}

/// How well a search finds the intended message.
public struct Quality: Codable, Equatable, Sendable {
    /// In how many of the questions the first hit answers.
    public var first: Double
    /// In how many an answer is among the first five.
    public var five: Double
    /// The mean of one over the place of the first answer.
    public var reciprocal: Double

    private enum CodingKeys: String, CodingKey {
        case first = "recall@1"
        case five = "recall@5"
        case reciprocal = "mrr"
    }

    init(places: [Int?]) {
        let count = Double(max(1, places.count))
        first = Double(places.count { $0 == 1 }) / count
        five = Double(places.count { ($0 ?? .max) <= 5 }) / count
        reciprocal = places.reduce(0) { $0 + ($1.map { 1 / Double($0) } ?? 0) } / count
    }
}

/// Measures a search on questions whose answers are known, with the very words, models, vectors
/// and ranking of a node.
public struct SearchQuality {
    private let models: [(name: String, embedder: any TextEmbedder)]

    /// - Parameter folder: where models are installed.
    public init(folder: ModelFolder) throws {
        let shelf = ModelShelf(folder)
        models = try folder.installed.map { ($0.rawValue, try shelf.worker($0)) }
    }

    /// Names of the models that are used; none means words alone.
    public var modelNames: [String] { models.map(\.name) }

    /// The figures of all questions as `all`, and of each kind.
    ///
    /// - Parameters:
    ///   - haystack: further messages, none of which answers anything.
    ///   - say: told what is going on.
    public func run(
        _ set: QualitySet, haystack: [String] = [], say: (String) -> Void = { _ in }
    ) -> [String: Quality] {
        let texts = set.messages.map(\.text) + haystack
        let tables = models.map { table(of: texts, $0.name, $0.embedder, say) }
        let terms = texts.map { Set(Terms.ofText($0)) }
        var places: [String: [Int?]] = [:]
        for query in set.queries {
            let gold = Set(
                set.messages.indices.filter { query.gold.contains(set.messages[$0].id) }
                    .map { Int64($0 + 1) })
            let found = answer(query.text, texts, terms, tables)
            let place = found.firstIndex { gold.contains($0) }.map { $0 + 1 }
            places["all", default: []].append(place)
            places[query.kind, default: []].append(place)
        }
        return places.mapValues { Quality(places: $0) }
    }

    private func table(
        of texts: [String], _ name: String, _ embedder: any TextEmbedder, _ say: (String) -> Void
    ) -> VectorTable {
        // However many there are: what is measured is the whole way, not the saving of memory.
        let table = VectorTable(dimension: embedder.dimension, countMax: .max)
        var done = 0
        while done < texts.count {
            let part = Array(texts[done..<min(texts.count, done + 64)])
            for (index, vector) in embedder.embed(part).enumerated() {
                table.add(VectorBytes.pack(vector), of: Int64(done + index + 1))
            }
            done += part.count
            if done % 6400 == 0 { say("\(name): \(done) of \(texts.count)") }
        }
        return table
    }

    private func answer(
        _ text: String, _ texts: [String], _ terms: [Set<Term>], _ tables: [VectorTable]
    ) -> [Int64] {
        // A text that is no search finds nothing by words.
        guard let query = try? SearchQuery(text, at: 0) else { return [] }
        let narrowing = query.narrowing
        let words =
            narrowing.isEmpty
            ? []
            : texts.indices.filter { index in
                narrowing.allSatisfy { !terms[index].isDisjoint(with: $0) }
                    && query.matches(in: texts[index]) != nil
            }.reversed().prefix(200).map { Int64($0 + 1) }
        let opinions = zip(models, tables).map { model, table in
            Ranking.Opinion(
                model: model.name,
                scan: table.scan(model.embedder.embed([query.question])[0], limit: 1000))
        }
        return Ranking.fused(words: words, opinions: opinions) { _ in nil }.map(\.operation)
    }
}
