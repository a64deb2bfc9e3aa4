import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// What somebody ends who presses Ctrl-C.
@Suite("Commands that are interrupted", .timeLimit(.minutes(5)))
struct InterruptTests {
    @Test("many lines that are stopped say which are saved, and go on there")
    func lines() async throws {
        let folder = try TemporaryFolder()
        let node = try await NodeProcess(
            home: folder.home("ann"), name: "ann", port: try FreePort.some())
        let client = try await node.start()
        try await client.perform(CreateConversation(name: "notes", members: []))
        let lines = (1...8_000).map { "line \($0)" }
        let input = folder.path + "/lines"
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: input))
        let words = ["send", "notes", "--lines", "--home", node.home]
        let way = ["sh", "-c", "exec \"$0\" \"$@\" <'\(input)'", Program.path]
        let stopped = try Program(words, by: way)
        try await eventually("the first are saved", on: [node]) {
            try await !everyMessage(of: client, in: "notes").isEmpty
        }
        stopped.signal(SIGINT)
        #expect(try await stopped.ended() == 130, "\(stopped.output)")
        // Not by the count of operations: a new home announces its profile while this goes on.
        let saved = try await everyMessage(of: client, in: "notes").count
        #expect(
            stopped.output.contains("\(saved) of 8000 messages are saved, the others are not."),
            "\(stopped.output)")
        #expect(
            stopped.output.contains("it continues with message \(saved + 1)"), "\(stopped.output)")
        let rest = try Program(words, by: way)
        #expect(try await rest.ended() == 0, "\(rest.output)")
        #expect(rest.output.contains("continuing"), "\(rest.output)")
        let all = try await everyMessage(of: client, in: "notes").reversed()
        #expect(all.compactMap(\.text) == lines, "each once, in order")
        #expect(try await node.stop() == 0)
    }

    @Test("who waits for a device no longer is told that its text is void")
    func pairing() async throws {
        let folder = try TemporaryFolder()
        let node = try await NodeProcess(
            home: folder.home("ann"), name: "ann", port: try FreePort.some())
        try await node.start()
        let waiting = try Program(["device", "link", "--home", node.home])
        try await waiting.says("waiting for")
        waiting.signal(SIGINT)
        #expect(try await waiting.ended() == 130)
        #expect(waiting.output.contains("the text no longer works"), "\(waiting.output)")
        #expect(try await node.stop() == 0)
    }
}
