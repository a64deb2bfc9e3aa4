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
        "search-index", "search-words-10k", "search-words-100k", "search-bytes", "search-embed",
        "search-meaning-10k", "search-meaning-100k", "search-meaning-1m", "search-peers",
    ]
    /// Words that are searched for, from very frequent to rare ones.
    private static let queryCount = 200

    let folder: String
    let models: ModelFolder
    let say: @Sendable (String) -> Void

    func run(_ wanted: Set<String>) async throws -> [Figure] {
        var figures: [Figure] = []
        if !wanted.isDisjoint(with: [
            "search-index", "search-words-10k", "search-words-100k", "search-bytes",
        ]) {
            figures += try await words()
        }
        figures += try meaning(wanted)
        if wanted.contains("search-peers") { figures += SearchPeers(say: say).figures() }
        return figures
    }

    // MARK: Words

    private func words() async throws -> [Figure] {
        let home = folder + "/search"
        let (node, _) = try await Node.create(
            NodeSettings(home: home, models: folder + "/none"), name: "bench")
        let group = try await node.newConversation(name: "bench", members: []).id
        var stream = WordStream()
        var figures: [Figure] = []
        var written = 0
        var rates: [Double] = []
        for count in [10_000, 100_000] {
            say("indexing \(count) messages")
            while written < count {
                try await write(2_000, from: written, to: group, on: node, &stream)
                written += 2_000
                let start = seconds()
                // A search waits for the index.
                _ = try await node.search(SearchRequest("nothing", limit: 1))
                rates.append(2_000 / (seconds() - start))
            }
            var samples: [Double] = []
            for _ in 0..<Self.queryCount {
                let word = String(stream.text(24).split(separator: " ")[0])
                let start = seconds()
                _ = try await node.search(SearchRequest(word, limit: 20))
                samples.append(seconds() - start)
            }
            figures.append(
                Figure(
                    "search-words-\(count / 1000)k", samples: samples, unit: "s",
                    note: "one word, the newest 20 of \(count), as whole answers of a node: "
                        + "found, opened, compared, with author, state and reactions"))
        }
        let index = try await node.searchStats().indexes[0]
        await node.shutdown()
        return [
            Figure(
                "search-index", samples: rates, unit: "1/s",
                note: "messages of 120 bytes a second, hashed and stored, while \(written) came")
        ] + figures + [
            Figure(
                "search-bytes", samples: [Double(index.byteCount) / Double(written)],
                unit: "bytes", note: "of the index of words, for each message of 120 bytes")
        ]
    }

    private func write(
        _ count: Int, from start: Int, to group: String, on node: Node,
        _ stream: inout WordStream
    ) async throws {
        let rows = (0..<count).map { index in
            ImportBatch.Row(
                line: start + index + 1, author: "ada",
                time: 1_600_000_000_000 + UInt64(start + index) * 1_000, text: stream.text(120),
                isAction: false)
        }
        _ = try await node.importMessages(
            ImportBatch(
                conversation: group, fileHash: String(repeating: "ab", count: 32),
                throughLine: start + count, rows: rows))
    }

    // MARK: Meaning

    private func meaning(_ wanted: Set<String>) throws -> [Figure] {
        let shelf = ModelShelf(models)
        let workers = try models.installed.map { ($0, try shelf.worker($0)) }
        var figures: [Figure] = []
        if wanted.contains("search-embed") {
            for (package, worker) in workers { figures.append(rate(package, worker)) }
        }
        for (name, count) in [("10k", 10_000), ("100k", 100_000), ("1m", 1_000_000)]
        where wanted.contains("search-meaning-\(name)") {
            say("searching \(count) vectors of each model")
            figures += scans(name, count, workers)
        }
        return figures
    }

    /// Texts a second of processor time, on one core.
    private func rate(_ package: ModelPackage, _ worker: any TextEmbedder) -> Figure {
        let texts = Self.sentences
        _ = worker.embed(texts)
        let samples = (0..<5).map { _ in
            let start = processorSeconds()
            for _ in 0..<4 { _ = worker.embed(texts) }
            return Double(4 * texts.count) / (processorSeconds() - start)
        }
        return Figure(
            "search-embed", samples: samples, unit: "1/s",
            note: "texts of 13 words by \(package.rawValue), a second of one core")
    }

    private func scans(
        _ name: String, _ count: Int, _ workers: [(ModelPackage, any TextEmbedder)]
    ) -> [Figure] {
        let tables = ModelPackage.allCases.map { package in
            let table = VectorTable(dimension: package.dimension)
            var state: UInt64 = 88_172_645_463_325_252
            var row = [UInt8](repeating: 0, count: package.dimension)
            for operation in 1...count {
                for index in row.indices {
                    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                    row[index] = UInt8(
                        bitPattern: Int8(truncatingIfNeeded: Int(state >> 60) * 8 - 60))
                }
                table.add(row, of: Int64(operation))
            }
            return table
        }
        let samples = (0..<(count > 100_000 ? 40 : 200)).map { turn in
            let start = seconds()
            for (index, table) in tables.enumerated() {
                // Without models nothing is turned into a vector; the note says so.
                let query =
                    index < workers.count
                    ? workers[index].1.embed([Self.sentences[turn % Self.sentences.count]])[0]
                    : [Float](repeating: 0.03, count: table.dimension)
                _ = table.scan(query, limit: 300)
            }
            return seconds() - start
        }
        let memory = tables.reduce(0) { $0 + $1.byteCount } / count
        return [
            Figure(
                "search-meaning-\(name)", samples: samples, unit: "s",
                budget: count == 100_000 ? 15e-3 : nil,
                note: "both models over \(count) messages, \(memory) bytes of memory each"
                    + (workers.count == tables.count
                        ? ", the question embedded" : "; no model, so no question was embedded"))
        ]
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
