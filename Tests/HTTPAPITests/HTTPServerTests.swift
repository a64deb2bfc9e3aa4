import Foundation
import ParleyLocalAPI
import Testing

@testable import LocalAPITests
@testable import Parley
@testable import ParleyHTTPAPI

@Suite("The local API over HTTP", .timeLimit(.minutes(3)))
struct HTTPServerTests {
    @Test("says where it listens in a file that only the owner reads, and removes it")
    func file() async throws {
        let stand = try await Stand()
        let path = HTTPAPI.addressPath(home: stand.home.path)
        #expect(stand.server.address.port > 0)
        #expect(
            try String(contentsOfFile: path, encoding: .utf8) == "\(stand.server.address)\n")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        await #expect(throws: NodeError.self) {
            try await HTTPServer.start(
                node: stand.node, tokens: stand.tokens, home: stand.home.path,
                on: stand.server.address)
        }
        await stand.server.stop()
        #expect(!FileManager.default.fileExists(atPath: path))
        await #expect(throws: (any Error).self) { try await stand.connect() }
    }

    @Test("is healthy without a token, and tells nothing else")
    func health() async throws {
        let stand = try await Stand()
        let found = try await stand.ask("GET /healthz")
        #expect(found.status == 200 && found.body == "{\"status\":\"ok\"}\n")
        #expect(found.fields["cache-control"] == "no-store")
        await stand.server.stop()
    }

    @Test("answers single requests and batches as the socket does, many on one connection")
    func rpc() async throws {
        let stand = try await Stand()
        let token = try stand.token(.write)
        let program = try await stand.connect()
        func answer(_ body: String) async throws -> HTTPProgram.Response {
            program.send(stand.request("POST /rpc", token: token, body: body))
            return try #require(try await program.response())
        }
        let read = #""method":"markRead","params":{"conversation":"home","messages":[]}}"#
        let single = try await answer(#"{"jsonrpc":"2.0","id":1,"# + read)
        #expect(
            single.status == 200 && single.body == #"{"id":1,"jsonrpc":"2.0","result":0}"# + "\n")
        #expect(single.fields["content-type"] == "application/json")
        let batch = try await answer(
            #" [{"jsonrpc":"2.0","id":1,"# + read + #",{"jsonrpc":"2.0","# + read
                + #",7,{"jsonrpc":"2.0","id":"x","method":"fly"}]"#)
        #expect(batch.status == 200)
        #expect(
            batch.body
                == #"[{"id":1,"jsonrpc":"2.0","result":0},{"error":{"code":-32600,"data":"#
                + #"{"code":"invalid-request"},"message":"a request has \"jsonrpc\", \"id\", "#
                + #"\"method\" and \"params\""},"id":null,"jsonrpc":"2.0"},"#
                + #"{"error":{"code":-32601,"data":{"code":"unknown-method"},"message":"#
                + #""There is no method “fly”."},"id":"x","jsonrpc":"2.0"}]"# + "\n")
        let note = try await answer(#"{"jsonrpc":"2.0","# + read)
        #expect(note.status == 204 && note.body.isEmpty)
        program.close()
        await stand.server.stop()
    }

    @Test(
        "refuses what is no request",
        arguments: [
            ("nonsense", 400, "no-json"), ("[", 400, "no-json"), ("", 400, "no-json"),
            ("[]", 200, "invalid-request"), ("7", 200, "invalid-request"),
            (String(repeating: "[", count: 10_000), 400, "no-json"),
            (
                "[" + Array(repeating: "1", count: 10_000).joined(separator: ",") + "]", 200,
                "invalid-request"
            ),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"follow\"}", 200, "unknown-method"),
        ])
    func noRequest(body: String, status: Int, code: String) async throws {
        let stand = try await Stand()
        let found = try await stand.ask("POST /rpc", token: stand.token(.read), body: body)
        #expect(found.status == status)
        #expect(found.code == code, "\(found.body.prefix(200))")
        await stand.server.stop()
    }

    @Test(
        "refuses paths, methods and queries that it does not know",
        arguments: [
            ("GET /", 404, "unknown-path"), ("GET /rpc", 405, "wrong-method"),
            ("POST /events", 405, "wrong-method"), ("OPTIONS /rpc", 405, "wrong-method"),
            ("GET /healthz?a=1", 400, "invalid-parameters"),
            ("GET /changes?wait=1&wait=2", 400, "invalid-parameters"),
            ("GET /%68ealthz", 404, "unknown-path"), ("GET /../healthz", 404, "unknown-path"),
            ("GET /healthz/", 404, "unknown-path"),
        ])
    func paths(line: String, status: Int, code: String) async throws {
        let stand = try await Stand()
        let found = try await stand.ask(line)
        #expect(found.status == status && found.code == code, "\(found)")
        await stand.server.stop()
    }

    @Test(
        "Attack 263: a request for a host or from a page that is not its own is refused, whatever it shows"
    )
    func rebinding263() async throws {
        let stand = try await Stand()
        let token = try stand.token(.admin)
        let port = stand.server.address.port
        func status(_ host: String, _ fields: [String] = []) async throws -> Int {
            let program = try await stand.connect()
            let lines = [
                "GET /healthz HTTP/1.1", "Host: \(host)", "Authorization: Bearer \(token)",
            ]
            program.send((lines + fields).joined(separator: "\r\n") + "\r\n\r\n")
            let status = try await program.response()?.status
            program.close()
            return try #require(status)
        }
        for host in ["127.0.0.1:\(port)", "localhost:\(port)", "LOCALHOST:\(port)"] {
            #expect(try await status(host) == 200, "\(host)")
        }
        for host in [
            "evil.example:\(port)", "127.0.0.1", "127.0.0.1:1", "localhost", "0.0.0.0:\(port)",
            "localhost.:\(port)", "localhost:0\(port)", "a@localhost:\(port)", "",
            "127.1:\(port)", "[::1]:\(port)", "127.0.0.1:\(port), evil.example",
        ] { #expect(try await status(host) == 403, "\(host)") }
        let own = "localhost:\(port)"
        #expect(try await status(own, ["Origin: http://localhost:\(port)"]) == 200)
        #expect(try await status(own, ["Sec-Fetch-Site: same-origin"]) == 200)
        for field in [
            "Origin: http://evil.example", "Origin: null", "Origin: https://localhost:\(port)",
            "Origin: http://localhost:1", "Origin: http://localhost", "Sec-Fetch-Site: cross-site",
            "Sec-Fetch-Site: same-site", "Host: evil.example", "Host: localhost:\(port)",
        ] { #expect(try await status(own, [field]) == 403, "\(field)") }
        await stand.server.stop()
    }

    @Test("takes a body of the length that it takes, and not one byte more")
    func bodies() async throws {
        let stand = try await Stand()
        let token = try stand.token(.read)
        let blank = String(repeating: " ", count: LocalAPI.lineByteCountMax - 2)
        let most = try await stand.ask("POST /rpc", token: token, body: blank + "[]")
        #expect(most.code == "invalid-request")
        let more = try await stand.ask("POST /rpc", token: token, body: blank + " []")
        #expect(more.status == 413 && more.code == "too-large")
        // The same where nobody says how long it is.
        let program = try await stand.connect()
        program.send(
            stand.request(
                "POST /rpc", token: token, fields: ["Transfer-Encoding: chunked"]))
        let chunk = String(repeating: " ", count: 1 << 20)
        for _ in 0..<9 { program.send("100000\r\n\(chunk)\r\n") }
        // Who hangs up while more is coming may not be heard: what they said last is lost on the way.
        let response = try await program.response()
        #expect(response == nil || response?.status == 413)
        _ = await program.ended()
        program.close()
        await stand.server.stop()
    }

    @Test(
        "an address that others reach is none",
        arguments: [
            "0.0.0.0:80", "192.0.2.1:80", "*:80", "localhost.evil:80", "[::]:80", "::1:80",
            "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:+1", "127.0.0.1:", ":80", "", "127.1:80",
            "127.0.0.01:80", "2130706433:80", "[::ffff:127.0.0.1]:80", "127.0.0.1:080",
        ])
    func foreign(text: String) { #expect(LoopbackAddress(text) == nil) }

    @Test("an address of this machine is written as it was meant")
    func addresses() {
        #expect(LoopbackAddress("localhost:80")?.description == "127.0.0.1:80")
        #expect(LoopbackAddress("127.9.0.1:0")?.description == "127.9.0.1:0")
        #expect(LoopbackAddress("[::1]:65535")?.description == "[::1]:65535")
        #expect(LoopbackAddress("127.0.0.1")?.description == "127.0.0.1:0")
    }
}
