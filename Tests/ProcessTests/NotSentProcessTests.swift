import Foundation
import Parley
import ParleyLocalAPI
import Testing

@Suite("A scheduled message that could not be sent", .timeLimit(.minutes(3)))
struct NotSentProcessTests {
    private func run(_ words: String..., at node: NodeProcess) async throws -> String {
        let program = try Program(words + ["--home", node.home])
        #expect(try await program.ended() == 0, "\(words): \(program.output)")
        return program.output
    }

    /// Once only the list of scheduled messages said so, which nobody looks at who takes it for sent.
    @Test("is told as it happens, and by the outbox and the status until something becomes of it")
    func told() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "welcome")
        let ben = try await all.client(all.ben)
        let cursor = try await ben.perform(ReadChanges(limit: 1)).cursor
        let soon = UInt64(Date().timeIntervalSince1970 * 1_000) + 8_000
        let scheduled = try await ben.perform(
            ScheduleMessage(conversation: "club", text: "too late", time: soon))
        #expect(try await !run("status", at: all.ben).contains("not sent"))
        try await ben.perform(LeaveGroup(conversation: "club", anyway: true))
        try await eventually("its time comes", on: [all.ben]) {
            try await ben.perform(ListScheduled()).first?.state == "failed"
        }
        let count = "1 scheduled message, which could not be sent in time: parley scheduled"
        let status = try await run("status", at: all.ben)
        #expect(status.contains("not sent") && status.contains(count), "\(status)")
        let outbox = try await run("outbox", at: all.ben)
        #expect(outbox.contains("not sent: " + count), "\(outbox)")
        let list = try await Advised.first("scheduled", in: outbox).run(in: all.folder.path)
        #expect(list.status == 0 && list.output.contains("too late"), "\(list.output)")

        let follower = try Program(["follow", "--after", cursor, "--home", all.ben.home])
        try await follower.says("not sent: too late  in “club”, could not be sent then: ")
        let why = try await Advised.first("scheduled send", in: follower.output)
            .run(in: all.folder.path)
        #expect(why.status == 1 && why.output.contains("no longer in that"), "\(why.output)")
        follower.signal(SIGKILL)
        try await follower.ended()
        let told = try await ben.perform(ReadChanges(after: cursor, limit: 100)).changes
        #expect(told.compactMap(\.scheduled?.id) == [scheduled.id])

        _ = try await run("scheduled", "delete", scheduled.id, at: all.ben)
        #expect(try await !run("status", at: all.ben).contains("not sent"))
        #expect(try await !run("outbox", at: all.ben).contains("not sent"))
        try await all.end()
    }
}
