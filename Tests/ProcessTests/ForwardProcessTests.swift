import Parley
import ParleyLocalAPI
import Testing

/// Ann knows ben and cara, who do not know each other.
@Suite("Forwarding", .serialized, .timeLimit(.minutes(3)))
struct ForwardProcessTests {
    private func run(_ words: String..., at node: NodeProcess) async throws -> String {
        let program = try Program(words + ["--home", node.home])
        #expect(try await program.ended() == 0, "\(words): \(program.output)")
        return program.output
    }

    /// Ben's words, as ann has them and passes them on to cara.
    private func talk(_ all: Neighbours, saying text: String) async throws -> (MessageView, String)
    {
        try await all.meet(all.ann, all.ben, named: "ben")
        try await all.meet(all.ann, all.cara, named: "cara")
        try await all.client(all.ben).perform(SendMessages(conversation: "ann", texts: [text]))
        try await eventually("it comes", on: [all.ann]) {
            try await all.texts("ben", of: all.ann) == [text]
        }
        _ = try await run("contact", "alias", "ben", "the boss", at: all.ann)
        let page = try await all.client(all.ann).perform(
            ReadMessages(conversation: "the boss", limit: 1))
        let message = try #require(page.messages.first)
        return (message, try await run("forward", message.id, "cara", at: all.ann))
    }

    @Test(
        "Attack 181: tells whose words they are, by the name that they go by, and nothing else of them"
    )
    func origin() async throws {
        let all = try await Neighbours()
        let (message, shown) = try await talk(all, saying: "at nine by the lake")
        #expect(shown.contains("ann  at nine by the lake  (forwarded from ben) ✓"), "\(shown)")
        try await eventually("cara has it", on: [all.cara]) {
            try await all.texts("ann", of: all.cara) == ["at nine by the lake"]
        }
        let read = try await run("read", "ann", at: all.cara)
        #expect(read.contains("ann  at nine by the lake  (forwarded from ben)\n"), "\(read)")
        let told = try await run("read", "ann", "--newest", "--json", at: all.cara)
        #expect(told.contains("\"forwardedFrom\":\"ben\""), "\(told)")
        for secret in [message.person, message.conversation, message.id, "the boss"] {
            #expect(!told.contains(secret), "\(secret) in \(told)")
        }
        let found = try await run("search", "lake", at: all.cara)
        #expect(found.contains("at nine by the"), "\(found)")
        // Through another hand the first name stays; who wants to leaves it out.
        let copy = try #require(
            try await all.client(all.cara).perform(ReadMessages(conversation: "ann", limit: 1))
                .messages.first)
        let back = try await run("forward", copy.id, "ann", at: all.cara)
        #expect(back.contains("(forwarded from ben)"), "\(back)")
        let own = try await run("forward", copy.id, "ann", "--without-origin", at: all.cara)
        #expect(own.contains("at nine by the lake") && !own.contains("forwarded"), "\(own)")
        try await all.end()
    }

    @Test("leaves a copy of its own: a deleted message is not passed on, a copy of it stays")
    func copies() async throws {
        let all = try await Neighbours()
        let (message, _) = try await talk(all, saying: "the code is 4711")
        try await all.client(all.ben).perform(DeleteMessage(message: MessageReference(message.id)))
        try await eventually("it is gone", on: [all.ann]) {
            try await all.texts("the boss", of: all.ann) == []
        }
        let refused = try await Program.run("forward", message.id, "cara", "--home", all.ann.home)
        #expect(refused.status == 1 && refused.output.contains("was deleted"), "\(refused)")
        let nobody = try await Program.run("forward", message.id, "dan", "--home", all.ann.home)
        #expect(nobody.status == 1, "\(nobody)")
        let unknown = try await Program.run("forward", "4711", "cara", "--home", all.ann.home)
        #expect(unknown.status == 1 && unknown.output.contains("no such message"), "\(unknown)")
        try await eventually("cara has it", on: [all.cara]) {
            try await all.texts("ann", of: all.cara) == ["the code is 4711"]
        }
        // Whoever changes the words is no more the messenger of another one.
        let copy = try #require(
            try await all.client(all.ann).perform(ReadMessages(conversation: "cara", limit: 1))
                .messages.first)
        #expect(copy.forwardedFrom == "ben")
        let edited = try await run("edit", copy.id, "the code is 1234", at: all.ann)
        #expect(edited.contains("(edited") && !edited.contains("forwarded"), "\(edited)")
        try await all.end()
    }
}
