import Parley
import ParleyLocalAPI
import Testing

/// Rows are gone that follow from operations which are all there.
@Suite("What a database has forgotten", .serialized, .timeLimit(.minutes(3)))
struct ForgottenViewsTests {
    @Test("of contacts, profiles, mentions and threads is noticed, and made anew")
    func forgotten() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "welcome")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        try await ben.perform(ChangeProfile(status: "at the lake"))
        let root = try #require(
            try await ben.perform(ReadMessages(conversation: "club", limit: 1)).messages.last)
        try await ben.perform(
            SendMessages(
                conversation: "club", texts: ["hello @ann"], replyTo: MessageReference(root.id)))
        try await eventually("ann has all of it", on: [all.ann]) {
            let mentions = try await ann.perform(ListMentions(limit: 9)).mentions.count
            let profile = try await all.ann.run("profile", "ben").output
            return mentions == 1 && profile.contains("at the lake")
        }
        try await all.end()

        let file = all.ann.home + "/database"
        for (field, words) in [
            (6, ["contacts"]), (41, ["mentions"]), (44, ["threads"]), (45, ["threads"]),
            (47, ["profile", "ben"]),
        ] {
            let before = try await run(words, all.ann)
            _ = try SQLiteShell.run(file, "DELETE FROM entry WHERE field = \(field)")
            let found = try Program(["doctor", "--home", all.ann.home])
            #expect(try await found.ended() == 1, "\(field): \(found.output)")
            #expect(found.output.contains("different: "), "\(field): \(found.output)")
            let mended = try await run(["doctor", "--repair"], all.ann)
            #expect(mended.contains("Views were rebuilt."), "\(field): \(mended)")
            #expect(try await run(words, all.ann) == before, "\(field)")
            _ = try await run(["doctor"], all.ann)
        }
    }

    private func run(_ words: [String], _ node: NodeProcess) async throws -> String {
        let program = try Program(words + ["--home", node.home])
        #expect(try await program.ended() == 0, "\(words): \(program.output)")
        return program.output
    }
}
