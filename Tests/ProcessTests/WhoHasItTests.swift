import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// What a node says of who has a message, where people come and go.
@Suite("Who has a message", .serialized, .timeLimit(.minutes(4)))
struct WhoHasItTests {
    private func add(_ person: String, to group: String, _ all: Neighbours) async throws {
        let ann = try await all.client(all.ann)
        try await ann.perform(AddGroupMember(conversation: group, person: person, role: .member))
        try await eventually("\(person) takes part", on: [all.ann]) {
            let members = try await ann.perform(GetGroup(conversation: group)).members
            return members.count == 2 && members.allSatisfy { !$0.isInvited }
        }
    }

    private func remove(_ person: String, from group: String, _ all: Neighbours) async throws {
        let ann = try await all.client(all.ann)
        try await ann.perform(RemoveGroupMember(conversation: group, person: person))
        try await eventually("\(person) is out", on: [all.ann]) {
            try await ann.perform(GetGroup(conversation: group)).members.count == 1
        }
    }

    private func state(of text: String, in group: String, _ all: Neighbours) async throws
        -> String?
    {
        try await all.client(all.ann).perform(ReadMessages(conversation: group, limit: 9))
            .messages.first { $0.text == text }?.state
    }

    /// What `why` says of a message and a person's only device.
    private func why(_ text: String, in group: String, of person: String, _ all: Neighbours)
        async throws -> String
    {
        let page = try await all.client(all.ann).perform(
            ReadMessages(conversation: group, limit: 9))
        let number = try #require(page.messages.first { $0.text == text }?.number)
        let shown = try await all.ann.run("why", "\(number)").output
        let line = shown.split(separator: "\n").first { $0.hasPrefix("  \(person), ") }
        return String(try #require(line, "\(shown)"))
    }

    @Test("of who came later is said that it was not for them, while they are there and after")
    func late() async throws {
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        let ann = try await all.client(all.ann)
        #expect(try await all.ann.run("group", "create", "diary").status == 0)
        try await ann.perform(SendMessages(conversation: "diary", texts: ["dear diary"]))
        try await add("ben", to: "diary", all)
        try await ann.perform(SendMessages(conversation: "diary", texts: ["welcome"]))
        try await eventually("ben has what came after", on: [all.ann]) {
            try await state(of: "welcome", in: "diary", all) == "delivered"
        }
        let words = "  not meant for it: it joined later"
        let there = try await why("dear diary", in: "diary", of: "ben", all)
        #expect(there.contains(words), "\(there)")
        try await remove("ben", from: "diary", all)
        let gone = try await why("dear diary", in: "diary", of: "ben", all)
        #expect(gone.contains(words) && !gone.contains("delivered"), "\(gone)")
        let after = try await why("welcome", in: "diary", of: "ben", all)
        #expect(after.contains("  delivered"), "\(after)")
        try await all.end()
    }

    @Test("what somebody said that they have read stays so when they have gone and come again")
    func again() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "welcome")
        #expect(try await all.ben.run("read", "club").status == 0)
        try await eventually("ann hears that it was read", on: [all.ann]) {
            try await state(of: "welcome", in: "club", all) == "read"
        }
        // What comes to him only once he is back.
        #expect(try await all.ben.stop() == 0)
        let ann = try await all.client(all.ann)
        try await ann.perform(SendMessages(conversation: "club", texts: ["are you there?"]))
        try await remove("ben", from: "club", all)
        try await all.ben.start()
        try await add("ben", to: "club", all)
        #expect(try await state(of: "welcome", in: "club", all) == "read")
        let known = try await why("welcome", in: "club", of: "ben", all)
        #expect(known.contains("  read  ") && known.contains("said so in a receipt"), "\(known)")
        // He was there before, so that it was not for him is not known either.
        let missed = try await why("are you there?", in: "club", of: "ben", all)
        #expect(missed.contains("  not known to have it"), "\(missed)")
        try await all.end()
    }

    @Test("what none who are there are to have waits for nobody")
    func nobodys() async throws {
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        #expect(try await all.ann.run("group", "create", "diary").status == 0)
        #expect(try await all.ann.run("send", "diary", "dear diary").status == 0)
        let ann = try await all.client(all.ann)
        let page = try await ann.perform(ReadMessages(conversation: "diary", limit: 9))
        let number = try #require(page.messages.first?.number)
        #expect(try await all.ann.run("react", "\(number)", "👍").status == 0)
        try await add("ben", to: "diary", all)
        #expect(try await all.ann.run("outbox").output == "Nothing waits.\n")
        #expect(try await ann.perform(GetStatus()).pendingCount == 0)

        // What he is to have waits for him as long as he does not go.
        #expect(try await all.ben.stop() == 0)
        #expect(try await all.ann.run("send", "diary", "are you there?").status == 0)
        #expect(try await all.ann.run("outbox").output.contains("diary  1 saved here  0 on"))
        #expect(try await ann.perform(GetStatus()).pendingCount == 1)
        try await remove("ben", from: "diary", all)
        try await all.ben.start()
        try await add("ben", to: "diary", all)
        #expect(try await all.ann.run("outbox").output == "Nothing waits.\n")
        #expect(try await ann.perform(GetStatus()).pendingCount == 0)
        try await all.end()
    }

    @Test("what a device wrote while another one left waits for nobody, and who has it is unknown")
    func left() async throws {
        let pair = try await ProcessPair()
        let phone = NodeProcess(
            home: try await pair.linkPhone(to: pair.ben),
            address: "127.0.0.1:\(try FreePort.some())")
        let client = try await phone.start()
        let (ann, ben) = (
            try #require(await pair.ann.client), try #require(await pair.ben.client)
        )
        func states() async throws -> [String?] {
            try await client.perform(ReadMessages(conversation: "log", limit: 9)).messages
                .map(\.state)
        }
        try await eventually("the phone writes", on: [phone]) {
            try await phone.run("send", "log", "in time").status == 0
        }
        try await eventually("ann has it", on: [phone]) { try await states() == ["delivered"] }
        #expect(try await phone.run("offline", "on").status == 0)
        #expect(try await phone.run("send", "log", "too late").status == 0)
        try await ben.perform(LeaveGroup(conversation: "log"))
        try await eventually("ann hears that ben left", on: [pair.ann]) {
            try await ann.perform(GetGroup(conversation: "log")).members.map(\.name) == ["ann"]
        }
        #expect(try await phone.run("offline", "off").status == 0)
        try await eventually("the phone hears it, too", on: [phone]) {
            try await client.perform(GetConversation(conversation: "log")).members == ["ann"]
        }
        #expect(try await states() == ["delivered", "untold"])
        let read = try await phone.run("read", "log", "--newest").output
        let words =
            "  ✓ not known whether it arrived: you were no longer a member by then\n"
        #expect(read.contains("too late" + words), "\(read)")
        #expect(read.contains("in time  ✓✓\n"), "\(read)")
        #expect(try await phone.run("outbox").output == "Nothing waits.\n")
        #expect(try await client.perform(GetStatus()).pendingCount == 0)
        let page = try await client.perform(ReadMessages(conversation: "log", limit: 1))
        let number = try #require(page.messages.first?.number)
        let why = try await phone.run("why", "\(number)").output
        #expect(
            why.contains(
                "not known here: you are no longer in it, and learn no more"), "\(why)")
        for node in [pair.ann, pair.ben, phone] { #expect(try await node.stop() == 0) }
    }
}
