import Parley
import ParleyLocalAPI
import Testing

@Suite("Stars at the command line", .serialized, .timeLimit(.minutes(3)))
struct StarProcessTests {
    private func run(_ words: String..., at node: NodeProcess) async throws -> String {
        let program = try Program(words + ["--home", node.home])
        #expect(try await program.ended() == 0, "\(words): \(program.output)")
        return program.output
    }

    @Test("a message is marked and listed under its conversation, until it is deleted")
    func marking() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "the key is under the mat")
        let ann = try await all.client(all.ann)
        try await ann.perform(SendMessages(conversation: "ben", texts: ["at nine"]))
        try await eventually("it comes", on: [all.ben]) {
            try await all.texts("ann", of: all.ben) == ["at nine"]
        }
        let ben = try await all.client(all.ben)
        let key = try #require(
            try await ben.perform(ReadMessages(conversation: "club", limit: 1)).messages.first)
        let nine = try #require(
            try await ben.perform(ReadMessages(conversation: "ann", limit: 1)).messages.first)
        let empty = try await run("stars", at: all.ben)
        #expect(empty.contains("no message is starred"), "\(empty)")
        let marked = try await run("star", key.id, at: all.ben)
        #expect(marked.contains("the key is under the mat  ★"), "\(marked)")
        _ = try await run("star", "\(nine.number)", at: all.ben)
        let listed = try await run("stars", at: all.ben)
        let places = ["ann\n", "at nine  ★", "club\n", "the mat  ★"].map {
            listed.firstRange(of: $0)
        }
        #expect(places.allSatisfy { $0 != nil }, "\(listed)")
        #expect(listed.hasPrefix("ann\n"), "the last one first: \(listed)")
        let told = try await run("stars", "--json", "--limit", "1", at: all.ben)
        #expect(told.contains("\"isStarred\":true") && told.contains("\"next\":1"), "\(told)")
        let read = try await run("read", "club", "--newest", at: all.ben)
        #expect(read.contains("the mat  ★"), "\(read)")
        // Whoever wrote it hears nothing of it.
        #expect(try await !run("read", "club", "--newest", at: all.ann).contains("★"))
        #expect(try await run("stars", at: all.ann).contains("no message is starred"))
        _ = try await run("star", "\(nine.number)", "--remove", at: all.ben)
        #expect(try await !run("stars", at: all.ben).contains("at nine"))
        try await ann.perform(DeleteMessage(message: MessageReference(key.id)))
        try await eventually("it is gone", on: [all.ben]) {
            try await all.texts("club", of: all.ben) == []
        }
        #expect(try await run("stars", at: all.ben).contains("no message is starred"))
        let refused = try await Program.run("star", key.id, "--home", all.ben.home)
        #expect(refused.status == 1 && refused.output.contains("was deleted"), "\(refused)")
        try await all.end()
    }
}
