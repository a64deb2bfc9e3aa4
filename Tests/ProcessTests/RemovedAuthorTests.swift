import Parley
import ParleyLocalAPI
import Testing

@Suite("Who was removed", .serialized, .timeLimit(.minutes(3)))
struct RemovedAuthorTests {
    @Test("keeps what they wrote before they heard of it, and reads that nobody took it")
    func untaken() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "welcome")
        let ann = try await all.client(all.ann)
        #expect(try await all.ben.stop() == 0)
        _ = try await ann.removeMember(conversation: "club", person: "ben")
        let sent = try await all.ben.run("send", "club", "an hour of work")
        #expect(sent.status == 0, "\(sent.output)")
        let ben = try await all.ben.start()
        try await eventually("ben hears of it", on: [all.ben]) {
            try await ben.events(conversation: "club").contains { $0.change == "removed" }
        }
        let page = try await ben.messages(conversation: "club", before: nil, limit: 10)
        #expect(page.messages.compactMap(\.text) == ["welcome", "an hour of work"])
        let shown = try await all.ben.run("read", "club").output
        #expect(
            shown.contains("an hour of work  not delivered: you were removed before it arrived"),
            "\(shown)")
        let number = try #require(page.messages.last?.number)
        let why = try await all.ben.run("why", "\(number)")
        #expect(why.output.contains("does not count"), "\(why.output)")
        #expect(try await all.texts("club", of: all.ann) == ["welcome"])
        try await all.end()
    }
}
