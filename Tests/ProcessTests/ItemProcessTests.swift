import Parley
import ParleyLocalAPI
import Testing

@Suite("What is to be done, at the command line", .serialized, .timeLimit(.minutes(3)))
struct ItemProcessTests {
    private func run(_ words: String..., at node: NodeProcess) async throws -> String {
        let program = try Program(words + ["--home", node.home])
        #expect(try await program.ended() == 0, "\(words): \(program.output)")
        return program.output
    }

    @Test("something is noted from a message, given to somebody, done by them, and taken back")
    func work() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "we need a hut")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        let message = try #require(
            try await ann.perform(ReadMessages(conversation: "club", limit: 1)).messages.first)
        let noted = try await run(
            "action", "new", "club", "book the hut", "--for", "ben", "--due", "2026-12-01",
            "--from", message.id, at: all.ann)
        #expect(noted.contains("☐ book the hut  ben, due 2026-12-01"), "\(noted)")
        #expect(noted.contains("from the message \(message.id)"), "\(noted)")
        try await eventually("ben has it to do", on: [all.ben]) {
            try await ben.perform(ListItems(mine: true)).map(\.title) == ["book the hut"]
        }
        let item = try #require(try await ben.perform(ListItems(mine: true)).first)
        #expect(item.place == "club" && item.author == "ann" && item.source == message.id)
        #expect(try await run("action", "list", "--mine", at: all.ann).contains("nothing to do"))
        let stranger = try await Program.run(
            "action", "edit", item.id, "--for", "nobody", "--home", all.ben.home)
        #expect(stranger.status == 1, "\(stranger)")
        _ = try await run("action", "edit", item.id, "--for", "me", "--notes", "two", at: all.ann)
        let done = try await run("action", "done", item.id, at: all.ben)
        #expect(done.contains("☑ book the hut") && done.contains("done by ben"), "\(done)")
        try await eventually("ann sees that it is done", on: [all.ann]) {
            let shown = try await ann.perform(GetItem(item: MessageReference(item.id)))
            return shown.doneBy == "ben" && shown.assignees.count == 2 && shown.notes == "two"
        }
        let told = try await run("action", "list", "club", "--done", "--json", at: all.ann)
        #expect(told.contains("\"doneBy\":\"ben\""), "\(told)")
        try await eventually("both see the same", on: [all.ann, all.ben]) {
            func digest(_ node: NodeClient) async throws -> String? {
                try await node.perform(ListDigests()).first { $0.name == "club" }?.digest
            }
            let (seen, other) = (try await digest(ann), try await digest(ben))
            return seen != nil && seen == other
        }
        #expect(try await run("action", "delete", item.id, at: all.ann).contains("deleted: book"))
        try await eventually("it is gone", on: [all.ben]) {
            try await ben.perform(ListItems()).isEmpty
        }
        // Once there was none such, and the list of all was to show it.
        let gone = try await Program.run("action", "show", item.id, "--home", all.ben.home)
        #expect(gone.status == 1, "\(gone.output)")
        #expect(gone.output.contains("That action item was deleted."), "\(gone.output)")
        #expect(!gone.output.contains("--all"), "\(gone.output)")
    }
}
