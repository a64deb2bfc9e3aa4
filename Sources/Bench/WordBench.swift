import Foundation
import Parley

/// Searches by words in a whole node that holds more and more messages.
struct WordBench {
    /// Words that are searched for, from very frequent to rare ones.
    private static let queryCount = 200
    private static let batchCount = 2_000

    let folder: String
    let texts: [String]
    let say: @Sendable (String) -> Void

    /// - Parameter sizes: how many messages there are when it is measured, ascending.
    /// - Returns: figures, and how long opening the candidates of one model takes where only signs
    ///   of vectors are in memory.
    func run(_ sizes: [Int]) async throws -> ([Figure], opening: Double) {
        let (node, _) = try await Node.create(
            NodeSettings(home: folder + "/search", models: folder + "/none"), name: "bench")
        let group = try await node.perform(CreateConversation(name: "bench", members: [])).id
        var stream = SearchTexts(texts)
        var figures: [Figure] = []
        var (written, rates) = (0, [Double]())
        for size in sizes {
            say("indexing \(size) messages")
            while written < size {
                try await write(from: written, to: group, on: node, &stream)
                written += Self.batchCount
                let start = seconds()
                // A search waits for the index.
                try await node.perform(SearchMessages("nothing", limit: 1))
                rates.append(Double(Self.batchCount) / (seconds() - start))
            }
            figures += try await searches(of: node, size, stream.words(Self.queryCount))
        }
        let opening = try await node.sealedVectorSeconds()
        let bytes = try await node.perform(GetSearchStats()).indexes[0].byteCount
        await node.shutdown()
        guard written > 0 else { return ([], opening) }
        figures.insert(
            Figure(
                "search-index", samples: rates, unit: "1/s",
                note: "\(stream.note) a second, hashed and stored, while \(written) came"),
            at: 0)
        figures.append(
            Figure(
                "search-bytes", samples: [Double(bytes) / Double(written)], unit: "bytes",
                note: "of the index of words, for each message"))
        return (figures, opening)
    }

    private func searches(
        of node: Node, _ size: Int, _ words: [String]
    ) async throws -> [Figure] {
        let name = SearchBench.sizes.first { $0.count == size }?.name ?? "\(size)"
        _ = try await node.wordSeconds(words, limit: 20)
        let rows = try await node.wordSeconds(words, limit: 20)
        var answers: [Double] = []
        for word in words {
            let start = seconds()
            try await node.perform(SearchMessages(word, limit: 20))
            answers.append(seconds() - start)
        }
        return [
            Figure(
                "search-rows-\(name)", samples: rows, unit: "s",
                budget: size == 100_000 ? 50e-6 : nil,
                note: "one word in the index of \(size) messages, the newest 20 rows"
                    + (size == 100_000 ? "; p99 may be 500 us" : "")),
            Figure(
                "search-words-\(name)", samples: answers, unit: "s",
                note: "the same as a whole answer: found, opened, compared, with author, state "
                    + "and reactions"),
        ]
    }

    private func write(
        from start: Int, to group: String, on node: Node, _ stream: inout SearchTexts
    ) async throws {
        let rows = (0..<Self.batchCount).map { index in
            ImportMessages.Row(
                line: start + index + 1, author: "ada",
                time: 1_600_000_000_000 + UInt64(start + index) * 1_000, text: stream.next(),
                isAction: false)
        }
        try await node.perform(
            ImportMessages(
                conversation: group, fileHash: String(repeating: "ab", count: 32),
                throughLine: start + Self.batchCount, rows: rows))
    }
}
