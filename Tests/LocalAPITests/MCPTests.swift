import Foundation
import Testing

@testable import Parley
@testable import ParleyLocalAPI

@Suite("The Model Context Protocol", .timeLimit(.minutes(3)))
struct MCPTests {
    private static func names(_ answer: JSONTree) -> [String] {
        (answer["result"]?["tools"]?.elements ?? []).compactMap { $0["name"]?.text }
    }

    private static let reading = [
        "search", "ask", "read", "conversations", "people", "summarize", "catch_up",
        "action_items", "suggest_action_items", "decisions", "suggest_decisions",
        "open_questions",
    ]

    @Test("begins with a handshake, or with none, and agrees on a version")
    func versions() async throws {
        let client = MCPClient()
        let early = try await client.ask("tools/list", isModern: false)
        #expect(early["error"]?["code"] == .integer(-32602))
        #expect(early["error"]?["message"]?.text?.contains("2026-07-28") == true)
        #expect(try await client.ask("ping", isModern: false)["result"] == .object([:]))
        for (wanted, agreed) in [
            ("2025-06-18", "2025-06-18"), ("2025-11-25", "2025-11-25"),
            ("2025-03-26", "2025-11-25"), ("2026-07-28", "2025-11-25"), ("x", "2025-11-25"),
        ] {
            let greeting = try await client.ask(
                "initialize", ["protocolVersion": .text(wanted)], isModern: false)
            #expect(greeting["result"]?["protocolVersion"]?.text == agreed)
            #expect(greeting["result"]?["serverInfo"]?["name"] == "parley")
            #expect(greeting["result"]?["capabilities"]?["tools"] != nil)
        }
        let nothing = try await client.ask("initialize", isModern: false)
        #expect(nothing["error"]?["code"] == .integer(-32602))
        let listed = try await client.ask("tools/list", isModern: false)
        #expect(Self.names(listed) == Self.reading && listed["result"]?["ttlMs"] == nil)
        #expect(try await client.ask("ping", isModern: false)["result"] == .object([:]))
    }

    @Test("takes requests that carry their version, and no other version")
    func modern() async throws {
        let client = MCPClient()
        let found = try await client.ask("server/discover")["result"]
        #expect(found?["supportedVersions"] == ["2026-07-28"])
        #expect(found?["resultType"] == "complete" && found?["cacheScope"] == "private")
        #expect(found?["instructions"]?.text?.contains("Nothing can be written.") == true)
        let meta = "io.modelcontextprotocol/"
        let strange = try await client.ask(
            "tools/list", ["_meta": .object([meta + "protocolVersion": "1900-01-01"])])
        #expect(strange["error"]?["code"] == .integer(-32022))
        #expect(strange["error"]?["data"]?["requested"] == "1900-01-01")
        #expect(strange["error"]?["data"]?["supported"]?.elements.first == "2026-07-28")
        let bare = try await client.ask(
            "tools/list", ["_meta": .object([meta + "protocolVersion": "2026-07-28"])])
        #expect(bare["error"]?["code"] == .integer(-32602))
        #expect(try await client.ask("ping")["error"]?["code"] == .integer(-32601))
        #expect(try await client.ask("tools/none")["error"]?["code"] == .integer(-32601))
        let tools = try await client.ask("tools/list")
        #expect(Self.names(tools) == Self.reading)
        #expect(tools["result"]?["_meta"]?[meta + "serverInfo"]?["name"] == "parley")
    }

    @Test("lists each tool with what it takes and returns, by the declaration of its request")
    func tools() async throws {
        let client = MCPClient([.draft, .send])
        let tools = try await client.ask("tools/list")["result"]?["tools"]?.elements ?? []
        #expect(tools.compactMap { $0["name"]?.text } == Self.reading + ["draft", "send"])
        for tool in tools {
            let name = tool["name"]?.text ?? ""
            #expect(tool["inputSchema"]?["additionalProperties"] == false, "\(name)")
            let properties = tool["inputSchema"]?["properties"]?.members ?? [:]
            for (property, schema) in properties.sorted(by: { $0.key < $1.key }) {
                #expect(schema["description"]?.text?.isEmpty == false, "\(name) \(property)")
            }
            let required = tool["inputSchema"]?["required"]?.elements ?? []
            #expect(required.allSatisfy { properties[$0.text ?? ""] != nil }, "\(name)")
            #expect(tool["outputSchema"]?["type"] == "object", "\(name)")
            let isWriting = ["draft", "send"].contains(name)
            #expect(tool["annotations"]?["readOnlyHint"] == .truth(!isWriting), "\(name)")
        }
        // Whatever is not said to write needs no more than to read.
        for tool in MCPTool.all {
            #expect((tool.method.request.scope == .read) == (tool.scope == nil), "\(tool.name)")
        }
        let search = try #require(tools.first)
        let limit = search["inputSchema"]?["properties"]?["limit"]
        #expect(limit?["maximum"] == .integer(50) && limit?["type"] == "integer")
        #expect(search["inputSchema"]?["required"] == ["text"])
        let since = tools[1]["inputSchema"]?["properties"]?["since"]
        #expect(since?["type"] == "string" && since?["minimum"] == nil)
    }

