import Foundation
import Testing

@testable import LocalAPITests
@testable import Parley
@testable import ParleyHTTPAPI
@testable import ParleyLocalAPI

/// Every method that the schema lists, asked over HTTP as it should be and as it should not.
@Suite("Every method over HTTP", .timeLimit(.minutes(10)))
struct SchemaTests {
    /// One client that asks one request after the other on one connection.
    private struct Asker {
        let stand: Stand
        let token: String
        let program: HTTPProgram

        init(_ stand: Stand) async throws {
            (self.stand, token) = (stand, try stand.token(.admin, called: "asker"))
            program = try await stand.connect()
        }

        /// The number and the code of the error; nil where there is a result.
        func ask(_ body: String) async throws -> (number: Int64, code: String)? {
            program.send(stand.request("POST /rpc", token: token, body: body))
            let response = try #require(
                try await program.response(), "hung up: \(body.prefix(300))")
            let answer = try JSONDecoder().decode(JSONTree.self, from: Data(response.body.utf8))
            guard let error = answer["error"] else {
                #expect(answer["result"] != nil && response.status == 200)
                return nil
            }
            guard case .integer(let number) = error["code"],
                let code = error["data"]?["code"]?.text,
                error["message"]?.text?.isEmpty == false
            else {
                Issue.record("an error without its parts: \(response.body.prefix(300))")
                return nil
            }
            return (number, code)
        }

        func ask(_ method: String, _ parameters: String) async throws -> (
            number: Int64, code: String
        )? {
            try await ask(
                #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(parameters)}"#)
        }
    }

    /// Values that fit few forms, and bounds of those that they fit.
    private static let values: [String] = [
        "null", "true", "0", "-1", "1.5", "1e308", "1e999", "-0", "2147483648",
        "9223372036854775807", "-9223372036854775808", "9223372036854775808",
        "18446744073709551615", "18446744073709551616", "123456789012345678901234567890",
        #""""#, #"" ""#, #""\u0000""#, #""\ud800""#, #""\u202e\ufeff""#,
        #""../../../../etc/passwd""#,
        #""1-1""#, #""ffffffffffffffff-18446744073709551615""#, ##""#9223372036854775807""##,
        "\"\(String(repeating: "ab", count: 32))\"",
        "\"\(String(repeating: "x", count: 100_000))\"",
        "\"\(String(repeating: "\\u0301", count: 5_000))\"",
        "[]", "{}", "[null]", "[[]]", #"[""]"#, "[1]", "[-1]", "[9223372036854775807]",
        #"{"":""}"#, String(repeating: "[", count: 600) + String(repeating: "]", count: 600),
    ]

    /// What would leave the home, or take it away from under the test.
    private static let unasked: Set<String> = [
        "createBackup", "saveFile", "stageFile", "mediaProgram",
    ]

    private static func text(_ tree: JSONTree) throws -> String {
        String(decoding: try JSONEncoder().encode(tree), as: UTF8.self)
    }

    /// Parameters with one of them in another form, and around all of them.
    private static func hostile(_ method: Method, _ example: JSONTree) throws -> [String] {
        var all = ["[]", "7", "null", #"{"nobody":1}"#, "{}"]
        for parameter in method.parameters {
            let others = example.members.filter { $0.key != parameter.name }
            let rest = try others.sorted { $0.key < $1.key }.map { #""\#($0)":\#(try text($1))"# }
            for value in values {
                let members = rest + [#""\#(parameter.name)":\#(value)"#]
                all.append("{\(members.joined(separator: ","))}")
            }
            let twice = #""\#(parameter.name)":1,"\#(parameter.name)":"a""#
            all.append("{\((rest + [twice]).joined(separator: ","))}")
        }
        return all
    }

    private static func attack(_ stand: Stand) async throws {
        let asker = try await Asker(stand)
        let good: Set<Int64> = [-32_000, -32_602, -32_600, -32_700]
        for method in Method.all where !unasked.contains(method.request.name) {
            let name = method.request.name
            let example = try JSONTree(method.request.example)
            let whole = try await asker.ask(name, try text(example))
            #expect(
                whole == nil || whole?.number == -32_000, "\(name): \(String(describing: whole))")
            for parameters in try hostile(method, example) {
                guard let error = try await asker.ask(name, parameters) else { continue }
                // A fault of the node's own is one that nobody thought of.
                #expect(good.contains(error.number), "\(name) \(parameters.prefix(300)): \(error)")
            }
        }
        // It is there still, and answers.
        #expect(try await stand.ask("GET /healthz").status == 200)
        asker.program.close()
    }

    @Test("is answered by a real node, whatever it is asked, without a fault of its own")
    func real() async throws {
        let home = try TemporaryHome()
        var settings = NodeSettings(home: home.path + "/home", network: "test")
        settings.isSilent = true
        let (node, _) = try await Node.create(settings, name: "ada")
        for name in ["home", "trip"] {
            _ = try await node.perform(CreateConversation(name: name, members: []))
        }
        let texts = (1...20).map { "line \($0)" }
        _ = try await node.perform(SendMessages(conversation: "trip", texts: texts))
        let stand = try await Stand(node)
        try await Self.attack(stand)
        await stand.server.stop()
        await node.shutdown()
    }

    @Test(
        "a body that is no text, or is far too deep, is refused as no JSON",
        arguments: [
            [0xFF, 0xFE, 0x00], [0x00],
            Array("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"".utf8)
                + [0xC3, 0x28] + Array("\"}".utf8),
            Array((String(repeating: "{\"a\":", count: 100_000) + "1").utf8),
            Array(String(repeating: "[{\"a\":", count: 100_000).utf8),
        ])
    func noText(bytes: [UInt8]) async throws {
        let stand = try await Stand()
        let program = try await stand.connect()
        program.send(
            stand.request(
                "POST /rpc", token: try stand.token(.read),
                fields: ["Content-Length: \(bytes.count)"]))
        program.send(bytes)
        let response = try #require(try await program.response())
        #expect(response.status == 400 && response.code == "no-json", "\(response)")
        program.close()
        await stand.server.stop()
    }
}
