import Parley
import ParleyLocalAPI
import Testing

@Suite("The list of conversations at the command line", .serialized, .timeLimit(.minutes(3)))
struct ListingProcessTests {
    private func run(_ words: String..., at node: NodeProcess) async throws -> String {
        let program = try Program(words + ["--home", node.home])
        #expect(try await program.ended() == 0, "\(words): \(program.output)")
        return program.output
    }

    @Test("shows apart what was put away until something comes, and what is unread or silent")
    func listing() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "at nine")
        let ann = try await all.client(all.ann)
        _ = try await run("read", "club", at: all.ben)
        try await eventually("ann is told", on: [all.ann]) {
            try await ann.perform(ReadMessages(conversation: "club", limit: 1)).messages.map(
                \.state)
                == ["read"]
        }
        _ = try await run("archive", "club", at: all.ben)
        _ = try await run("unread", "club", at: all.ben)
        _ = try await run("mute", "club", "--for", "8h", at: all.ben)
        let away = try await run("conversations", at: all.ben)
        let parts = away.split(separator: "archived\n", omittingEmptySubsequences: false)
        #expect(parts.count == 2 && parts[0].hasPrefix("ann  ") && parts[1].hasPrefix("club  "))
        #expect(away.contains("  unread  ") && away.contains("  muted until "), "\(away)")
        let told = try await run("conversations", "--json", at: all.ben)
        #expect(told.contains("\"isArchived\":true") && told.contains("\"isMarkedUnread\":true"))
        // Nobody else hears of any of it, and what was told of reading stays.
        let other = try await run("conversations", at: all.ann)
        #expect(
            !other.contains("archived") && !other.contains("unread") && !other.contains("muted"))
        #expect(
            try await ann.perform(ReadMessages(conversation: "club", limit: 1)).messages.map(
                \.state)
                == ["read"])
        try await ann.perform(SendMessages(conversation: "club", texts: ["at ten"]))
        try await eventually("it is back", on: [all.ben]) {
            try await !run("conversations", at: all.ben).contains("archived")
        }
        #expect(try await run("conversations", at: all.ben).contains("  1 new  "))
        _ = try await run("read", "club", at: all.ben)
        _ = try await run("mute", "club", "--off", at: all.ben)
        let back = try await run("conversations", at: all.ben)
        #expect(!back.contains("unread") && !back.contains("muted") && !back.contains("new"))
        _ = try await run("archive", "club", at: all.ben)
        #expect(try await run("conversations", at: all.ben).contains("\narchived\nclub  "))
        _ = try await run("unarchive", "club", at: all.ben)
        #expect(try await !run("conversations", at: all.ben).contains("archived"))
        try await all.end()
    }
}
