import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// Source: Protocol/05-identity.md, "Discretion".
@Suite("Discretion, between processes", .timeLimit(.minutes(3)))
struct DiscretionProcessTests {
    private func run(_ words: String..., at node: NodeProcess) async throws -> (
        status: Int32, output: String
    ) {
        try await node.run(words)
    }

    private func state(of text: String, at node: NodeProcess) async throws -> String? {
        let client = try #require(await node.client)
        return try await client.perform(ReadMessages(conversation: "log", limit: 9))
            .messages.last { $0.text == text }?.state
    }

    @Test("whoever tells nobody what they read is shown nothing of it, and all hear what came")
    func receipts() async throws {
        let pair = try await ProcessPair()
        let (ann, ben) = (pair.ann, pair.ben)
        #expect(
            try await run("privacy", at: ben).output.contains("all others  on             on"))
        let set = try await run("privacy", "log", "--receipts", "off", at: ben)
        #expect(set.output.contains("log         off            usual"), "\(set.output)")
        for wrong in [["privacy", "log"], ["privacy", "--receipts", "maybe"]] {
            #expect(try await ben.run(wrong).status == 64)
        }
        _ = try await run("send", "log", "from ann", at: ann)
        _ = try await run("send", "log", "from ben", at: ben)
        try await eventually("both have both", on: [ann, ben]) {
            for node in [ann, ben] {
                guard try await run("conversations", at: node).output.contains("1 new") else {
                    return false
                }
            }
            return true
        }
        for node in [ann, ben] { _ = try await run("read", "log", at: node) }
        try await eventually("what ben wrote is delivered", on: [ann, ben]) {
            let states = [
                try await state(of: "from ben", at: ben), try await state(of: "from ann", at: ann),
            ]
            return states == ["delivered", "delivered"]
        }
        #expect(try await !run("conversations", at: ben).output.contains("new"))
        // Ann has told it, and Ben is shown it once he tells as well; what he read before stays untold.
        _ = try await run("privacy", "log", "--receipts", "usual", at: ben)
        try await eventually("ben is shown it", on: [ann, ben]) {
            try await state(of: "from ben", at: ben) == "read"
        }
        #expect(try await state(of: "from ann", at: ann) == "delivered")
        _ = try await pair.ann.stop()
        _ = try await pair.ben.stop()
    }
}
