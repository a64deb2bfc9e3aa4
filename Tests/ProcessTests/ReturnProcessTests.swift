import Foundation
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
        if isSaid {
            try await ann.perform(SendMessages(conversation: "club", texts: ["hi"]))
            try await ben.perform(
                AskPoll(conversation: "club", question: "when?", options: ["now", "later"]))
            try await eventually("ann is asked", on: [all.ann]) {
                try await ann.perform(ListPolls()).count == 1
            }
        }
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
        let notice = "notice: messages in club from before you left and came back are not here"
        let read = try await all.ann.run("read", "club").output
        #expect(read.contains(notice) == isSaid, "\(read)")
        #expect(try await all.ann.run("conversations").output.contains(notice) == isSaid)
        if isSaid {
            let polls = try await all.ann.run("poll", "list", "club").output
            #expect(
                polls.contains("notice: polls, notes and the like in club from before you deleted"),
                "\(polls)")
        }
        #expect(try await !all.ben.run("conversations").output.contains("notice"))
        try await all.end()
    }

    /// Once nothing was said of it.
    @Test("is told what another device of theirs wrote before it left, and this one never had")
    func written() async throws {
        let pair = try await ProcessPair()
        let phone = NodeProcess(
            home: try await pair.linkPhone(to: pair.ben),
            address: "127.0.0.1:\(try FreePort.some())")
        let client = try await phone.start()
        let ann = try #require(await pair.ann.client)
        func texts(_ node: any NodeService) async throws -> [String?] {
            try await node.perform(ReadMessages(conversation: "log", limit: 9)).messages.map(\.text)
        }
        #expect(try await pair.ben.run("send", "log", "hello").status == 0)
        try await eventually("all have it", on: [pair.ann, phone]) {
            guard try await texts(ann) == ["hello"] else { return false }
            return try await texts(client) == ["hello"]
        }
        #expect(try await pair.ben.run("offline", "on").status == 0)
        #expect(try await phone.run("send", "log", "bye").status == 0)
        try await eventually("the phone may leave", on: [phone]) {
            try await phone.run("group", "leave", "log").status == 0
        }
        try await eventually("ann knows it", on: [pair.ann]) {
            try await ann.perform(GetGroup(conversation: "log")).members.count == 1
        }
        try await ann.perform(AddGroupMember(conversation: "log", person: "ben", role: .member))
        try await eventually("the phone is in again", on: [phone]) {
            try await client.perform(GetGroup(conversation: "log")).members.count == 2
        }
        #expect(try await pair.ben.run("offline", "off").status == 0)
        let ben = try #require(await pair.ben.client)
        try await ann.perform(SendMessages(conversation: "log", texts: ["again"]))
        try await eventually("the computer is in again", on: [pair.ben]) {
            try await texts(ben) == ["hello", "again"]
        }
        let notice = "notice: some messages in log from before you came back are not here"
        #expect(try await pair.ben.run("conversations").output.contains(notice))
        #expect(try await !phone.run("conversations").output.contains("notice"))
        for node in [pair.ann, pair.ben, phone] { #expect(try await node.stop() == 0) }
    }

    /// Whoever deletes a conversation forgets what they had told of it, and what they tell next holds.
    @Test("takes nothing back of what they had read, on a device that was recovered as well")
    func readStaysRead() async throws {
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        func state(_ text: String, at node: NodeClient) async throws -> String? {
            let shown = try await node.perform(ReadMessages(conversation: "ben", limit: 9)).messages
            return shown.first { $0.text == text }?.state
        }
        func isRead(_ text: String) async throws {
            try await ann.perform(SendMessages(conversation: "ben", texts: [text]))
            try await eventually("ben has it", on: [all.ann, all.ben]) {
                try await all.ben.run("read", "ann").output.contains(text)
            }
            try await eventually("ann hears of it", on: [all.ann, all.ben]) {
                try await state(text, at: ann) == "read"
            }
        }
        try await isRead("before")
        try await ben.perform(AnswerContact(person: "ann", decision: .block))
        #expect(try await all.ben.run("conversations", "delete", "ann").status == 0)
        try await ben.perform(AnswerContact(person: "ann", decision: .unblock))
        try await isRead("after")
        #expect(try await state("before", at: ann) == "read")
        #expect(try await all.ann.run("read", "ben").output.contains("before  ✓✓ read"))

        let backup = all.folder.path + "/ann.parley"
        let code = all.folder.path + "/code"
        try Data(try #require(all.ann.recoveryCode).utf8).write(to: URL(filePath: code))
        #expect(try await all.ann.run("backup", "create", backup).status == 0)
        #expect(try await all.ann.stop() == 0)
        let again = NodeProcess(
            home: all.folder.home("again"), address: "127.0.0.1:\(try FreePort.some())")
        let recovered = try await again.run(
            "recover", "--backup", backup, "--code-file", code, "--yes")
        #expect(recovered.status == 0, "\(recovered.output)")
        let other = try await again.start()
        try await eventually("it is known there", on: [again, all.ben]) {
            guard try await other.perform(GetStatus()).pendingCount == 0 else { return false }
            return try await state("before", at: other) == "read"
        }
        #expect(try await again.stop() == 0)
        try await all.end()
    }
}
