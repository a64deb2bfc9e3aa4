import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// A command that is ended while the node answers it: the lines are saved, and nobody was told.
@Suite("A few lines whose command was cut off", .timeLimit(.minutes(4)))
struct FewLinesTests {
    private let folder: TemporaryFolder
    private let node: NodeProcess
    private let pipe: String

    init() async throws {
        folder = try TemporaryFolder()
        node = try await NodeProcess(
            home: folder.home("ann"), name: "ann", port: try FreePort.some())
        pipe = folder.path + "/go"
        try Data("one\ntwo\n".utf8).write(to: URL(filePath: folder.path + "/lines"))
        guard mkfifo(pipe, 0o600) == 0 else { throw Late(description: "no pipe at \(pipe)") }
    }

    private var words: [String] { ["send", "log", "--lines", "--home", node.home] }

    /// Sends the lines; not before somebody opens the pipe, if it waits for that.
    private func send(_ more: String..., waits: Bool = false) throws -> Program {
        let wait = waits ? "cat '\(pipe)' >/dev/null; " : ""
        return try Program(
            words + more,
            by: ["sh", "-c", wait + "exec \"$0\" \"$@\" <'\(folder.path)/lines'", Program.path])
    }

    /// Starts the node, and sends the lines by a command that gets these signals once they are saved.
    private func cut(_ signals: [Int32], passesOn: Bool) async throws -> (NodeClient, Program) {
        let client = try await node.start(isHidden: true)
        try await client.perform(CreateConversation(name: "log", members: []))
        let sending = try send(waits: true)
        let line = try CutLine(
            home: node.home, processID: sending.processID, method: "send", signals: signals,
            passesOn: passesOn)
        FileHandle(forWritingAtPath: pipe)?.closeFile()
        try await sending.ended()
        line.giveWay()
        return (client, sending)
    }

    private func texts(_ client: NodeClient) async throws -> [String] {
        try await client.perform(ReadMessages(conversation: "log", limit: 50)).messages
            .compactMap(\.text)
    }

    @Test(
        "says the same once, if it was killed, or ended at once; later it is meant again",
        arguments: [[SIGKILL], [SIGINT, SIGTERM]])
    func ended(signals: [Int32]) async throws {
        let (client, sending) = try await cut(signals, passesOn: false)
        if signals == [SIGKILL] {
            #expect(sending.output.isEmpty, "\(sending.output)")
        } else {
            #expect(try await sending.ended() == 130)
            #expect(sending.output.contains("perhaps not everything is saved"), "\(sending.output)")
        }
        #expect(try await texts(client) == ["one", "two"])
        // Other lines in between are others.
        let again = try send()
        #expect(try await again.ended() == 0, "\(again.output)")
        #expect(again.output.contains("2 messages were saved before"), "\(again.output)")
        #expect(again.output.contains("saved 2 messages"), "\(again.output)")
        #expect(try await texts(client) == ["one", "two"])
        let meant = try send("--json")
        #expect(try await meant.ended() == 0)
        #expect(!meant.output.contains("before") && meant.output.contains(#""text":"two""#))
        #expect(try await texts(client) == ["one", "two", "one", "two"])
        #expect(try await node.stop() == 0)
    }

    @Test("says what is saved, where it was interrupted while it waited for that")
    func interrupted() async throws {
        let (client, sending) = try await cut([SIGINT], passesOn: true)
        #expect(try await sending.ended() == 0, "\(sending.output)")
        #expect(sending.output == "saved 2 messages\n", "\(sending.output)")
        #expect(try await texts(client) == ["one", "two"])
        #expect(try await node.stop() == 0)
    }

    @Test("of which others were sent since, or edited, or long ago, is over")
    func others() async throws {
        let (client, _) = try await cut([SIGKILL], passesOn: false)
        try Data("one\nthree\n".utf8).write(to: URL(filePath: folder.path + "/lines"))
        #expect(try await send().ended() == 0)
        #expect(try await texts(client) == ["one", "two", "one", "three"])
        try Data("one\ntwo\n".utf8).write(to: URL(filePath: folder.path + "/lines"))
        let last = try send()
        #expect(try await last.ended() == 0 && !last.output.contains("before"), "\(last.output)")
        #expect(try await texts(client).count == 6)
        #expect(try await node.stop() == 0)
    }

    @Test("is another one's, if several send the same at a time: each is said")
    func parallel() async throws {
        let client = try await node.start(isHidden: true)
        try await client.perform(CreateConversation(name: "log", members: []))
        let all = try (0..<4).map { _ in try send() }
        for each in all { #expect(try await each.ended() == 0, "\(each.output)") }
        #expect(try await texts(client).count == 8)
        #expect(try await node.stop() == 0)
    }
}