    @Test("returns what the node answers, marked as the words of others, as structure and as text")
    func results() async throws {
        let client = MCPClient()
        _ = try await client.node.perform(
            SendMessages(conversation: "home", texts: ["the key is here", "no"]))
        let found = try await client.call("search", ["text": "key"])
        #expect(found["isError"] == false)
        let result = try #require(found["structuredContent"])
        #expect(result["notice"]?.text == MCPPage.notice)
        let message = try #require(result["messages"]?.elements.first)
        #expect(message["text"] == "the key is here" && message["author"] == "ada")
        #expect(message["time"] == "2023-11-14T22:13:20Z" && message["reason"] == "word")
        let content = found["content"]?.elements ?? []
        #expect(content.first?["text"]?.text == MCPPage.notice)
        let text = try #require(content.last?["text"]?.text)
        #expect(try JSONDecoder().decode(JSONTree.self, from: Data(text.utf8)) == result)
        let none = try await client.call("ask", ["question": "castle"])["structuredContent"]
        #expect(none?["passages"] == .list([]))
        #expect(none?["notes"]?.elements.first == "Nobody wrote anything that answers this.")
        let answer = try await client.call("ask", ["question": "key", "since": "2020-01-01"])
        #expect(answer["structuredContent"]?["passages"]?.elements.count == 1)
        for tool in ["conversations", "people", "catch_up", "action_items", "decisions"] {
            #expect(try await client.call(tool)["isError"] == false, "\(tool)")
        }
        for tool in ["read", "summarize", "suggest_decisions", "open_questions"] {
            let found = try await client.call(tool, ["conversation": "home"])
            #expect(found["isError"] == false, "\(tool): \(found)")
        }
        let refused = try await client.call("read", ["conversation": "nowhere"])
        #expect(refused["isError"] == true && refused["structuredContent"] == nil)
        #expect(refused["content"]?.elements.first?["text"]?.text?.isEmpty == false)
    }

    @Test("gives long results in pages, each within a bound, with nothing lost between them")
    func pages() async throws {
        let client = MCPClient()
        client.node.answer(ReadMessages.self) { state, request in
            var page = try state.page(
                request.conversation, before: request.before, limit: request.limit)
            // A cursor is the name of the message below a page.
            for index in page.messages.indices {
                page.messages[index].id = "\(page.messages[index].number - 1)"
            }
            return page
        }
        let texts = (0..<90).map { "\($0) " + String(repeating: "x", count: 3_000) }
        _ = try await client.node.perform(SendMessages(conversation: "home", texts: texts))
        for (tool, arguments) in [
            ("read", ["conversation": "home", "limit": .integer(40)] as [String: JSONTree]),
            ("search", ["text": "x", "limit": .integer(40)]),
        ] {
            var (seen, cursor): ([Int64], String?) = ([], nil)
            repeat {
                var given = arguments
                given["cursor"] = cursor.map { .text($0) }
                let page = try await client.call(tool, .object(given))
                let result = try #require(page["structuredContent"], "\(page)")
                #expect(try line(result).count < MCP.pageByteCountMax + 8_000)
                let numbers = (result["messages"]?.elements ?? []).compactMap { message in
                    if case .integer(let number) = message["number"] { number } else { nil }
                }
                #expect(!numbers.isEmpty || tool == "search")
                seen = tool == "read" ? numbers + seen : seen + numbers
                cursor = result["nextCursor"]?.text
            } while cursor != nil && seen.count < 200
            #expect(Set(seen).count == seen.count && seen.count == 90, "\(tool)")
        }
        for cursor in ["x", "-1", "99999999999999999999", String(repeating: "1", count: 600)] {
            let page = try await client.call("search", ["text": "x", "cursor": .text(cursor)])
            #expect(page["isError"] == true, "\(cursor.prefix(9))")
        }
    }

    @Test("offers conversations as resources")
    func resources() async throws {
        let client = MCPClient()
        _ = try await client.node.perform(SendMessages(conversation: "home", texts: ["hello"]))
        let listed = try await client.ask("resources/list")["result"]
        let address = try #require(listed?["resources"]?.elements.first?["uri"]?.text)
        #expect(address == "parley://conversation/" + FakeNode.id)
        let templates = try await client.ask("resources/templates/list")["result"]
        #expect(templates?["resourceTemplates"]?.elements.count == 1)
        for wrong in [
            "file:///etc/passwd", "parley://conversation/home", "parley://conversation/../x",
            address + "/../..", address + "?cursor=", address + "?cursor=../x", "",
        ] {
            let answer = try await client.ask("resources/read", ["uri": .text(wrong)])
            #expect(answer["error"]?["code"] == .integer(-32602), "\(wrong)")
        }
        #expect(
            try await client.ask("resources/read")["error"]?["code"] == .integer(-32602))
    }

    @Test("reads days and moments, and nothing else, as times")
    func times() {
        #expect(MCPTime.milliseconds("2026-12-01") == 1_796_083_200_000)
        #expect(MCPTime.milliseconds("2026-12-01T09:30:00Z") == 1_796_117_400_000)
        #expect(MCPTime.milliseconds("2026-12-01T09:30:00.5Z") == 1_796_117_400_500)
        #expect(MCPTime.milliseconds("2026-12-01T10:30:00+01:00") == 1_796_117_400_000)
        for text in ["", "tomorrow", "1e9", "1969-12-31", "2026-13-01", "2026-12-01Tnoon"] {
            #expect(MCPTime.milliseconds(text) == nil, "\(text)")
        }
        #expect(MCPTime.text(1_796_117_400_500) == "2026-12-01T09:30:00Z")
        #expect(MCPTime.text(.max) == "9999-12-31T23:59:59Z")
    }
}
