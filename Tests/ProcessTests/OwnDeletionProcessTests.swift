import Parley
import ParleyLocalAPI
import Testing

/// Source: Protocol/03-operations.md, "Deleting for oneself".
@Suite("Deleting for oneself at the command line", .serialized, .timeLimit(.minutes(3)))
struct OwnDeletionProcessTests {
    private func run(_ words: String..., at node: NodeProcess) async throws -> (
        status: Int32, output: String
    ) {
        try await node.run(words)
    }

    @Test("a message is gone from lists and the search here, and stays with everybody else")
    func deleting() async throws {
        let pair = try await ProcessPair()
        let (ann, ben) = (pair.ann, pair.ben)
        _ = try await run("send", "log", "the heron flies at dawn", at: ann)
        _ = try await run("send", "log", "bring a coat", at: ann)
        try await eventually("ben has both", on: [ann, ben]) {
            try await run("conversations", at: ben).output.contains("2 new")
        }
        let client = try #require(await ben.client)
        let heron = try #require(
            try await client.perform(ReadMessages(conversation: "log", limit: 9)).messages.first)
        _ = try await run("reply", "log", "\(heron.number)", "good", at: ben)
        let both = try await run("delete", heron.id, "--for-me", "--others", at: ben)
        #expect(both.status == 64, "\(both)")
        let said = try await run("delete", heron.id, "--for-me", at: ben)
        let expected = "deleted from your devices; others keep it, or still get it\n"
        #expect(said.output == expected, "\(said)")
        let again = try await run("delete", heron.id, "--for-me", at: ben)
        #expect(again.status == 1, "\(again)")
        let read = try await run("read", "log", "--newest", at: ben).output
        #expect(read.contains("bring a coat") && !read.contains("heron"), "\(read)")
        #expect(read.contains("(deleted)"), "the answer says so: \(read)")
        #expect(try await !run("search", "heron", at: ben).output.contains("flies"))
        let json = try await run("delete", "\(heron.number)", "--for-me", "--json", at: ann)
        #expect(json.status == 1 || json.output.contains("\"isDeleted\":true"), "\(json)")
        try await eventually("ann has the answer", on: [ann, ben]) {
            try await run("read", "log", "--newest", at: ann).output.contains("good")
        }
        let whole = try await run("search", "heron", at: ann).output
        #expect(whole.contains("flies"), "\(whole)")
    }

    @Test("what waits for others after it was deleted for oneself is shown and forwarded no more")
    func waiting() async throws {
        let pair = try await ProcessPair()
        let (ann, ben) = (pair.ann, pair.ben)
        #expect(try await ben.stop() == 0)
        _ = try await run("send", "log", "the code is 4711", at: ann)
        let client = try #require(await ann.client)
        let said = try #require(
            try await client.perform(ReadMessages(conversation: "log", limit: 9)).messages.last)
        #expect(try await run("delete", said.id, "--for-me", at: ann).status == 0)
        for words in [["edits", said.id], ["forward", said.id, "log"]] {
            let found = try await ann.run(words)
            #expect(found.status == 1 && !found.output.contains("4711"), "\(found)")
        }
        #expect(try await !run("read", "log", "--newest", at: ann).output.contains("4711"))
        // They are others' to have all the same.
        try await ben.start()
        try await eventually("ben has it", on: [ann, ben]) {
            try await run("search", "4711", at: ben).output.contains("the code is")
        }
    }
}
