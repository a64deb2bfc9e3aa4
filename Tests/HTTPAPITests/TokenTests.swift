import Foundation
import ParleyStorage
import Synchronization
import Testing

@testable import LocalAPITests
@testable import Parley
@testable import ParleyHTTPAPI

@Suite("Tokens", .timeLimit(.minutes(3)))
struct TokenTests {
    private static let other = String(repeating: "cd", count: 32)

    @Test("of a token only its hash is kept, in a file that only the owner reads")
    func file() throws {
        let home = try TemporaryHome()
        let tokens = AccessTokens(of: Home(home.path))
        let token = try tokens.create("a", .read, conversation: nil, at: 7).token
        #expect(token.count == 71 && token.hasPrefix("parley_"))
        let path = home.path + "/tokens"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(!text.contains(token.dropFirst(7)))
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        // Another process reads what this one wrote.
        let again = AccessTokens(of: Home(home.path))
        #expect(again.grant(for: token)?.name == "a")
        #expect(again.grant(for: token.uppercased()) == nil)
        #expect(again.grant(for: String(token.dropLast())) == nil)
        #expect(again.grant(for: token + "0") == nil)
        #expect(again.grant(for: "parley_" + String(repeating: "0", count: 64)) == nil)
        try Data("{}".utf8).write(to: URL(fileURLWithPath: path))
        let damaged = AccessTokens(of: Home(home.path))
        #expect(damaged.grant(for: token) == nil)
        let error = #expect(throws: NodeError.self) { try damaged.list() }
        #expect(error?.code == "tokens-damaged")
    }

