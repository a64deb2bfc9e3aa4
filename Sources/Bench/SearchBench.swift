import Foundation
import Glibc
import Parley
import ParleySearch

/// What searches cost: through a whole node by words, and by meaning over vectors in memory.
///
/// Vectors of messages are drawn, not made: a million would take half an hour, and a scan costs the
/// same whatever they say. How fast models make them is a figure of its own.
struct SearchBench {
    /// Its figures, in their order.
    static let names = [
        "search-index", "search-rows", "search-words", "search-bytes", "search-embed",
        "search-meaning", "search-memory", "search-peers",
    ]
    /// How many messages are searched.
    static let sizes: [(name: String, count: Int)] = [
        ("10k", 10_000), ("100k", 100_000), ("1m", 1_000_000),
    ]

    let folder: String
    let models: ModelFolder
    /// What people wrote; empty for made-up words.
    let texts: [String]
    let say: @Sendable (String) -> Void

    func run(_ wanted: Set<String>) async throws -> [Figure] {
        var figures: [Figure] = []
        var opening = 0.0
        if !wanted.isDisjoint(with: Self.names.filter { $0 != "search-embed" }) {
            let words = WordBench(folder: folder, texts: texts, say: say)
            let isSmall = wanted.isDisjoint(with: Self.names[0...3])
            (figures, opening) = try await words.run(isSmall ? [] : Self.sizes.map(\.count))
        }
        let shelf = ModelShelf(models)
        let workers = try models.installed.map { ($0, try shelf.worker($0)) }
        if wanted.contains("search-embed") {
            for (package, worker) in workers { figures.append(rate(package, worker)) }
        }
        if !wanted.isDisjoint(with: ["search-meaning", "search-memory"]) {
            for (name, count) in Self.sizes {
                say("searching \(count) vectors of each model")
                figures += scans(name, count, workers, opening)
            }
        }
        if wanted.contains("search-peers") {
            figures += SearchPeers(folder: folder, texts: texts, say: say).figures()
        }
        return figures.filter { figure in
            wanted.contains { figure.name == $0 || figure.name.hasPrefix($0 + "-") }
        }
    }

    /// Texts a second of processor time, on one core.
    private func rate(_ package: ModelPackage, _ worker: any TextEmbedder) -> Figure {
        let texts = self.texts.isEmpty ? Self.sentences : Array(self.texts.prefix(256))
        _ = worker.embed(texts)
        let samples = (0..<10).map { _ in
            let start = processorSeconds()
            _ = worker.embed(texts)
            return Double(texts.count) / (processorSeconds() - start)
        }
        let words = texts.reduce(0) { $0 + $1.split(separator: " ").count } / texts.count
        return Figure(
            "search-embed-\(package.rawValue)", samples: samples, unit: "1/s",
            note: "texts of \(words) words on average, a second of one core")
    }

    private func scans(
        _ name: String, _ count: Int, _ workers: [(ModelPackage, any TextEmbedder)],
        _ opening: Double
    ) -> [Figure] {
        let tables = ModelPackage.allCases.map { Self.drawn($0.dimension, count) }
        let isRough = count > VectorTable.bytesCountMax
        let samples = (0..<(isRough ? 100 : 200)).map { turn in
            let start = seconds()
            for (index, table) in tables.enumerated() {
                // Without models nothing is turned into a vector; the note says so.
                let query =
                    index < workers.count
                    ? workers[index].1.embed([Self.sentences[turn % Self.sentences.count]])[0]
                    : [Float](repeating: 0.03, count: table.dimension)
                _ = table.scan(query, limit: 300)
            }
            return seconds() - start + (isRough ? 2 * opening : 0)
        }
        let memory = Double(tables.reduce(0) { $0 + $1.byteCount }) / Double(count)
        var note = "both models over \(count) drawn vectors each; "
        note +=
            workers.count == tables.count
            ? "the question embedded" : "no model is installed, so no question was embedded"
        if isRough {
            let part = String(format: "%.1f", 2e3 * opening)
            note += "; \(part) ms of it open \(VectorTable.roughCount) sealed rows of each"
        }
        return [
            Figure(
                "search-meaning-\(name)", samples: samples, unit: "s",
                budget: count == 100_000 ? 15e-3 : nil, note: note),
            Figure(
                "search-memory-\(name)", samples: [memory], unit: "bytes",
                note: "of memory for each message, both models, "
                    + (isRough ? "one bit a number" : "one byte a number")),
        ]
    }

    private static func drawn(_ dimension: Int, _ count: Int) -> VectorTable {
        let table = VectorTable(dimension: dimension)
        var state: UInt64 = 88_172_645_463_325_252
        var row = [UInt8](repeating: 0, count: dimension)
        for operation in 1...count {
            for index in row.indices {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                row[index] = UInt8(bitPattern: Int8(truncatingIfNeeded: Int(state >> 60) * 8 - 60))
            }
            table.add(row, of: Int64(operation))
        }
        return table
    }

    /// What people write, made up.
    private static let sentences: [String] = {
        let starts = [
            "the server in the cellar", "my sister's new bicycle", "the meeting on Friday",
        ]
        let middles = ["is said to be", "was never really", "will soon be"]
        let ends = ["moved to another place", "mended by somebody else", "as good as before"]
        return starts.flatMap { start in
            middles.flatMap { middle in ends.map { "\(start) \(middle) \($0)" } }
        }
    }()
}

/// Seconds of the processor that this thread took.
private func processorSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
