import Foundation
import Parley

/// Two nodes, one here and one in a process of its own, that know each other.
final class BenchWorld {
    let folder: String
    let program: String
    private let say: @Sendable (String) -> Void
    let here: Node
    var there: BenchPeer
    private(set) var group = ""
    /// Whether the other process reports when it shows each message.
    var isWatched = false

    init(
        folder: String, program: String, say: @escaping @Sendable (String) -> Void
    ) async throws {
        self.folder = folder
        self.program = program
        self.say = say
        (here, _) = try await Node.create(NodeSettings(home: folder + "/here"), name: "here")
        let addresses = try await here.start(listen: ["127.0.0.1:0"])
        say("this node listens on \(addresses.joined(separator: ", "))")
        there = try BenchPeer(program: program, home: folder + "/there")
        let invite = try await here.perform(CreateInvite(hours: 1))
        try there.say("accept \(invite.link)")
        guard try there.hear() == "ready" else {
            throw NodeError("bench", "The peer is not ready.")
        }
        try await until {
            try await self.here.perform(ListConversations()).contains { $0.name == "there" }
        }
        group = try await here.perform(CreateConversation(name: "bench", members: ["there"])).id
        try there.say("group \(group)")
        guard try there.hear() == "group" else { throw NodeError("bench", "No group.") }
    }

    func end() async {
        there.end()
        await here.shutdown()
    }

    func until(_ condition: () async throws -> Bool) async throws {
        let deadline = seconds() + 60
        while try await !condition() {
            guard seconds() < deadline else { throw NodeError("bench", "It took too long.") }
            // A benchmark may wait: what it measures is taken from the other side's clock.
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    // MARK: One message after the other

    struct Latencies {
        var append: [Double] = []
        var shown: [Double] = []
        var delivered: [Double] = []
    }

    func pingPong(count: Int) async throws -> Latencies {
        try there.say("echo \(count)")
        guard try there.hear() == "echoing" else { throw NodeError("bench", "No echo.") }
        var latencies = Latencies()
        let changes = try await here.changes()
        var next = changes.makeAsyncIterator()
        for number in 0..<count {
            let start = seconds()
            let sent = try await here.perform(
                SendMessages(conversation: group, texts: ["ping \(number)"]))
            latencies.append.append(seconds() - start)
            guard let message = sent.first else { continue }
            repeat {
                guard let change = await next.next() else { break }
                if change.kind != "receipts" { continue }
            } while try await state(of: message) == "saved"
            latencies.delivered.append(seconds() - start)
            let words = try there.hear().split(separator: " ")
            guard words.count == 2, let shown = Double(words[1]) else { continue }
            latencies.shown.append(shown - start)
        }
        return latencies
    }

    private func state(of message: MessageView) async throws -> String? {
        try await here.perform(ReadMessages(conversation: group, limit: 1)).messages.last?.state
    }

    // MARK: Many messages

    /// Writes messages while the other node is away.
    func fill(count: Int, byteCount: Int) async throws {
        there.end()
        var words = WordStream()
        var written = 0
        while written < count {
            let texts = (0..<min(500, count - written)).map { _ in words.text(byteCount) }
            try await here.perform(
                ImportMessages(
                    conversation: group, fileHash: String(repeating: "0", count: 64),
                    throughLine: written + texts.count,
                    rows: texts.enumerated().map { offset, text in
                        ImportMessages.Row(
                            line: written + offset + 1, author: "ann",
                            time: 1_700_000_000_000 + UInt64(written + offset) * 1000,
                            text: text, isAction: false)
                    }))
            written += texts.count
        }
    }

    func pageSamples(count: Int) async throws -> [Double] {
        var samples: [Double] = []
        for _ in 0..<count {
            let start = seconds()
            let page = try await here.perform(ReadMessages(conversation: group, limit: 50))
            samples.append(seconds() - start)
            guard page.messages.count == 50 else { throw NodeError("bench", "A short page.") }
        }
        return samples
    }

    func bytesOnDisk() async throws -> Double {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder + "/here")
        var total = 0.0
        for name in names {
            let attributes = try FileManager.default.attributesOfItem(
                atPath: folder + "/here/" + name)
            total += (attributes[.size] as? NSNumber)?.doubleValue ?? 0
        }
        return total
    }

    struct CatchUp {
        var first50: Double
        var whole: Double
        var bytes: Double
    }

    func catchUp() async throws -> CatchUp {
        let wanted = try await here.perform(ListDigests()).first { $0.conversation == group }
        there = try BenchPeer(program: program, home: folder + "/there")
        try there.say("catchup \(group) \(wanted?.operationCount ?? 0)")
        let words = try there.hear().split(separator: " ")
        guard words.count == 4, let first = Double(words[1]), let whole = Double(words[2]),
            let bytes = Double(words[3])
        else { throw NodeError("bench", "The peer did not catch up.") }
        // The last receipts still travel; then both must see the same.
        try await until {
            try self.there.say("digest \(self.group)")
            let theirs = try self.there.hear()
            let ours = try await self.here.perform(ListDigests()).first {
                $0.conversation == self.group
            }
            return theirs == ours?.digest
        }
        return CatchUp(first50: first, whole: whole, bytes: bytes)
    }
}
