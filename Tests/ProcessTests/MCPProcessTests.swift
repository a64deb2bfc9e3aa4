import Foundation
import Parley
import ParleyLocalAPI
import Testing

@Suite("parley mcp", .serialized, .timeLimit(.minutes(3)))
struct MCPProcessTests {
    /// The program with lines from a file as its input, which stays open for a while after them.
    private func serve(
        _ lines: [String], home: String, _ words: String...
    ) async throws -> (status: Int32, output: String) {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let file = folder.home("lines")
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: file))
        let program = try Program(
            ["mcp", "--home", home] + words,
            by: ["sh", "-c", "(cat '\(file)'; sleep 4) | \"$0\" \"$@\"", Program.path])
        return (try await program.ended(), program.output)
    }

    private static let meta =
        #""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#
        + #""io.modelcontextprotocol/clientCapabilities":{}}"#

    private static func call(_ id: Int, _ tool: String, _ arguments: String = "{}") -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"method":"tools/call","params":{"name":"\#(tool)","#
            + #""arguments":\#(arguments),\#(meta)}}"#
    }

    private func answers(_ output: String) throws -> [Int: [String: Any]] {
        var found: [Int: [String: Any]] = [:]
        for line in output.split(separator: "\n") {
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
            let members = try #require(object as? [String: Any], "\(line.prefix(80))")
            #expect(members["jsonrpc"] as? String == "2.0")
            if let id = members["id"] as? Int { found[id] = members }
        }
        return found
    }

    @Test("answers each good line among bad ones, writes nothing else, and ends with its input")
    func mixed() async throws {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let home = folder.home("ann")
        #expect(try await Program.run("init", "--name", "ann", "--home", home).status == 0)
        let long = String(repeating: "x", count: 3 << 20)
        let (status, output) = try await serve(
            [
                "garbage", Self.call(1, "conversations"), long, "[]", "{\"id\":", "\u{0}\u{1}",
                Self.call(2, "read", #"{"conversation":"nowhere"}"#), Self.call(3, "rm"),
                Self.call(4, "send", #"{"conversation":"a","texts":["b"]}"#),
                #"{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{\#(Self.meta)}}"#,
                #"{"jsonrpc":"2.0","id":6,"method":"tools/list"}"#,
            ], home: home)
        #expect(status == 0)
        let found = try answers(output)
        #expect(found.keys.sorted() == [1, 2, 3, 4, 5, 6])
        // Without an identifier: what was no message.
        #expect(output.split(separator: "\n").count == 11, "\(output)")
        #expect((found[1]?["result"] as? [String: Any])?["isError"] as? Bool == false)
        #expect((found[2]?["result"] as? [String: Any])?["isError"] as? Bool == true)
        for id in [3, 4, 6] {
            #expect((found[id]?["error"] as? [String: Any])?["code"] as? Int == -32602, "\(id)")
        }
        let tools = (found[5]?["result"] as? [String: Any])?["tools"] as? [[String: Any]]
        #expect(tools?.count == 12)
    }

    @Test("says at once what is wrong with a home, or with what is allowed")
    func wrong() async throws {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let none = try await Program.run("mcp", "--home", folder.home("none"))
        #expect(none.status == 1 && none.output.contains("parley: error:"), "\(none.output)")
        let much = try await Program.run(
            "mcp", "--allow", "everything", "--home", folder.home("none"))
        #expect(much.status == 64 && much.output.contains("everything"), "\(much.output)")
    }

    @Test("shows signs that hide or turn a text, and leaves its lines")
    func harmless() async throws {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let home = folder.home("ann")
        #expect(try await Program.run("init", "--name", "ann", "--home", home).status == 0)
        let node = try await Node.open(NodeSettings(home: home))
        try await node.perform(CreateConversation(name: "hut", members: []))
        let hidden = "a\u{E0063}\u{E0061}b\u{202E}c\u{1B}[31m\nd"
        try await node.perform(SendMessages(conversation: "hut", texts: [hidden]))
        await node.shutdown()
        let (status, output) = try await serve(
            [Self.call(1, "read", #"{"conversation":"hut"}"#)], home: home)
        #expect(status == 0)
        let result = try answers(output)[1]?["result"] as? [String: Any]
        let page = result?["structuredContent"] as? [String: Any]
        let messages = page?["messages"] as? [[String: Any]]
        #expect(messages?.first?["text"] as? String == "a\u{FFFD}\u{FFFD}b\u{FFFD}c␛[31m\nd")
    }
}
