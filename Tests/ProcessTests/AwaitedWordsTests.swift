import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// Ben is asked before he is in a group.
@Suite("Words in a group that nobody else has accepted", .serialized, .timeLimit(.minutes(4)))
struct AwaitedWordsTests {
    private func run(_ words: String..., at node: NodeProcess) async throws -> String {
        let program = try Program(words + ["--home", node.home])
        #expect(try await program.ended() == 0, "\(words): \(program.output)")
        return program.output
    }

    /// Ann has asked ben into a group, and he has not answered.
    private func asked(_ all: Neighbours, with others: [String] = []) async throws {
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        try await all.meet(all.ann, all.ben, named: "ben")
        try await ben.perform(SetAdditionPolicy(policy: .nobody))
        try await ann.perform(CreateConversation(name: "duo", members: ["ben"] + others))
        try await eventually("ben is asked", on: [all.ben]) {
            try await !ben.perform(ListInvitations()).waiting.isEmpty
        }
    }

    /// Once nothing waited, by the outbox, and ben got all of it the moment he accepted.
    @Test("wait until one of them accepts, and say so")
    func awaited() async throws {
        let all = try await Neighbours()
        try await asked(all)
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        // The name went with the invitation, and ben's device says so.
        try await eventually("ann knows that ben is asked", on: [all.ann, all.ben]) {
            try await run("outbox", at: all.ann).contains("Nothing waits")
        }
        #expect(try await ann.perform(GetStatus()).pendingCount == 0)
        let why = "waits until ben accepts the invitation"
        try await ann.perform(SendMessages(conversation: "duo", texts: ["for ben"]))
        try await ann.perform(
            AskPoll(conversation: "duo", question: "when?", options: ["now", "never"]))
        let outbox = try await run("outbox", at: all.ann)
        #expect(outbox.contains("1 saved here") && outbox.contains("1 changed"), "\(outbox)")
        #expect(outbox.contains(why) && !outbox.contains("Nothing waits"), "\(outbox)")
        let status = try await ann.perform(GetStatus())
        #expect(status.pendingCount == 2 && status.awaited == ["2 in “duo” \(why)"])
        #expect(try await run("status", at: all.ann).contains(why))
        let read = try await run("read", "duo", "--newest", at: all.ann)
        #expect(read.contains("for ben  ✓ waits until somebody accepts"), "\(read)")
        let polls = try await run("poll", "list", at: all.ann)
        #expect(polls.contains("(waits until somebody accepts the invitation)"), "\(polls)")

        // Once who left lost it for them without a word.
        let left = try await Program.run("group", "leave", "duo", "--home", all.ann.home)
        #expect(left.status == 1, "\(left.output)")
        #expect(
            left.output.contains("Besides, nobody there has all that you wrote."),
            "\(left.output)")
        let group = try #require(try await ben.perform(ListInvitations()).waiting.first)
        try await ben.perform(AnswerInvitation(conversation: group.id, accepting: true))
        try await eventually("ben has it, and nothing waits", on: [all.ann, all.ben]) {
            guard try await ann.perform(ListOutbox()).isEmpty else { return false }
            return try await all.texts("duo", of: all.ben) == ["for ben"]
        }
        let state = try await ann.perform(ReadMessages(conversation: "duo", limit: 1))
            .messages.last?.state
        #expect(state == "delivered" || state == "read")
        #expect(try await ann.perform(GetStatus()).awaited.isEmpty)
        try await all.end()
    }

    @Test("wait for none of the invited where somebody else takes part")
    func among() async throws {
        let all = try await Neighbours()
        try await all.meet(all.ann, all.cara, named: "cara")
        try await asked(all, with: ["cara"])
        let ann = try await all.client(all.ann)
        try await eventually("cara is in", on: [all.cara]) {
            try await all.client(all.cara).perform(ListConversations()).contains {
                $0.name == "duo"
            }
        }
        try await ann.perform(SendMessages(conversation: "duo", texts: ["for both"]))
        try await eventually("nothing waits", on: [all.ann]) {
            let outbox = try await ann.perform(ListOutbox())
            let pending = try await ann.perform(GetStatus()).pendingCount
            return outbox.isEmpty && pending == 0
        }
        let state = try await ann.perform(ReadMessages(conversation: "duo", limit: 1))
            .messages.last?.state
        #expect(state == "delivered")
        try await all.end()
    }
}
