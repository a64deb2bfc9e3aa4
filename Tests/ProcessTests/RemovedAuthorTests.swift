import Parley
import ParleyLocalAPI
import Testing

@Suite("Who was removed", .serialized, .timeLimit(.minutes(3)))
struct RemovedAuthorTests {
    private func run(_ words: String..., at node: NodeProcess) async throws -> (
        status: Int32, output: String
    ) {
        let program = try Program(words + ["--home", node.home])
        return (try await program.ended(), program.output)
    }

    @Test("keeps what they wrote before they heard of it, and reads that nobody took it")
    func untaken() async throws {
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        let ann = try await all.client(all.ann)
        _ = try await ann.newConversation(name: "club", members: ["ben"])
        try await eventually("ben is in", on: [all.ben]) {
            try await all.client(all.ben).conversations().contains { $0.name == "club" }
        }
        _ = try await ann.send(conversation: "club", texts: ["welcome"], replyTo: nil)
        try await eventually("ben reads", on: [all.ben]) {
            try await all.texts("club", of: all.ben) == ["welcome"]
        }
        #expect(try await all.ben.stop() == 0)
        _ = try await ann.removeMember(conversation: "club", person: "ben")
        let sent = try await run("send", "club", "an hour of work", at: all.ben)
        #expect(sent.status == 0, "\(sent.output)")
        let ben = try await all.ben.start()
        try await eventually("ben hears of it", on: [all.ben]) {
            try await ben.events(conversation: "club").contains { $0.change == "removed" }
        }
        let page = try await ben.messages(conversation: "club", before: nil, limit: 10)
        #expect(page.messages.compactMap(\.text) == ["welcome", "an hour of work"])
        let shown = try await run("read", "club", at: all.ben).output
        #expect(
            shown.contains("an hour of work  not delivered: you were removed before it arrived"),
            "\(shown)")
        let number = try #require(page.messages.last?.number)
        let why = try await run("why", "\(number)", at: all.ben)
        #expect(why.output.contains("does not count"), "\(why.output)")
        #expect(try await all.texts("club", of: all.ann) == ["welcome"])
        try await all.end()
    }
}
