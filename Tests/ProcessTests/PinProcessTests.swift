import Parley
import ParleyLocalAPI
import Testing

@Suite("Pins at the command line", .serialized, .timeLimit(.minutes(3)))
struct PinProcessTests {
    private func run(_ words: String..., at node: NodeProcess) async throws -> String {
        let program = try Program(words + ["--home", node.home])
        #expect(try await program.ended() == 0, "\(words): \(program.output)")
        return program.output
    }

    @Test("an admin pins for everybody, both do in a conversation of two, and a member is refused")
    func pinning() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "the rules")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        let rules = try #require(
            try await ann.perform(ReadMessages(conversation: "club", limit: 1)).messages.first)
        let refused = try await Program.run("pin", rules.id, "--home", all.ben.home)
        #expect(
            refused.status == 1 && refused.output.contains("an owner or an admin"), "\(refused)")
        #expect(refused.output.contains("hint: Ask ann."), "\(refused)")
        let pinned = try await run("pin", rules.id, at: all.ann)
        // Ben may not have it at that moment.
        #expect(pinned.contains("the rules  (") && pinned.contains("(pinned)"), "\(pinned)")
        try await eventually("ben sees it", on: [all.ben]) {
            try await ben.perform(ListPins(conversation: "club")).messages.map(\.id) == [rules.id]
        }
        let read = try await run("read", "club", "--newest", at: all.ben)
        #expect(read.contains("the rules  (pinned)"), "\(read)")
        let told = try await run("pins", "club", "--json", at: all.ben)
        #expect(told.contains("\"isPinned\":true"), "\(told)")
        try await eventually("both see the same", on: [all.ann, all.ben]) {
            func digest(_ node: NodeClient) async throws -> String? {
                try await node.perform(ListDigests()).first { $0.name == "club" }?.digest
            }
            let (seen, other) = (try await digest(ann), try await digest(ben))
            return seen != nil && seen == other
        }
        try await ann.perform(SendMessages(conversation: "ben", texts: ["at nine"]))
        try await eventually("it comes", on: [all.ben]) {
            try await all.texts("ann", of: all.ben) == ["at nine"]
        }
        let nine = try #require(
            try await ben.perform(ReadMessages(conversation: "ann", limit: 1)).messages.first)
        _ = try await run("pin", nine.id, at: all.ben)
        try await eventually("ann sees it", on: [all.ann]) {
            try await ann.perform(ListPins(conversation: "ben")).messages.map(\.id) == [nine.id]
        }
        _ = try await run("pin", nine.id, "--remove", at: all.ann)
        #expect(try await run("pins", "ben", at: all.ann).contains("nothing is pinned there"))
        try await ann.perform(DeleteMessage(message: MessageReference(rules.id)))
        try await eventually("it is gone", on: [all.ben]) {
            try await ben.perform(ListPins(conversation: "club")).messages.isEmpty
        }
        let gone = try await Program.run("pin", rules.id, "--home", all.ann.home)
        #expect(gone.status == 1 && gone.output.contains("was deleted"), "\(gone)")
        try await all.end()
    }
}
