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

    /// Whether a group of all is missing something was told by who had been withheld anything, and not by
    /// who had deleted it here.
    @Test(
        "is told that earlier words are missing where something was said, and only there",
        arguments: [("all", true), ("all", false), ("none", true), ("none", false)])
    func deletedHere(history: String, isSaid: Bool) async throws {
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        try await ann.perform(CreateConversation(name: "club", members: ["ben"]))
        if history != "none" {
            try await ann.perform(ChangeGroupSettings(conversation: "club", history: history))
        }
        try await eventually("ben is in it", on: [all.ann]) {
            try await ann.perform(GetGroup(conversation: "club")).members.allSatisfy {
                !$0.isInvited
            }
        }
        if isSaid { try await ann.perform(SendMessages(conversation: "club", texts: ["hi"])) }
        try await ann.perform(SetMemberRole(conversation: "club", person: "ben", role: .owner))
        try await ann.perform(LeaveGroup(conversation: "club"))
        try await eventually("ben is alone in it", on: [all.ben]) {
            guard try await ben.perform(ListConversations()).contains(where: { $0.name == "club" })
            else { return false }
            return try await all.members(of: "club", on: all.ben) == ["ben"]
        }
        try await eventually("ann may delete it", on: [all.ann]) {
            try await all.ann.run("conversations", "delete", "club").status == 0
        }
        try await ben.perform(AddGroupMember(conversation: "club", person: "ann", role: .member))
        try await eventually("ann is in again", on: [all.ann]) {
            try await ann.perform(ListConversations()).contains {
                $0.name == "club" && !$0.isInvited && $0.members.count == 2
            }
        }
        let notice = "notice: what was said in club before you went and came back is not here"
        let read = try await all.ann.run("read", "club").output
        #expect(read.contains(notice) == isSaid, "\(read)")
        #expect(try await all.ann.run("conversations").output.contains(notice) == isSaid)
        #expect(try await !all.ben.run("conversations").output.contains("notice"))
        try await all.end()
    }
}
