import Glibc
import Parley
import ParleyLocalAPI
import Testing

@Suite("Reminders at the command line", .serialized, .timeLimit(.minutes(3)))
struct ReminderProcessTests {
    private func run(_ words: String..., at node: NodeProcess) async throws -> String {
        let program = try Program(words + ["--home", node.home])
        #expect(try await program.ended() == 0, "\(words): \(program.output)")
        return program.output
    }

    @Test("one of a message rings, is told to who follows, and is done")
    func reminding() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "the hut is full")
        let ann = try await all.client(all.ann)
        let message = try #require(
            try await ann.perform(ReadMessages(conversation: "club", limit: 1)).messages.first)
        let far = try await run(
            "remind", "--message", message.id, "--at", "2h", at: all.ann)
        #expect(far.contains("the hut is full") && far.contains("in “club”"), "\(far)")
        let follower = try Program(["follow", "--json", "--home", all.ann.home])
        try await follower.says(#""kind":"start""#)
        // A time that a person writes is minutes away: a program says a moment.
        let now = try await ann.perform(ListReminders())[0].time - 7_200_000
        let soon = try await ann.perform(
            AddReminder(text: "call the hut", time: now + 60_000))
        #expect(soon.state == "waiting" && soon.isHere)
        let near = try await ann.perform(AddReminder(text: "call now", time: now + 10_000))
        try await follower.says(#""kind":"reminder""#)
        #expect(follower.output.contains("call now"), "\(follower.output)")
        let list = try await run("reminders", at: all.ann)
        #expect(list.contains("call now  has rung"), "\(list)")
        _ = try await run("reminders", "done", String(near.id.prefix(8)), at: all.ann)
        _ = try await run("reminders", "delete", soon.id, at: all.ann)
        let left = try await ann.perform(ListReminders()).map(\.state).sorted()
        #expect(left == ["done", "waiting"])
        let ben = try await all.client(all.ben)
        #expect(try await ben.perform(ListReminders()).isEmpty)
        // Once it was said not to be here, as if it could still come.
        _ = try await run("delete", message.id, at: all.ann)
        let gone = try await run("reminders", at: all.ann)
        #expect(gone.contains("(what it is about was deleted)  in “club”"), "\(gone)")
        follower.signal(SIGKILL)
        try await follower.ended()
    }
}
