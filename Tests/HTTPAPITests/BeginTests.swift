import Foundation
import Parley
import Synchronization
import Testing

@testable import ParleyHTTPAPI

@Suite("The page where there is no home yet", .timeLimit(.minutes(3)))
struct BeginTests {
    /// What was made.
    private final class Made: Sendable {
        let people = Mutex<[String]>([])
        let codes = Mutex<[String]>([])
        let texts = Mutex<[String]>([])
    }

    /// A server, and what a browser does there.
    private struct Browser {
        let made = Made()
        let server: BeginServer
        let host: String
        let secret: String
        let address: LoopbackAddress

        init() async throws {
            let made = made
            server = try await BeginServer.start(
                HomeMaker(
                    home: "/home/ada/parley", name: "ada", device: "desk",
                    found: { name, code in
                        guard name != "!" else { throw NodeError("bad-name", "Not that one.") }
                        made.people.withLock { $0.append(name) }
                        made.codes.withLock { $0.append(code.revealed()) }
                    },
                    join: { text, device in made.texts.withLock { $0 = [text, device] } }))
            let url = try #require(URL(string: server.link))
            host = "\(url.host ?? ""):\(url.port ?? 0)"
            secret = String((url.fragment ?? "").dropFirst("begin=".count))
            address = try #require(LoopbackAddress("127.0.0.1:\(url.port ?? 0)"))
        }

        func ask(
            _ line: String, _ fields: [String] = [], host: String? = nil, body: String? = nil
        ) async throws -> HTTPProgram.Response {
            let program = try await HTTPProgram.connect(address)
            var lines = ["\(line) HTTP/1.1", "Host: \(host ?? self.host)"] + fields
            if let body { lines.append("Content-Length: \(body.utf8.count)") }
            program.send(lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? ""))
            let response = try await program.response()
            program.close()
            return try #require(response)
        }

        /// The fields of a request of the page itself.
        var own: [String] {
            [
                "Origin: http://\(host)", "Sec-Fetch-Site: same-origin", "Parley-Page: 1",
                "Parley-Begin: \(secret)",
            ]
        }

        func wish(_ body: String) async throws -> HTTPProgram.Response {
            try await ask("POST /begin", own, body: body)
        }

        func code() async throws -> String {
            let found = try await wish(#"{"act":"code"}"#)
            return try #require(try Self.members(found)["code"])
        }

        static func members(_ response: HTTPProgram.Response) throws -> [String: String] {
            try JSONDecoder().decode([String: String].self, from: Data(response.body.utf8))
        }
    }

