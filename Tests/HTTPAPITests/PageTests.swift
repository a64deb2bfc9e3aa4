import Foundation
import NIOCore
import Parley
import ParleyStorage
import Synchronization
import Testing

@testable import LocalAPITests
@testable import Parley
@testable import ParleyHTTPAPI

@Suite("The page and its sessions", .timeLimit(.minutes(3)))
struct PageTests {
    /// A server with a page, and what a browser does there.
    struct Browser {
        let stand: Stand
        let host: String

        init() async throws {
            stand = try await Stand(hasPage: true)
            host = try stand.sessions.host() + ":\(stand.server.address.port)"
        }

        func ask(
            _ line: String, _ fields: [String] = [], host: String? = nil, body: String? = nil
        ) async throws -> HTTPProgram.Response {
            let program = try await stand.connect()
            var lines = ["\(line) HTTP/1.1", "Host: \(host ?? self.host)"] + fields
            if let body { lines.append("Content-Length: \(body.utf8.count)") }
            program.send(lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? ""))
            let response = try await program.response()
            program.close()
            return try #require(response)
        }

        /// The fields of a request of the page itself, with this cookie.
        func own(_ cookie: String? = nil) -> [String] {
            ["Origin: http://\(host)", "Sec-Fetch-Site: same-origin", "Parley-Page: 1"]
                + (cookie.map { ["Cookie: parley-session=\($0)"] } ?? [])
        }

        /// What a fresh session says.
        func enter() async throws -> String {
            let secret = try stand.sessions.makeLink().suffix(64)
            let response = try await ask("POST /enter", own() + ["Parley-Enter: \(secret)"])
            #expect(response.status == 204)
            let cookie = try #require(response.fields["set-cookie"])
            #expect(cookie.hasSuffix("; Path=/; HttpOnly; SameSite=Strict"))
            return String(cookie.dropFirst("parley-session=".count).prefix(64))
        }

        func call(_ method: String, _ fields: [String], _ parameters: String = "{}") async throws
            -> HTTPProgram.Response
        {
            try await ask(
                "POST /rpc", fields,
                body: #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(parameters)}"#)
        }
    }

    @Test("files of the page come with a policy that lets nothing else in, and once")
    func files() async throws {
        let browser = try await Browser()
        let visit = [
            "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document",
        ]
        let page = try await browser.ask("GET /", visit)
        #expect(page.status == 200 && page.body.hasPrefix("<!doctype html>"))
        #expect(page.fields["content-security-policy"] == PageFiles.policy)
        #expect(page.fields["x-content-type-options"] == "nosniff")
        #expect(page.fields["cross-origin-opener-policy"] == "same-origin")
        let tag = try #require(page.fields["etag"])
        let again = try await browser.ask("GET /", visit + ["If-None-Match: \(tag)"])
        #expect(again.status == 304 && again.body.isEmpty)
        for (path, file) in PageFiles.all.sorted(by: { $0.key < $1.key }) {
            let found = try await browser.ask("GET \(path)", ["Sec-Fetch-Site: same-origin"])
            #expect(found.status == 200 && found.fields["content-type"] == file.mediaType)
            #expect(found.fields["cache-control"]?.contains("immutable") == file.isPermanent)
        }
        #expect(try await browser.ask("GET /page.c").status == 404)
        #expect(try await browser.ask("GET /../style.css").status == 404)
        #expect(try await browser.ask("POST /").status == 405)
        await browser.stand.server.stop()
    }

