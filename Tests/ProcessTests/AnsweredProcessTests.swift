import Foundation
import Parley
import ParleyLocalAPI
import Testing

@Suite("What is read, asked and answered", .serialized, .timeLimit(.minutes(3)))
struct AnsweredProcessTests {
    private func run(_ words: String..., at node: NodeProcess) async throws -> (
        status: Int32, output: String
    ) {
        let program = try Program(words + ["--home", node.home])
        return (try await program.ended(), program.output)
    }

    @Test("around a message stands in its own conversation, and is read by being shown")
    func around() async throws {
        let pair = try await ProcessPair()
        let (ann, ben) = (
            try #require(await pair.ann.client), try #require(await pair.ben.client)
        )
        let question = "Where do we meet on Friday evening?"
        try await ann.perform(SendMessages(conversation: "ben", texts: [question]))
        try await eventually("ben has it", on: [pair.ben]) {
            try await ben.perform(GetConversation(conversation: "ann")).unread == 1
        }
        let page = try await ben.perform(ReadMessages(conversation: "ann", limit: 1))
        let number = try #require(page.messages.first?.number)
        let strange = try await run("read", "log", "--around", "\(number)", at: pair.ben)
        #expect(strange.status == 1 && !strange.output.contains("Friday"), "\(strange.output)")
        #expect(strange.output.contains("#\(number) is not in “log”: it is in “ann”."))
        #expect(try await ben.perform(GetConversation(conversation: "ann")).unread == 1)
        let kept = try await run(
            "read", "ann", "--around", "\(number)", "--keep-unread", at: pair.ben)
        #expect(kept.status == 0 && kept.output.contains(question))
        #expect(try await ben.perform(GetConversation(conversation: "ann")).unread == 1)
        #expect(try await run("read", "ann", "--around", "\(number)", at: pair.ben).status == 0)
        #expect(try await ben.perform(GetConversation(conversation: "ann")).unread == 0)

        // The question is no answer to itself; what was replied to it may be.
        let alone = try await run("ask", "Where do we meet on Friday?", at: pair.ben)
        #expect(!alone.output.contains("“\(question)”"), "\(alone.output)")
        #expect(alone.output.contains("No message replies to it"), "\(alone.output)")
        let answer = "at the old mill, seven sharp"
        _ = try await run("reply", "ann", "\(number)", answer, at: pair.ben)
        let asked = try await run("ask", "where do we meet on friday", at: pair.ben)
        #expect(asked.output.contains("“\(answer)”"), "\(asked.output)")
        #expect(!asked.output.contains("“\(question)”"), "\(asked.output)")
        for node in [pair.ann, pair.ben] { #expect(try await node.stop() == 0) }
    }

    @Test("of a group stays readable while one is invited into it again")
    func invitedAgain() async throws {
        let pair = try await ProcessPair()
        let (ann, ben) = (
            try #require(await pair.ann.client), try #require(await pair.ben.client)
        )
        try await ann.perform(SendMessages(conversation: "log", texts: ["before"]))
        try await eventually("ben has it", on: [pair.ben]) {
            try await ben.perform(GetConversation(conversation: "log")).unread == 1
        }
        try await ben.perform(SetAdditionPolicy(policy: .nobody))
        try await ann.perform(RemoveGroupMember(conversation: "log", person: "ben"))
        try await eventually("ben is out", on: [pair.ben]) {
            try await ben.perform(GetGroup(conversation: "log")).members.map(\.name) == ["ann"]
        }
        try await ann.perform(AddGroupMember(conversation: "log", person: "ben", role: .member))
        try await eventually("ben is invited", on: [pair.ben]) {
            try await ben.perform(ListInvitations()).waiting.map(\.name) == ["log"]
        }
        let listed = try await run("conversations", at: pair.ben)
        #expect(listed.output.contains("invited again"), "\(listed.output)")
        #expect(listed.output.contains("parley invitations accept --home"), "\(listed.output)")
        let read = try await run("read", "log", "--newest", at: pair.ben)
        #expect(read.status == 0 && read.output.contains("before"), "\(read.output)")
        let vain = try await run("send", "log", "too early", at: pair.ben)
        #expect(vain.status == 1 && vain.output.contains("have not accepted"), "\(vain.output)")
        let accepted = try await run("invitations", "accept", "log", at: pair.ben)
        #expect(accepted.status == 0)
        #expect(accepted.output.contains("accepted  “log”  "), "\(accepted.output)")
        try await eventually("ben writes", on: [pair.ben]) {
            try await run("send", "log", "back", at: pair.ben).status == 0
        }
        #expect(try await !ben.perform(GetConversation(conversation: "log")).isInvited)
        for node in [pair.ann, pair.ben] { #expect(try await node.stop() == 0) }
    }

    @Test("of a group answers to its name from when one accepts, whoever can be reached")
    func cutOff() async throws {
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        let ben = try await all.client(all.ben)
        try await ben.perform(SetAdditionPolicy(policy: .nobody))
        try await all.client(all.ann).perform(CreateConversation(name: "trip", members: ["ben"]))
        try await eventually("ben is invited", on: [all.ben]) {
            try await ben.perform(ListInvitations()).waiting.map(\.name) == ["trip"]
        }
        #expect(try await all.ben.run("offline", "on").status == 0)
        #expect(try await all.ben.run("invitations", "accept", "trip").status == 0)
        let listed = try await run("conversations", at: all.ben).output
        #expect(listed.contains("trip "), "\(listed)")
        let sent = try await run("send", "trip", "hi", at: all.ben)
        #expect(sent.status == 0, "\(sent.output)")
        #expect(try await all.ben.run("offline", "off").status == 0)
        try await eventually("ann reads it", on: [all.ann]) {
            try await all.texts("trip", of: all.ann) == ["hi"]
        }
        #expect(try await ben.perform(GetConversation(conversation: "trip")).name == "trip")
        try await all.end()
    }
}
