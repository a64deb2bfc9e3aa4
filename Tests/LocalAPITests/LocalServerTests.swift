import Foundation
import Parley
import ParleyTransport
import Synchronization
import Testing

@testable import ParleyLocalAPI

/// A program that writes lines by hand and reads what comes back.
final class RawProgram: ConnectionHandler {
    private let framer = Mutex(LineFramer())
    private let continuation: AsyncStream<String>.Continuation
    let transport = Transport(threadCount: 1)
    let lines: AsyncStream<String>

    init() { (lines, continuation) = AsyncStream.makeStream(of: String.self) }

    static func connect(_ home: TemporaryHome) async throws -> (RawProgram, Connection) {
        let program = RawProgram()
        let path = LocalAPI.socketPath(home: home.path)
        return (program, try await program.transport.dial(path: path, handler: program))
    }

    func opened(_ connection: Connection) {}
    func received(_ bytes: [UInt8]) {
        for line in (try? framer.withLock({ try $0.add(bytes) })) ?? [] {
            continuation.yield(String(decoding: line, as: UTF8.self))
        }
    }
    func becameWritable() {}
    func closed(_ reason: CloseReason) { continuation.finish() }
}

@Suite("The local socket", .timeLimit(.minutes(3)))
struct LocalServerTests {
    /// What comes back for these lines, one answer for each line that asks for one.
    static func answers(to lines: [String], count: Int) async throws -> [String] {
        let home = try TemporaryHome()
        let server = try await LocalServer.start(node: FakeNode(), home: home.path)
        let (program, connection) = try await RawProgram.connect(home)
        for line in lines { connection.send(Array((line + "\n").utf8)) }
        var answers: [String] = []
        for await answer in program.lines {
            answers.append(answer)
            if answers.count == count { break }
        }
        await program.transport.shutdown()
        await server.stop()
        return answers
    }

    @Test("answers requests in their order, and notifications not at all")
    func order() async throws {
        let found = try await Self.answers(
            to: [
                #"{"jsonrpc":"2.0","id":1,"method":"markRead","params":{"conversation":"home","messages":[]}}"#,
                #"{"jsonrpc":"2.0","method":"mute","params":{"conversation":"home","on":true}}"#,
                #"{"jsonrpc":"2.0","id":"two","method":"mute","#
                    + #""params":{"conversation":"home","on":false}}"#,
            ], count: 2)
        #expect(
            found == [
                #"{"id":1,"jsonrpc":"2.0","result":0}"#,
                #"{"id":"two","jsonrpc":"2.0","result":{}}"#,
            ])
    }

    @Test(
        "refuses what it does not know, and goes on",
        arguments: [
            ("nonsense", -32700, "no-json"),
            ("[1]", -32600, "invalid-request"),
            (#"{"jsonrpc":"1.0","id":1,"method":"status"}"#, -32600, "invalid-request"),
            (#"{"jsonrpc":"2.0","id":1,"method":"status","x":1}"#, -32600, "invalid-request"),
            (#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600, "invalid-request"),
            (#"{"jsonrpc":"2.0","id":1,"method":"status","params":[]}"#, -32600, "invalid-request"),
            (#"{"jsonrpc":"2.0","id":1,"method":"fly"}"#, -32601, "unknown-method"),
            (
                #"{"jsonrpc":"2.0","id":1,"method":"status","params":{"json":true}}"#,
                -32602, "invalid-parameters"
            ),
            (
                #"{"jsonrpc":"2.0","id":1,"method":"delete","params":{"message":"one"}}"#,
                -32602, "invalid-parameters"
            ),
            (#"{"jsonrpc":"2.0","id":1,"method":"delete"}"#, -32602, "invalid-parameters"),
            (
                #"{"jsonrpc":"2.0","id":1,"method":"messages","#
                    + #""params":{"conversation":"home","limit":201}}"#,
                -32602, "invalid-parameters"
            ),
            (
                #"{"jsonrpc":"2.0","id":1,"method":"markRead","params":{"conversation":"x","messages":[]}}"#,
                -32000, "unknown-conversation"
            ),
        ])
    func refusals(request: String, number: Int, code: String) async throws {
        let good = #"{"jsonrpc":"2.0","id":9,"method":"contacts"}"#
        let found = try await Self.answers(to: [request, good], count: 2)
        #expect(found.count == 2)
        struct Reply: Decodable { var error: Failure }
        let reply = try JSONDecoder().decode(Reply.self, from: Data(found[0].utf8))
        #expect(reply.error.code == number)
        #expect(reply.error.data.code == code)
        #expect(found[1].hasPrefix(#"{"id":9,"#))
    }

    @Test("hangs up on a line that is too long")
    func tooLong() async throws {
        let line = String(repeating: " ", count: LocalAPI.lineByteCountMax + 1)
        let found = try await Self.answers(to: [line], count: 2)
        #expect(found.count == 1)
        #expect(found.first?.contains("8388608") == true)
    }

    @Test("answers a program that pours without keeping more than its queue")
    func pouring() async throws {
        let line = #"{"jsonrpc":"2.0","id":1,"method":"contacts"}"#
        let found = try await Self.answers(to: Array(repeating: line, count: 5_000), count: 5_000)
        #expect(found.count == 5_000)
    }

    @Test("is a file that only its owner can open, and is gone after the end")
    func file() async throws {
        let home = try TemporaryHome()
        let server = try await LocalServer.start(node: FakeNode(), home: home.path)
        let path = LocalAPI.socketPath(home: home.path)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        await #expect(throws: NodeError.self) {
            try await LocalServer.start(node: FakeNode(), home: home.path)
        }
        await server.stop()
        #expect(!FileManager.default.fileExists(atPath: path))
        let client = try await NodeClient.connect(home: home.path)
        #expect(client == nil)
    }

    @Test("every method's name is used once")
    func names() {
        #expect(Set(Method.all.map { $0.request.name }).count == Method.all.count)
    }
}