    @Test("all files of the folder are served, and with one language have less than 430 kB")
    func folder() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/Page/files").standardizedFileURL
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        let paths = names.reduce(into: [String: String]()) { paths, name in
            let source = name == "index.html" ? "/" : "/" + name
            paths[PageFiles.constantPaths.contains(source) ? source : PageFiles.path(of: source)] =
                name
        }
        #expect(Set(paths.keys) == Set(PageFiles.all.keys))
        for (path, name) in paths {
            let bytes = try Data(contentsOf: folder.appending(path: name))
            let file = PageFiles.all[path]
            let served = file.map { Data($0.body.readableBytesView) } ?? Data()
            if file?.isPermanent == true {
                #expect(served == bytes, "\(name) is another")
            } else {
                #expect(String(decoding: served, as: UTF8.self).contains(PageFiles.version))
            }
        }
        let others = ["/de.js", "/de-later.js", "/es.js", "/es-later.js"].map(PageFiles.path)
        let counted = PageFiles.all.filter { !others.contains($0.key) }
        #expect(counted.values.reduce(0) { $0 + $1.body.readableBytes } < 430_000)
    }

    @Test("a stream has a seat for calls where the page or a token of the scope admin asks for it")
    func seat() async throws {
        let browser = try await Browser()
        let stand = browser.stand
        let name = String(repeating: "0a", count: 16)
        for scope in [RequestScope.read, .write] {
            let found = try await stand.ask(
                "GET /events?seat=\(name)", token: stand.token(scope, called: scope.rawValue))
            #expect(found.status == 403 && found.code == "forbidden")
        }
        let narrow = try await stand.ask(
            "GET /events?seat=\(name)",
            token: stand.token(.write, conversation: FakeNode.id, called: "narrow"))
        #expect(narrow.status == 403)
        #expect(!stand.node.calls.contains("seat \(name)"))
        let program = try await stand.connect()
        program.send(
            stand.request("GET /events?seat=\(name)", token: try stand.token(.admin, called: "all"))
        )
        #expect(await program.text(through: "id: 0\n\n") != nil)
        let cookie = try await browser.enter()
        let page = try await stand.connect()
        page.send(
            (["GET /events?seat=\(name) HTTP/1.1", "Host: \(browser.host)"] + browser.own(cookie))
                .joined(separator: "\r\n") + "\r\n\r\n")
        #expect(await page.text(through: "id: 0\n\n") != nil)
        #expect(stand.node.calls.filter { $0 == "seat \(name)" }.count == 2)
        program.close()
        page.close()
        await stand.server.stop()
    }

    @Test("a session asks what programs ask, and its end ends its stream")
    func session() async throws {
        let browser = try await Browser()
        let cookie = try await browser.enter()
        let found = try await browser.call("conversations", browser.own(cookie))
        #expect(found.status == 200 && found.body.contains("result"))
        let stream = try await browser.stand.connect()
        stream.send(
            (["GET /events HTTP/1.1", "Host: \(browser.host)"] + browser.own(cookie))
                .joined(separator: "\r\n") + "\r\n\r\n")
        #expect(await stream.text(through: "id: 0\n\n") != nil)
        let left = try await browser.ask("POST /leave", browser.own(cookie))
        #expect(left.status == 204)
        #expect(left.fields["set-cookie"]?.contains("Max-Age=0") == true)
        _ = await stream.ended()
        #expect(try await browser.call("status", browser.own(cookie)).code == "no-session")
        await browser.stand.server.stop()
    }

    @Test(
        "Attack 270: a session is of no use from another origin, without the page's word, or as a token"
    )
    func origin270() async throws {
        let browser = try await Browser()
        let cookie = try await browser.enter()
        let shown = "Cookie: parley-session=\(cookie)"
        let own = "Origin: http://\(browser.host)"
        let port = browser.stand.server.address.port
        for fields in [
            [shown], [shown, own], [shown, "Parley-Page: 1", "Origin: http://evil.example"],
            [shown, "Parley-Page: 1", "Origin: null"],
            [shown, "Parley-Page: 1", "Origin: http://localhost:\(port)"],
            [shown, "Parley-Page: 1", own, "Sec-Fetch-Site: cross-site"],
            [shown, "Parley-Page: 1", own, "Sec-Fetch-Site: same-site"],
            [shown, "Parley-Page: 1", own, "Authorization: Bearer parley_x"],
        ] {
            #expect(try await browser.call("status", fields).status == 403, "\(fields)")
        }
        for fields in [
            browser.own(), browser.own("x"), browser.own(cookie) + [shown],
            ["Cookie: other-session=\(cookie)", own, "Parley-Page: 1"],
        ] {
            #expect(try await browser.call("status", fields).status == 401, "\(fields)")
        }
        // Under the names that are for programs a cookie lets nobody in, and there is no page.
        for host in ["127.0.0.1:\(port)", "localhost:\(port)"] {
            let origin = ["Origin: http://\(host)", "Parley-Page: 1", shown]
            #expect(try await browser.ask("GET /changes", origin, host: host).status == 401)
            #expect(try await browser.ask("GET /", host: host).status == 404)
        }
        let token = try browser.stand.token(.admin)
        #expect(
            try await browser.ask(
                "GET /changes", ["Authorization: Bearer \(token)"]
            ).status == 403)
        #expect(try await browser.ask("OPTIONS /rpc", [own]).status == 405)
        await browser.stand.server.stop()
    }

    @Test("Attack 271: a link lets in once, for a minute, and nobody who guesses")
    func link271() throws {
        let clock = TestTime()
        let home = try TemporaryHome()
        let sessions = PageSessions(of: Home(home.path), now: { clock.now })
        #expect(throws: NodeError.self) { try sessions.makeLink() }
        try sessions.begin(port: 4000)
        let link = try sessions.makeLink()
        #expect(link.hasPrefix("http://" + (try sessions.host()) + ":4000/#enter="))
        let secret = String(link.suffix(64))
        for wrong in [
            "", "0", String(secret.dropLast()), String(repeating: "0", count: 64), secret + "0",
        ] {
            #expect(try sessions.enter(wrong) == nil)
        }
        #expect(try sessions.enter(secret) != nil)
        #expect(try sessions.enter(secret) == nil)
        let old = try String(sessions.makeLink().suffix(64))
        clock.advance(seconds: 61)
        #expect(try sessions.enter(old) == nil)
        // More than there may be: the oldest makes room. With the page all of them end.
        let many = try (0...PageSessions.linkCountMax).map { _ in
            try String(sessions.makeLink().suffix(64))
        }
        #expect(try sessions.enter(many[0]) == nil)
        #expect(try sessions.enter(many[1]) != nil)
        sessions.end()
        #expect(try sessions.enter(many[2]) == nil)
    }

    @Test("Attack 272: who reads the home's file of sessions is not let in by it")
    func file272() throws {
        let home = try TemporaryHome()
        let sessions = PageSessions(of: Home(home.path))
        try sessions.begin(port: 4000)
        let link = String(try sessions.makeLink().suffix(64))
        let secret = try #require(try sessions.enter(link)).secret
        let path = home.path + "/page"
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(!text.contains(secret) && !text.contains(link))
        let digests = text.matches(of: /[0-9a-f]{64}/).map { String($0.output) }
        #expect(digests.count == 1)
        for digest in digests { #expect(sessions.grant(for: digest, isUse: false) == nil) }
        // The next start knows the session, and one with a damaged file knows none.
        #expect(PageSessions(of: Home(home.path)).grant(for: secret, isUse: false) != nil)
        try "{".write(toFile: path, atomically: true, encoding: .utf8)
        #expect(PageSessions(of: Home(home.path)).grant(for: secret, isUse: false) == nil)
        #expect(throws: NodeError.self) { try PageSessions(of: Home(home.path)).list() }
    }

    @Test(
        "Attack 273: a session that nobody used for twelve hours has ended, and hears of nothing more"
    )
    func idle273() throws {
        let clock = TestTime()
        let home = try TemporaryHome()
        let sessions = PageSessions(of: Home(home.path), now: { clock.now })
        try sessions.begin(port: 4000)
        let (secret, grant) = try #require(
            try sessions.enter(String(sessions.makeLink().suffix(64))))
        let hour = 3_600
        clock.advance(seconds: 11 * hour)
        // To listen is no use, and keeps nothing alive.
        #expect(sessions.grant(for: secret, isUse: false) != nil)
        clock.advance(seconds: 2 * hour)
        #expect(sessions.grant(for: secret, isUse: false) == nil && !sessions.isAlive(grant))
        #expect(sessions.whenEnded(grant) {} == nil)
        let other = try #require(try sessions.enter(String(sessions.makeLink().suffix(64))))
        for _ in 0..<5 {
            clock.advance(seconds: 11 * hour)
            #expect(sessions.grant(for: other.secret, isUse: true) != nil)
        }
        #expect(try sessions.list().map(\.name) == ["browser-1"])
        // The use is on the disk: the next start does not end it.
        let restarted = PageSessions(of: Home(home.path), now: { clock.now })
        #expect(restarted.grant(for: other.secret, isUse: false) != nil)
    }

    @Test(
        "Attack 274: whoever got into the page makes no tokens, runs no programs, and reads no files by path"
    )
    func beyond274() async throws {
        let browser = try await Browser()
        let cookie = try await browser.enter()
        for (method, parameters) in [
            ("newToken", #"{"called":"x","allows":"admin"}"#), ("tokens", "{}"),
            ("rotateToken", #"{"called":"x"}"#), ("openPage", "{}"),
            ("setMediaProgram", #"{"words":["/bin/sh"]}"#), ("webhooks", "{}"),
            ("stageFile", #"{"path":"/etc/passwd"}"#), ("createBackup", #"{"path":"/tmp/x"}"#),
            ("saveFile", "{}"), ("confirmLink", #"{"code":"482193"}"#),
        ] {
            let found = try await browser.call(method, browser.own(cookie), parameters)
            #expect(found.status == 403 && found.code == "forbidden", "\(method) \(found.body)")
        }
        #expect(try await browser.ask("GET /metrics", browser.own(cookie)).status == 404)
        // What it may of that scope is listed, and is what the person does there.
        let offline = try await browser.call(
            "setOffline", browser.own(cookie), #"{"on":true}"#)
        #expect(offline.status == 200, "\(offline.body)")
        await browser.stand.server.stop()
    }

    @Test("Attack 275: a foreign page frames nothing, and loads no file of the page as its own")
    func frame275() async throws {
        let browser = try await Browser()
        for fields in [
            ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"],
            ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: script"],
            ["Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image"],
            ["Origin: http://evil.example"],
        ] {
            let deeper = ["/app.js", "/icon.svg"].map(PageFiles.path)
            for path in ["/", "/sw.js"] + deeper {
                let found = try await browser.ask("GET \(path)", fields)
                #expect(found.status == 403 && found.code == "foreign-origin", "\(path) \(fields)")
            }
        }
        for host in ["evil.example", "x" + browser.host, "p0.localhost:1"] {
            let found = try await browser.ask("GET /", host: host)
            #expect(found.status == 403 && found.code == "foreign-host", "\(host)")
        }
        #expect(PageFiles.policy.contains("frame-ancestors 'none'"))
        await browser.stand.server.stop()
    }

    @Test("Attack 282: nothing but the page's own script becomes its worker")
    func worker282() async throws {
        let browser = try await Browser()
        let cookie = try await browser.enter()
        let script = [
            "Service-Worker: script", "Sec-Fetch-Mode: same-origin",
            "Sec-Fetch-Dest: serviceworker",
        ]
        let own = try await browser.ask(
            "GET /sw.js", script + ["Sec-Fetch-Site: same-origin"])
        #expect(own.status == 200 && own.fields["cache-control"] == "no-cache")
        #expect(own.fields["service-worker-allowed"] == nil)
        #expect(own.fields["content-security-policy"] == PageFiles.policy)
        for site in ["cross-site", "same-site"] {
            let found = try await browser.ask("GET /sw.js", script + ["Sec-Fetch-Site: \(site)"])
            #expect(found.status == 403)
        }
        // A file of a message is none, though the browser would send the session along.
        let shown = ["Cookie: parley-session=\(cookie)", "Sec-Fetch-Site: same-origin"]
        for path in ["/file?message=1", "/changes", "/events"] {
            #expect(try await browser.ask("GET \(path)", script + shown).status == 403, "\(path)")
        }
        // The one policy that may be made of addresses of scripts has one name, and makes one.
        #expect(PageFiles.policy.hasSuffix("trusted-types parley-worker"))
        await browser.stand.server.stop()
    }

    @Test("Attack 283: a browser is to keep the page alone, and nothing that the node answers it")
    func kept283() async throws {
        let browser = try await Browser()
        let cookie = try await browser.enter()
        let own = browser.own(cookie)
        for answer in [
            try await browser.call("conversations", own), try await browser.call("no", own),
            try await browser.ask("GET /changes", own),
            try await browser.ask("GET /file?message=1", own),
            try await browser.call("conversations", browser.own()),
        ] {
            #expect(answer.fields["cache-control"] == "no-store", "\(answer.status)")
        }
        // The files of the page are the same for everybody, whoever is let in.
        for path in PageFiles.all.keys.sorted() {
            let site = ["Sec-Fetch-Site: same-origin"]
            let known = try await browser.ask("GET \(path)", site + own.suffix(1))
            #expect(try await browser.ask("GET \(path)", site).body == known.body)
        }
        let left = try await browser.ask("POST /leave", own)
        #expect(left.fields["set-cookie"]?.contains("Max-Age=0") == true)
        await browser.stand.server.stop()
    }

    @Test("Attack 284: a page of another version asks nothing, and its files are of one version")
    func version284() async throws {
        let browser = try await Browser()
        let cookie = try await browser.enter()
        let field = "Parley-Page-Version: "
        for version in ["0", "", PageFiles.version + "0"] {
            let found = try await browser.call("status", browser.own(cookie) + [field + version])
            #expect(found.status == 412 && found.code == "other-version", "\(version)")
            let stream = try await browser.ask(
                "GET /events", browser.own(cookie) + [field + version])
            #expect(stream.status == 412)
        }
        // Who is not let in hears of no version.
        #expect(try await browser.call("status", browser.own() + [field + "0"]).status == 401)
        let same = try await browser.call(
            "status", browser.own(cookie) + [field + PageFiles.version])
        #expect(same.status == 200)
        let page = try await browser.ask("GET /", ["Sec-Fetch-Site: none"])
        #expect(page.fields["parley-page-version"] == PageFiles.version)
        let loaded = page.body.matches(of: /(?:src|href)="([^"]+)"/).map { String($0.output.1) }
        #expect(loaded.count > 8 && loaded.allSatisfy { $0.hasPrefix("/v/\(PageFiles.version)/") })
        #expect(try await browser.ask("GET /v/0/app.js").status == 404)
        #expect(try await browser.ask("GET /app.js").status == 404)
        await browser.stand.server.stop()
    }
}

/// Time that passes where a test says so.
private final class TestTime: Sendable {
    private let passed = Mutex<Int>(0)
    private let start = ContinuousClock.now

    var now: (wall: UInt64, steady: ContinuousClock.Instant) {
        let seconds = passed.withLock { $0 }
        return (1_700_000_000_000 + UInt64(seconds) * 1_000, start + .seconds(seconds))
    }

    func advance(seconds: Int) { passed.withLock { $0 += seconds } }
}
