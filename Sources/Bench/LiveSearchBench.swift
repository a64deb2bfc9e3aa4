import Foundation
import Parley
import ParleySearch

/// What a person waits for who searches by meaning in everything they have: while the index is
/// built, when nothing else happens, and while another node sends messages.
///
/// Everything is the product's: two processes, the real disk, the models that are installed, and
/// what people wrote.
struct LiveSearchBench {
    static let names = ["search-live"]

    /// Messages that come from the other node while it is measured.
    private static let sentCount = 20_000
    private static let batchCount = 2_000
    private static let queryCount = 100

    let folder: String
    let program: String
    let models: ModelFolder
    let texts: [String]
    let say: @Sendable (String) -> Void

    func run() async throws -> [Figure] {
        guard !texts.isEmpty, !models.installed.isEmpty else {
            say("search-live needs --texts and an installed model (parley model install)")
            return []
        }
        let (node, _) = try await Node.create(
            NodeSettings(home: folder + "/live", models: models.path), name: "here")
        try await node.start(listen: ["127.0.0.1:0"])
        let peer = try BenchPeer(program: program, home: folder + "/sender")
        let invite = try await node.perform(CreateInvite(hours: 1))
        try peer.say("accept \(invite.link)")
        guard try peer.hear() == "ready" else { throw NodeError("bench", "No peer.") }
        let group = try await node.perform(CreateConversation(name: "bench", members: ["there"])).id
        try peer.say("group \(group)")
        guard try peer.hear() == "group" else { throw NodeError("bench", "No group.") }
        say("taking in \(texts.count) messages")
        try await fill(node)
        // The first one opens the models.
        try await node.perform(SearchMessages(texts[0], limit: 10))
        let began = seconds()
        let indexing = try await searches(of: node)
        try await untilIndexed(node, since: began)
        let quiet = try await searches(of: node)
        say("taking in \(Self.sentCount) messages of another node")
        try peer.say("fill \(Self.sentCount) \(group)")
        let syncing = try await searches(of: node)
        guard try peer.hear() == "filled" else { throw NodeError("bench", "Nothing was sent.") }
        peer.end()
        await node.shutdown()
        return [
            figure("indexing", indexing, "while vectors of the rest are made"),
            figure("quiet", quiet, "while nothing else happens"),
            figure("syncing", syncing, "while another process sends \(Self.sentCount) messages"),
        ]
    }

    private func figure(_ name: String, _ samples: [Double], _ note: String) -> Figure {
        Figure(
            "search-live-\(name)", samples: samples, unit: "s",
            note: "a whole answer by words and meaning among \(texts.count) messages of people, "
                + note)
    }

    /// Into a conversation of its own: the other node does not take part in it.
    private func fill(_ node: Node) async throws {
        let own = try await node.perform(CreateConversation(name: "logs", members: [])).id
        for start in stride(from: 0, to: texts.count, by: Self.batchCount) {
            let batch = texts[start..<min(start + Self.batchCount, texts.count)]
            try await node.perform(
                ImportMessages(
                    conversation: own, fileHash: String(repeating: "cd", count: 32),
                    throughLine: start + batch.count,
                    rows: batch.enumerated().map { offset, text in
                        ImportMessages.Row(
                            line: start + offset + 1, author: "ada",
                            time: 1_600_000_000_000 + UInt64(start + offset) * 1_000, text: text,
                            isAction: false)
                    }))
        }
    }

    /// Asks with what people wrote: sentences that none of the messages need answer.
    private func searches(of node: Node) async throws -> [Double] {
        let step = max(1, texts.count / Self.queryCount)
        var samples: [Double] = []
        for place in stride(from: 0, to: texts.count, by: step).prefix(Self.queryCount) {
            let words = texts[place].split { !$0.isLetter }.prefix(8).joined(separator: " ")
            guard !words.isEmpty else { continue }
            let start = seconds()
            try await node.perform(SearchMessages(words, limit: 10))
            samples.append(seconds() - start)
        }
        return samples
    }

    private func untilIndexed(_ node: Node, since began: Double) async throws {
        var told = seconds()
        while true {
            let indexes = try await node.perform(GetSearchStats()).indexes.filter {
                $0.state == "on"
            }
            guard indexes.contains(where: { $0.indexed < $0.held }) else { break }
            if seconds() > told + 10 {
                told = seconds()
                say(
                    indexes.map { "\($0.name): \($0.indexed) of \($0.held)" }.joined(
                        separator: ", "))
            }
            // A benchmark may wait; asked more often, it would measure itself.
            try await Task.sleep(for: .seconds(1))
        }
        say("indexed after \(Int(seconds() - began)) s")
    }
}
