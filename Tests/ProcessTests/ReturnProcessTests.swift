import Parley
import ParleyLocalAPI
import Testing

@Suite("Who comes back, in processes", .serialized, .timeLimit(.minutes(3)))
struct ReturnProcessTests {
    /// Once a message that was deleted just before its reader was removed stayed with them for good.
    @Test("has no message any more that was deleted before they were removed")
    func deleted() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "my PIN is 1234")
        let ann = try await all.client(all.ann)
        #expect(try await all.ben.stop() == 0)
        let page = try await ann.perform(ReadMessages(conversation: "club", limit: 10))
        let number = try #require(page.messages.first?.number)
        #expect(try await all.ann.run("delete", "\(number)").status == 0)
        try await ann.perform(RemoveGroupMember(conversation: "club", person: "ben"))
        let ben = try await all.ben.start()
        try await eventually("ben hears of it", on: [all.ben]) {
            try await ben.perform(ListMembershipEvents(conversation: "club")).contains {
                $0.change == "removed"
            }
        }
        #expect(try await all.texts("club", of: all.ben) == ["my PIN is 1234"])
        try await ann.perform(AddGroupMember(conversation: "club", person: "ben", role: .member))
        try await ann.perform(SendMessages(conversation: "club", texts: ["again"]))
        try await eventually("it is gone", on: [all.ben]) {
            try await all.texts("club", of: all.ben) == ["again"]
        }
        #expect(try await !all.ben.run("search", "PIN").output.contains("1234"))
        try await eventually("nothing waits", on: [all.ann]) {
            try await ann.perform(GetStatus()).pendingCount == 0
        }
        let shown = try await all.ann.run("read", "club", "--newest").output
        #expect(shown.contains("(deleted)  ✓✓"), "\(shown)")
        try await all.end()
    }
}