    @Test("a person is made once they have their recovery code before them, and led to their page")
    func founds() async throws {
        let browser = try await Browser()
        let visit = [
            "Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document",
        ]
        let page = try await browser.ask("GET /", visit)
        #expect(page.status == 200 && page.body.hasPrefix("<!doctype html>"))
        #expect(page.fields["content-security-policy"] == PageFiles.policy)
        let looked = try Browser.members(try await browser.wish(#"{"act":"look"}"#))
        #expect(looked == ["home": "/home/ada/parley", "name": "ada", "device": "desk"])
        let code = try await browser.code()
        // Loaded again it shows the same one.
        #expect(try await browser.code() == code && code.count == 69)
        let wrong = try await browser.wish(#"{"act":"found","name":"ada","last":"****"}"#)
        #expect(wrong.status == 422 && wrong.code == "bad-code")
        let refused = try await browser.wish(
            #"{"act":"found","name":"!","last":"\#(code.suffix(4))"}"#)
        #expect(refused.status == 422 && refused.code == "bad-name")
        #expect(browser.made.people.withLock { $0 }.isEmpty)
        async let answer = browser.wish(
            #"{"act":"found","name":"ada","last":" \#(code.suffix(4).lowercased()) "}"#)
        #expect(await browser.server.isMade())
        #expect(browser.made.people.withLock { $0 } == ["ada"])
        #expect(browser.made.codes.withLock { $0 } == [code])
        // It is made once.
        let again = try await browser.wish(
            #"{"act":"found","name":"eve","last":"\#(code.suffix(4))"}"#)
        #expect(again.status == 409 && again.code == "busy")
        await browser.server.lead(to: "http://p0.localhost:1/#enter=x")
        #expect(try Browser.members(try await answer)["link"] == "http://p0.localhost:1/#enter=x")
    }

    @Test("a device is linked by the text that another one shows; what fails then is told")
    func joins() async throws {
        let browser = try await Browser()
        #expect(try await browser.wish(#"{"act":"join"}"#).code == "bad-request")
        async let answer = browser.wish(
            #"{"act":"join","text":"parley-device:1:x","device":"phone"}"#)
        #expect(await browser.server.isMade())
        #expect(browser.made.texts.withLock { $0 } == ["parley-device:1:x", "phone"])
        await browser.server.fail(NodeError("listen", "It cannot listen."))
        let failed = try await answer
        #expect(failed.status == 422 && failed.code == "listen")
    }

    @Test("Attack 370: without its link nobody begins a home, or sees a recovery code")
    func link370() async throws {
        let browser = try await Browser()
        let body = #"{"act":"code"}"#
        let (own, secret) = (browser.own, browser.secret)
        let page = Array(own.dropLast())
        let zeros = String(repeating: "0", count: 64)
        for fields in [
            page, page + ["Parley-Begin: "], page + ["Parley-Begin: \(zeros)"],
            page + ["Parley-Begin: \(secret)0"], page + ["Parley-Begin: \(secret.dropLast())"],
            ["Parley-Begin: \(secret)"], own + ["Authorization: Bearer parley_x"],
            ["Cookie: parley-session=\(secret)", "Parley-Page: 1"],
        ] {
            let found = try await browser.ask("POST /begin", fields, body: body)
            #expect(found.status == 403 && found.code == "link-over", "\(fields)")
        }
        let (port, shown) = (browser.address.port, ["Parley-Page: 1", "Parley-Begin: \(secret)"])
        for fields in [
            shown + ["Origin: http://evil.example"], shown + ["Origin: null"],
            shown + ["Origin: http://localhost:\(port)"], own + ["Sec-Fetch-Site: cross-site"],
        ] {
            let found = try await browser.ask("POST /begin", fields, body: body)
            #expect(found.status == 403 && found.code == "foreign-origin", "\(fields)")
        }
        for host in ["127.0.0.1:\(port)", "localhost:\(port)", "evil.example"] {
            let found = try await browser.ask("POST /begin", shown, host: host, body: body)
            #expect(found.status == 403 && found.code == "foreign-host", "\(host)")
        }
        #expect(try await browser.ask("OPTIONS /begin", own).status == 405)
        #expect(try await browser.ask("POST /rpc", own, body: "{}").status == 404)
        #expect(try await BeginTests.Browser().secret != secret)
        await browser.server.stop()
    }

    @Test("Attack 371: what the page of a beginning is sent is bounded, and tried again at no cost")
    func bodies371() async throws {
        let browser = try await Browser()
        let long = String(repeating: "x", count: BeginDesk.bodyByteCountMax)
        let large = try await browser.wish(#"{"act":"join","text":"\#(long)"}"#)
        #expect(large.status == 413 && large.code == "too-large")
        for body in ["", "{", "[]", "{}", #"{"act":7}"#, #"{"act":"open"}"#, #"{"act":"found"}"#] {
            #expect(try await browser.wish(body).code == "bad-request", "\(body)")
        }
        let code = try await browser.code()
        for _ in 0..<20 {
            let guess = try await browser.wish(#"{"act":"found","name":"ada","last":"0"}"#)
            #expect(guess.code == "bad-code")
        }
        #expect(try await browser.code() == code)
        #expect(browser.made.people.withLock { $0 }.isEmpty)
        await browser.server.stop()
    }
}
