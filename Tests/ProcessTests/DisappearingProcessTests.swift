import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// Source: Protocol/03-operations.md, "Disappearing messages".
@Suite("Messages that disappear, between processes", .timeLimit(.minutes(5)))
struct DisappearingProcessTests {
    private func run(_ words: String..., at node: NodeProcess) async throws -> (
        status: Int32, output: String
    ) {
        try await node.run(words)
    }

    @Test("are said to, are gone on both sides after their time, and from the search; others stay")
    func gone() async throws {
        let pair = try await ProcessPair()
        let (ann, ben) = (pair.ann, pair.ben)
        _ = try await run("send", "log", "this stays", at: ann)
        let refused = try await run("conversations", "disappear", "log", "1h", at: ben)
        #expect(refused.status == 1 && refused.output.contains("may not do that"), "\(refused)")
        for wrong in ["0s", "400d", "soon", "-1d", "99999999999999999999w"] {
            let told = try await run("conversations", "disappear", "log", wrong, at: ann)
            #expect(told.status == 64, "\(wrong): \(told.output)")
        }
        let set = try await run("conversations", "disappear", "log", "6s", at: ann)
        #expect(set.output == "log  new messages disappear 6 seconds after they were read\n")
        _ = try await run("send", "log", "the heron flies at dawn", at: ann)
        try await eventually("ben has it", on: [ann, ben]) {
            try await run("conversations", at: ben).output.contains("2 new")
        }
        #expect(try await run("conversations", at: ben).output.contains("disappearing"))
        let shown = try await run("read", "log", at: ben).output
        #expect(shown.contains("the heron flies at dawn"), "\(shown)")
        #expect(shown.contains("(disappears "), "\(shown)")
        try await eventually("nobody has it any more", on: [ann, ben]) {
            for node in [ann, ben] {
                let read = try await run("read", "log", "--newest", at: node).output
                guard read.contains("this stays"), !read.contains("heron") else { return false }
            }
            return true
        }
        for node in [ann, ben] {
            #expect(try await !run("search", "heron", at: node).output.contains("flies"))
            #expect(try await run("search", "stays", at: node).output.contains("«stays»"))
        }
        #expect(
            try await run("conversations", "disappear", "log", "--off", at: ann).output
                == "log  new messages stay\n")
        _ = try await pair.ann.stop()
        _ = try await pair.ben.stop()
    }

    @Test("are answered, and what answers them says that they have disappeared")
    func answered() async throws {
        let pair = try await ProcessPair()
        let (ann, ben) = (pair.ann, pair.ben)
        _ = try await run("conversations", "disappear", "log", "6s", at: ann)
        _ = try await run("send", "log", "secret", at: ann)
        try await eventually("ben has it", on: [ann, ben]) {
            try await run("conversations", at: ben).output.contains("1 new")
        }
        _ = try await run("conversations", "disappear", "log", "--off", at: ann)
        let client = try #require(await ben.client)
        let page = try await client.perform(ReadMessages(conversation: "log", limit: 9))
        let message = try #require(page.messages.last { $0.text == "secret" })
        #expect(message.lifetime == 6)
        let number = String(message.number)
        let edited = try await run("pin", number, at: ben)
        #expect(edited.status == 1 && edited.output.contains("That message disappears"))
        _ = try await run("read", "log", at: ben)
        try await eventually("the setting has come", on: [ann, ben]) {
            try await !run("conversations", at: ben).output.contains("disappearing")
        }
        _ = try await run("reply", "log", number, "noted", at: ben)
        try await eventually("it is gone", on: [ann, ben]) {
            try await run("read", "log", "--newest", at: ben).output.contains("(disappeared) noted")
        }
        let gone = try await run("react", number, "👍", at: ben)
        #expect(gone.status == 1 && gone.output.contains("has disappeared"), "\(gone.output)")
        _ = try await pair.ann.stop()
        _ = try await pair.ben.stop()
    }
}
