import Parley
import ParleyLocalAPI
import Testing

@Suite("Threads at the command line", .serialized, .timeLimit(.minutes(3)))
struct ThreadProcessTests {
    private func run(_ words: String..., at node: NodeProcess) async throws -> String {
        let program = try Program(words + ["--home", node.home])
        #expect(try await program.ended() == 0, "\(words): \(program.output)")
        return program.output
    }

    @Test("an answer to an answer is in the thread; it is listed with what is new, and read apart")
    func thread() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "who brings the tent?")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        let tent = try #require(
            try await ben.perform(ReadMessages(conversation: "club", limit: 1)).messages.first)
        _ = try await run("reply", "club", tent.id, "I do", at: all.ben)
        try await eventually("the answer comes", on: [all.ann]) {
            try await ann.perform(ListThreads(limit: 5)).threads.first?.unreadCount == 1
        }
        let mine = try #require(
            try await ann.perform(ReadThread(message: MessageReference(tent.id), limit: 5))
                .answers.first)
        _ = try await run("reply", "club", mine.id, "is it big?", at: all.ann)
        _ = try await run("send", "club", "unrelated", at: all.ann)
        _ = try await run("send", "club", "and the stove?", "--thread", mine.id, at: all.ann)
        try await eventually("both come", on: [all.ben]) {
            let list = try await ben.perform(ListThreads(conversation: "club", limit: 5))
            return list.threads.map(\.answerCount) == [3]
                && list.threads.map(\.unreadCount) == [2]
        }
        let listed = try await run("threads", at: all.ben)
        #expect(listed.contains("who brings the tent?"), "\(listed)")
        #expect(listed.contains("3 answers, 2 new"), "\(listed)")
        let shown = try await run("thread", mine.id, at: all.ben)
        for text in ["who brings the tent?", "I do", "is it big?", "and the stove?"] {
            #expect(shown.contains(text), "\(shown)")
        }
        #expect(!shown.contains("unrelated"))
        let read = try await ben.perform(ReadThread(message: MessageReference(tent.id), limit: 1))
        #expect(read.unreadCount == 0 && read.aboveCount == 2)
        #expect(read.answers.map(\.text) == ["and the stove?"])
        #expect(read.answers.map(\.quote?.text) == ["who brings the tent?"])
        let above = try await ben.perform(
            ReadThread(message: MessageReference(tent.id), limit: 5, before: read.cursor))
        #expect(above.answers.map(\.text) == ["I do", "is it big?"] && above.cursor == nil)
        // What is beside the thread is still new.
        let rest = try await ben.perform(GetConversation(conversation: "club"))
        #expect(rest.unread == 1)
        _ = try await run("delete", tent.id, at: all.ann)
        try await eventually("the first message is gone", on: [all.ben]) {
            try await ben.perform(ListThreads(limit: 5)).threads.first?.root?.isDeleted == true
        }
        let after = try await run("thread", tent.id, at: all.ben)
        #expect(after.contains("(deleted)") && after.contains("(deleted) I do"), "\(after)")
        try await all.end()
    }
}
