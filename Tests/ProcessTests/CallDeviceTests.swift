import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// Ann, and ben with a computer and a telephone; each in a process of its own, over TCP.
@Suite("Calls to a person of two devices", .timeLimit(.minutes(3)))
struct CallDeviceTests {
    @Test("ring on where one of them has no program for sound and pictures")
    func withoutProgram() async throws {
        let pair = try await ProcessPair()
        let (ann, computer) = (
            try #require(await pair.ann.client), try #require(await pair.ben.client)
        )
        for node in [ann, computer] {
            try await node.perform(SetMediaProgram(words: ["/bin/sh", "-c", "cat >/dev/null"]))
        }
        let home = try await pair.linkPhone(to: pair.ben)
        let process = NodeProcess(home: home, address: "127.0.0.1:\(try FreePort.some())")
        let phone = try await process.start()
        try await eventually("ann is linked with both", on: [pair.ann]) {
            try await ann.perform(GetStatus()).links.count == 2
        }

        let call = try Program(["call", "ben", "--home", pair.ann.home])
        try await call.says("ringing at ben")
        try await eventually("the computer rings, and the telephone cannot", on: [process]) {
            let (first, second) = (
                try await phone.perform(ListCalls()), try await computer.perform(ListCalls())
            )
            return first.map(\.state) == ["aside"] && second.map(\.state) == ["ringing"]
        }
        // Whom everybody refuses gives up after five seconds: they write for longer than that.
        let end = ContinuousClock.now + .seconds(8)
        while ContinuousClock.now < end {
            let text = "\(UUID())"
            try await ann.perform(SendMessages(conversation: "ben", texts: [text]))
            try await eventually("ben has it", on: [pair.ben]) {
                try await computer.perform(ReadMessages(conversation: "ann", limit: 1))
                    .messages.last?.text == text
            }
        }
        #expect(call.status == nil, "\(call.output)")
        #expect(try await computer.perform(ListCalls()).map(\.state) == ["ringing"])
        #expect(!call.output.contains("no program"), "\(call.output)")

        try await computer.perform(AnswerCall(call: "", media: []))
        try await eventually("ben is in, with the computer", on: [pair.ann]) {
            try await ann.perform(ListCalls()).first?.members.count == 2
        }
        try await computer.perform(HangUpCall(call: ""))
        _ = try await call.ended()
        for node in [pair.ann, pair.ben, process] { #expect(try await node.stop() == 0) }
    }
}
