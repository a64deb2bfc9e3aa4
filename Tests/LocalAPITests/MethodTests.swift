import Foundation
import Parley
import Synchronization
import Testing

@testable import ParleyLocalAPI

/// A node that notes what it is asked and answers nothing.
private final class Listener: NodeService {
    let heard = Mutex<[String]>([])

    func perform<R: NodeRequest>(_ request: R) async throws -> R.Reply {
        let bytes = try ParleyLocalAPI.line(request)
        heard.withLock { $0.append(R.name + " " + String(decoding: bytes, as: UTF8.self)) }
        throw NodeError("heard", "That was heard.")
    }

    func changes(
        after cursor: String?, seat: String?
    ) async throws -> AsyncStream<ChangeView> {
        throw NodeError("heard", "That was heard.")
    }
}

@Suite("Methods", .timeLimit(.minutes(3)))
struct MethodTests {
    /// The parameters of a method, those that may be left out with `?`.
    static func parameters(of name: String) throws -> [String] {
        try Method.named(name).parameters.map { $0.name + ($0.isRequired ? "" : "?") }
    }

    @Test(
        "takes the parameters that its request declares",
        arguments: [
            (
                "send",
                [
                    "conversation", "texts", "replyTo?", "thread?", "withoutMentions?", "files?",
                    "link?", "once?", "resumes?",
                ]
            ),
            ("import", ["conversation", "fileHash", "throughLine", "rows", "beginnings?"]),
            ("react", ["message", "emoji", "on"]),
        ])
    func parameters(name: String, expected: [String]) throws {
        #expect(try Self.parameters(of: name) == expected)
    }

    @Test("of an object in a list, the form of each member is known")
    func rows() throws {
        let rows = try Method.named("import").parameters.first { $0.name == "rows" }
        guard case .list(.object("ImportMessages.Row", let members)) = rows?.form else {
            Issue.record("\(String(describing: rows))")
            return
        }
        #expect(members.first { $0.name == "time" }?.form == .integer(isSigned: false))
        #expect(members.first { $0.name == "mayGrow" }?.isRequired == false)
    }

    @Test("every example reaches the node as it was sent")
    func examples() async throws {
        let home = try TemporaryHome()
        let node = Listener()
        let server = try await LocalServer.start(node: node, home: home.path)
        let client = try #require(try await NodeClient.connect(home: home.path))
        var sent: [String] = []
        func send<R: NodeRequest>(_ type: R.Type) async throws {
            let bytes = try ParleyLocalAPI.line(type.example)
            sent.append(R.name + " " + String(decoding: bytes, as: UTF8.self))
            let error = await #expect(throws: NodeError.self) {
                try await client.perform(type.example)
            }
            #expect(error?.code == "heard", "\(type): \(String(describing: error))")
        }
        for type in NodeRequests.all { try await send(type) }
        #expect(node.heard.withLock { $0 } == sent)
        await client.close()
        await server.stop()
    }

    @Test(
        "says which parameter is wrong",
        arguments: [
            (#"{"texts":["a"]}"#, #"parameter "conversation" is missing"#),
            (#"{"conversation":"home"}"#, #"parameter "texts" is missing"#),
            (#"{"conversation":7,"texts":[]}"#, #"parameter "conversation" has the wrong type"#),
            (#"{"conversation":null,"texts":[]}"#, #"parameter "conversation" has the wrong type"#),
            (#"{"conversation":"home","texts":[1]}"#, #"parameter "texts" has the wrong type"#),
            (
                #"{"conversation":"home","texts":[],"replyTo":"one"}"#,
                #"parameter "replyTo" has the wrong type"#
            ),
            (
                #"{"conversation":"home","texts":[],"replyto":1,"again":1}"#,
                #""send" has no parameter "again""#
            ),
        ])
    func sentences(parameters: String, sentence: String) async throws {
        let request = #"{"jsonrpc":"2.0","id":1,"method":"send","params":\#(parameters)}"#
        let found = try await LocalServerTests.answers(to: [request], count: 1)
        struct Reply: Decodable { var error: Failure }
        let reply = try JSONDecoder().decode(Reply.self, from: Data(try #require(found.first).utf8))
        #expect(reply.error == .invalidParameters(sentence))
    }

    @Test("without parameters, what is needed is missing; null is as good as left out")
    func absence() async throws {
        let found = try await LocalServerTests.answers(
            to: [
                #"{"jsonrpc":"2.0","id":1,"method":"send"}"#,
                #"{"jsonrpc":"2.0","id":2,"method":"send","#
                    + #""params":{"conversation":"home","texts":[],"replyTo":null}}"#,
            ], count: 2)
        #expect(found[0].contains(#"parameter \"conversation\" is missing"#))
        #expect(found[1] == #"{"id":2,"jsonrpc":"2.0","result":[]}"#)
    }

    @Test(
        "a word that is none of a choice is refused as the node refuses it",
        arguments: [
            (
                #"{"conversation":"home","person":"ben","role":"king"}"#, "addMember", -32000,
                "bad-role", "“king” is not a role."
            ),
            (
                #"{"policy":"all"}"#, "setAdditionPolicy", -32000, "bad-policy",
                "“all” is not a choice for who may add you."
            ),
            (
                #"{"policy":1}"#, "setAdditionPolicy", -32602, "invalid-parameters",
                #"parameter "policy" has the wrong type"#
            ),
        ])
    func words(
        parameters: String, method: String, number: Int, code: String, sentence: String
    ) async throws {
        let request =
            #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(parameters)}"#
        let found = try await LocalServerTests.answers(to: [request], count: 1)
        struct Reply: Decodable { var error: Failure }
        let reply = try JSONDecoder().decode(Reply.self, from: Data(try #require(found.first).utf8))
        #expect(reply.error.code == number)
        #expect(reply.error.data.code == code)
        #expect(reply.error.message == sentence)
    }
}