    @Test("names are few, plain and used once; a token of one conversation rules nothing")
    func refusals() throws {
        let home = try TemporaryHome()
        let tokens = AccessTokens(of: Home(home.path))
        func refusal(_ name: String, _ scope: RequestScope = .read, in place: String? = nil)
            -> String?
        {
            do {
                _ = try tokens.create(name, scope, conversation: place, at: 1)
                return nil
            } catch { return (error as? NodeError)?.code }
        }
        for name in ["", "a b", "a\n", "ä", "-a", String(repeating: "a", count: 65), "a/b"] {
            #expect(refusal(name) == "bad-token-name", "\(name)")
        }
        #expect(refusal("a", .admin, in: Self.other) == "bad-scope")
        #expect(refusal("a") == nil && refusal("a") == "token-exists")
        for number in 2...AccessTokens.countMax { #expect(refusal("t\(number)") == nil) }
        #expect(refusal("more") == "too-many-tokens")
        #expect(throws: NodeError.self) { try tokens.revoke("nobody") }
        #expect(throws: NodeError.self) { try tokens.rotate("nobody", at: 1) }
    }

    @Test(
        "without a token that is good, nothing is told",
        arguments: [
            [], ["Authorization: Bearer"], ["Authorization: Basic eDp5"],
            ["Authorization: Bearer parley_\(String(repeating: "0", count: 64))"],
            ["Authorization: Bearer \(String(repeating: "x", count: 10_000))"],
        ])
    func unauthorized(fields: [String]) async throws {
        let stand = try await Stand()
        for line in ["POST /rpc", "GET /events", "GET /changes", "GET /metrics"] {
            let body = line.hasPrefix("POST") ? "{}" : nil
            let found = try await stand.ask(line, fields: fields, body: body)
            #expect(found.status == 401 && found.code == "unauthorized")
            #expect(found.fields["www-authenticate"] == "Bearer")
            #expect(found.body.contains("hint"))
        }
        await stand.server.stop()
    }

    @Test("two tokens at once are none")
    func twice() async throws {
        let stand = try await Stand()
        let token = try stand.token(.admin)
        let found = try await stand.ask(
            "GET /metrics", token: token, fields: ["Authorization: Bearer \(token)"])
        #expect(found.status == 401)
        await stand.server.stop()
    }

    @Test(
        "Attack 264: each scope asks what its requests declare, and no more",
        arguments: RequestScope.allCases)
    func scopes264(scope: RequestScope) async throws {
        let stand = try await Stand()
        let token = try stand.token(scope)
        for (wanted, method) in [
            (RequestScope.read, ListContacts.name), (.write, RenameSelf.name),
            (.admin, StopPairing.name),
        ] {
            let allCases = RequestScope.allCases
            let isAllowed =
                try #require(allCases.firstIndex(of: wanted))
                <= #require(allCases.firstIndex(of: scope))
            let found = try await stand.call(method, token: token)
            #expect((found.status == 403) == !isAllowed, "\(scope) \(method): \(found.body)")
            #expect((found.code == "forbidden") == !isAllowed)
            if !isAllowed { #expect(found.body.contains("-32001") && found.body.contains("hint")) }
        }
        let batch = try await stand.ask(
            "POST /rpc", token: token,
            body: #"[{"jsonrpc":"2.0","id":1,"method":"\#(StopPairing.name)"},"#
                + #"{"jsonrpc":"2.0","id":2,"method":"contacts"}]"#)
        #expect(batch.status == 200)
        #expect(batch.body.contains("forbidden") == (scope != .admin))
        #expect(batch.body.contains(#""id":2,"jsonrpc":"2.0","result""#))
        await stand.server.stop()
    }

    @Test("Attack 264: a token of one conversation asks of that one alone")
    func confined264() async throws {
        let stand = try await Stand()
        stand.node.answer(LocateMessages.self) { _, request in
            request.messages.map { $0 == 99 ? Self.other : FakeNode.id }
        }
        let token = try stand.token(.write, conversation: FakeNode.id)
        func code(_ method: String, _ parameters: String) async throws -> String? {
            try await stand.call(method, parameters, token: token).code
        }
        #expect(try await code("messages", #"{"conversation":"home","limit":1}"#) == nil)
        #expect(try await code("messages", #"{"conversation":"\#(FakeNode.id)","limit":1}"#) == nil)
        #expect(try await code("send", #"{"conversation":"home","texts":["hi"]}"#) == nil)
        for (method, parameters) in [
            ("messages", #"{"conversation":"elsewhere","limit":1}"#),
            ("messages", #"{"conversation":"\#(Self.other)","limit":1}"#),
            ("send", #"{"conversation":"home","texts":["hi"],"replyTo":99}"#),
            ("markRead", #"{"conversation":"home","messages":[1,99]}"#),
            ("edit", #"{"message":99,"text":"x"}"#), ("delete", #"{"message":99}"#),
            ("conversations", "{}"), ("contacts", "{}"), ("status", "{}"),
            ("changes", #"{"limit":1}"#),
            ("forward", #"{"message":1,"conversation":"home"}"#),
            ("search", #"{"text":"a","limit":1}"#), ("tokens", "{}"),
            ("newToken", #"{"called":"b","allows":"read"}"#), ("renameSelf", #"{"name":"x"}"#),
        ] {
            #expect(try await code(method, parameters) == "forbidden", "\(method) \(parameters)")
        }
        let metrics = try await stand.ask("GET /metrics", token: token)
        #expect(metrics.status == 403)
        await stand.server.stop()
    }

    @Test("what a token of one conversation lists is of that one, where it names none")
    func filtered() async throws {
        let node = FakeNode()
        node.answer(ListPolls.self) { state, request in
            state.drafts["asked"] = request.conversation
            return []
        }
        let stand = try await Stand(node)
        let token = try stand.token(.read, conversation: Self.other)
        #expect(try await stand.call("polls", token: token).status == 200)
        #expect(node.state.withLock { $0.drafts["asked"] } == Self.other)
        await stand.server.stop()
    }

    @Test(
        "Attack 264: a token that was revoked or rotated ends at once, with its streams and what waits"
    )
    func ends264() async throws {
        let stand = try await Stand()
        for isRotated in [false, true] {
            let token = try stand.token(.read)
            let kept = try stand.token(.read, called: "other")
            let (stream, other) = (try await stand.connect(), try await stand.connect())
            stream.send(stand.request("GET /events", token: token))
            other.send(stand.request("GET /events", token: kept))
            let waiting = try await stand.connect()
            waiting.send(
                stand.request("GET /changes?since=\(isRotated ? 1 : 0)&wait=60", token: token))
            #expect(await stream.text(through: "retry: 1000") != nil)
            #expect(await other.text(through: "retry: 1000") != nil)
            if isRotated {
                let fresh = try stand.tokens.rotate("bot", at: 2).token
                #expect(try await stand.call("contacts", token: fresh).status == 200)
            } else {
                try stand.tokens.revoke("bot")
            }
            #expect(await stream.text(through: "never") == nil)
            #expect(try await waiting.response()?.status == 401)
            #expect(try await stand.call("contacts", token: token).status == 401)
            stand.node.tell(.of(FakeNode.message(1, "still here")))
            #expect(await other.text(through: "still here") != nil)
            for program in [stream, other, waiting] { program.close() }
            if isRotated { try stand.tokens.revoke("bot") }
            try stand.tokens.revoke("other")
        }
        await stand.server.stop()
    }
}
