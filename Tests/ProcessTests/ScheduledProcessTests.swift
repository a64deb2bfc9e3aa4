import Glibc
import Parley
import ParleyLocalAPI
import Testing

@Suite("Messages to be sent later, at the command line", .serialized, .timeLimit(.minutes(3)))
struct ScheduledProcessTests {
    private func run(_ words: String..., at node: NodeProcess) async throws -> String {
        let program = try Program(words + ["--home", node.home])
        #expect(try await program.ended() == 0, "\(words): \(program.output)")
        return program.output
    }

    @Test("one is sent in time, one sooner, one never")
    func sending() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "the hut is full")
        let ann = try await all.client(all.ann)
        let far = try await run("schedule", "club", "see you", "--at", "2h", at: all.ann)
        #expect(far.contains("see you  in “club”"), "\(far)")
        // A time that a person writes is minutes away: a program says a moment.
        let noted = try #require(try await ann.perform(ListScheduled()).first)
        let now = noted.time - 7_200_000
        _ = try await ann.perform(
            ScheduleMessage(conversation: "club", text: "good morning", time: now + 5_000))
        let gone = try await ann.perform(
            ScheduleMessage(conversation: "club", text: "never mind", time: now + 600_000))
        _ = try await run("scheduled", "delete", gone.id, at: all.ann)
        try await eventually("it is sent", on: [all.ann, all.ben]) {
            try await all.texts("club", of: all.ben).last == "good morning"
        }
        _ = try await run("scheduled", "send", String(noted.id.prefix(8)), at: all.ann)
        try await eventually("the other is sent", on: [all.ann, all.ben]) {
            try await all.texts("club", of: all.ben)
                == ["the hut is full", "good morning", "see you"]
        }
        #expect(try await ann.perform(ListScheduled()).isEmpty)
        let again = try Program(["scheduled", "send", "1a2b", "--home", all.ann.home])
        #expect(try await again.ended() == 1)
        #expect(again.output.contains("There is no such message to be sent later."))
    }

    /// "deleted" was said while another device, which was away, sent it all the same; and a revoked device
    /// advised a command that it could not carry out.
    @Test("what another device that is away is to send may be sent all the same, and that is said")
    func apart() async throws {
        let pair = try await ProcessPair()
        let phone = NodeProcess(
            home: try await pair.linkPhone(to: pair.ann),
            address: "127.0.0.1:\(try FreePort.some())")
        let phoneNode = try await phone.start()
        let ann = try #require(await pair.ann.client)
        let told = "was to send it and is not connected"
        for text in ["soon", "later", "much later"] {
            _ = try await run("schedule", "ben", text, "--at", "2h", at: pair.ann)
        }
        try await eventually("the phone lists them", on: [phone]) {
            try await phoneNode.perform(ListScheduled()).count == 3
        }
        let ids = try await phoneNode.perform(ListScheduled()).map(\.id)
        let near = try await run("scheduled", "delete", ids[0], at: phone)
        #expect(near.contains("deleted: ") && !near.contains(told), "\(near)")
        try await phoneNode.perform(SetOffline(on: true))
        for words in [["delete", ids[1]], ["move", ids[2], "--at", "3h"]] {
            let program = try Program(["scheduled"] + words + ["--home", phone.home])
            #expect(try await program.ended() == 0)
            #expect(program.output.contains(told), "\(program.output)")
        }
        try await ann.perform(RevokeDevice(device: "phone"))
        try await phoneNode.perform(SetOffline(on: false))
        try await eventually("the phone knows", on: [phone]) {
            try await phoneNode.perform(GetStatus()).readOnlyReason?.contains("revoked") == true
        }
        let left = try await run("scheduled", at: phone)
        #expect(left.contains("this device was revoked; send it on another device"), "\(left)")
        #expect(!left.contains("scheduled move"), "\(left)")
        for node in [pair.ann, pair.ben, phone] { #expect(try await node.stop() == 0) }
    }
}
