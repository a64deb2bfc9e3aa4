import Parley
import Testing

@Suite("A search for what messages are and have", .serialized, .timeLimit(.minutes(5)))
struct ConditionSearchTests {
    @Test("finds them behind thousands that are newer, and says where it ends")
    func old() async throws {
        let folder = try TemporaryFolder()
        let home = folder.home("a")
        let (node, _) = try await Node.create(NodeSettings(home: home), name: "ann")
        try await node.perform(CreateConversation(name: "notes", members: []))
        let sent = try await node.perform(
            SendMessages(conversation: "notes", texts: ["the mill", "the lake", "the tower"])
        ).map { MessageReference($0.number) }
        try await node.perform(EditMessage(message: sent[0], text: "the old mill"))
        try await node.perform(ReactToMessage(message: sent[1], emoji: "👍", on: true))
        try await node.perform(
            SendMessages(conversation: "notes", texts: ["an answer"], replyTo: sent[2]))
        for part in 0..<51 {
            let texts = (1...100).map { "line \(100 * part + $0)" }
            try await node.perform(SendMessages(conversation: "notes", texts: texts))
        }
        await node.shutdown()
        func search(_ words: String) async throws -> String {
            let found = try await Program.run("search", words, "--home", home)
            #expect(found.status == 0, "\(words): \(found.output)")
            return found.output
        }
        #expect(try await search("is:edited").contains("the old mill"))
        #expect(try await search("has:reaction").contains("the lake"))
        #expect(try await search("is:reply").contains("an answer"))
        // What only a look at every text tells ends somewhere, and does not pass for an answer.
        let vain = try await search("from:me -line")
        #expect(vain.contains("Only the newest 5000 messages"), "\(vain)")
    }
}
