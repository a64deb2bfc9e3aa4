import Foundation
import Parley
import ParleyWire
import Testing

@testable import LocalAPITests
@testable import Parley
@testable import ParleyHTTPAPI

@Suite("Files of messages over HTTP", .timeLimit(.minutes(3)))
struct FileTests {
    /// Has a node answer that message 12 brings these files, with bytes for any places of them.
    static func show(
        _ files: [FileView], on node: FakeNode,
        _ bytes: @escaping @Sendable (_ number: Int, _ places: Range<Int>) -> [UInt8]
    ) {
        node.answer(ListMessageFiles.self) { _, _ in files }
        node.answer(LocateMessages.self) { _, _ in [FakeNode.id] }
        node.answer(ReadFile.self) { state, request in
            state.calls.append("readFile \(request.offset) \(request.count)")
            guard let file = files.first(where: { $0.number == request.number ?? 1 }) else {
                throw NodeError("which-file", "That message has no such file.")
            }
            guard file.state == "here" else { throw NodeError.fileAbsent }
            let end = min(Int(file.size), request.offset + request.count)
            let part = bytes(file.number, request.offset..<max(end, request.offset))
            return FileBytes(base64: Data(part).base64EncodedString(), size: file.size)
        }
    }

    static func file(
        _ name: String, size: UInt64, number: Int = 1, state: String = "here", type: String = "",
        blob: String? = nil
    ) -> FileView {
        FileView(
            number: number, name: name, size: size, type: type, state: state, heldByteCount: size,
            width: 0, height: 0, duration: 0, isVoice: false, hasPreview: false, blob: blob)
    }

    /// The beginning of a picture, then letters.
    private static let letters = Array("GIF89a".utf8) + (6..<600_000).map { UInt8(0x61 + $0 % 26) }

    /// Parts of that, and zeros behind it.
    static func picture(_ number: Int, _ places: Range<Int>) -> [UInt8] {
        let part = letters[places.clamped(to: letters.indices)]
        return part + Array(repeating: 0, count: places.count - part.count)
    }

    @Test("a file comes whole, and in the part that is asked for")
    func parts() async throws {
        let stand = try await Stand()
        let token = try stand.token(.read)
        let size = 600_000
        Self.show(
            [Self.file("a.gif", size: UInt64(size), blob: "ab")], on: stand.node, Self.picture)
        let whole = String(decoding: Self.letters, as: UTF8.self)
        let found = try await stand.ask("GET /file?message=12", token: token)
        #expect(found.status == 200 && found.body == whole)
        #expect(found.fields["content-type"] == "image/gif")
        #expect(found.fields["accept-ranges"] == "bytes" && found.fields["etag"] == "\"ab\"")
        #expect(found.fields["cache-control"] == "no-store")
        for (range, part) in [
            ("bytes=0-0", 0..<1), ("bytes=5-9", 5..<10), ("bytes=262079-262081", 262_079..<262_082),
            ("bytes=599990-", 599_990..<size), ("bytes=-7", size - 7..<size),
            ("bytes=-9999999", 0..<size), ("bytes=10-99999999999999999999", 10..<size),
        ] {
            let found = try await stand.ask(
                "GET /file?message=12", token: token, fields: ["Range: \(range)"])
            #expect(found.status == 206, "\(range)")
            #expect(found.body == whole.dropFirst(part.lowerBound).prefix(part.count), "\(range)")
            #expect(
                found.fields["content-range"]
                    == "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(size)")
        }
        // Of another state of the file the part is none.
        let other = try await stand.ask(
            "GET /file?message=12", token: token, fields: ["Range: bytes=0-0", "If-Range: \"cd\""])
        #expect(other.status == 200 && other.body.count == size)
        let same = try await stand.ask(
            "GET /file?message=12", token: token, fields: ["Range: bytes=0-0", "If-Range: \"ab\""])
        #expect(same.status == 206 && same.body == "G")
        await stand.server.stop()
    }

    @Test("what is not there, not here or not said is refused with the reason")
    func absent() async throws {
        let stand = try await Stand()
        let token = try stand.token(.read)
        Self.show(
            [
                Self.file("a", size: 3, state: "waiting"), Self.file("b", size: 0, number: 2),
            ], on: stand.node, Self.picture)
        for (query, status, code) in [
            ("message=12", 404, "file-absent"), ("message=12&number=3", 404, "which-file"),
            ("", 400, "invalid-parameters"), ("message=x", 400, "invalid-parameters"),
            ("message=12&number=one", 400, "invalid-parameters"),
            ("message=12&save=yes", 400, "invalid-parameters"),
            ("message=12&path=%2Fetc%2Fpasswd", 400, "invalid-parameters"),
        ] {
            let found = try await stand.ask("GET /file?" + query, token: token)
            #expect(found.status == status && found.code == code, "\(query) \(found.body)")
        }
        let empty = try await stand.ask("GET /file?message=12&number=2", token: token)
        #expect(empty.status == 200 && empty.body.isEmpty && empty.fields["content-length"] == "0")
        #expect(try await stand.ask("POST /file?message=12", token: token).status == 405)
        stand.node.answer(ReadPreview.self) { _, _ in
            FilePreview(base64: Data("RIFFxxxxWEBP".utf8).base64EncodedString(), type: "image/webp")
        }
        let small = try await stand.ask("GET /file?message=12&preview=1", token: token)
        #expect(small.body == "RIFFxxxxWEBP" && small.fields["content-type"] == "image/webp")
        await stand.server.stop()
    }

    @Test(
        "Attack 276: a file is asked for without a token, from another page, of another conversation"
    )
    func asked276() async throws {
        let browser = try await PageTests.Browser()
        let stand = browser.stand
        Self.show([Self.file("a.gif", size: 30)], on: stand.node, Self.picture)
        #expect(try await stand.ask("GET /file?message=12").status == 401)
        let other = String(repeating: "cd", count: 32)
        let beyond = try await stand.ask(
            "GET /file?message=12", token: stand.token(.read, conversation: other))
        #expect(beyond.status == 403 && beyond.code == "forbidden")
        let own = try await stand.ask(
            "GET /file?message=12",
            token: stand.token(.read, conversation: FakeNode.id, called: "own"))
        #expect(own.status == 200)
        // A browser asks for pictures without the page's field, and says by itself whose they are.
        let cookie = try await browser.enter()
        let shown = "Cookie: parley-session=\(cookie)"
        let line = "GET /file?message=12"
        let (same, picture) = ("Sec-Fetch-Site: same-origin", "Sec-Fetch-Dest: image")
        #expect(try await browser.ask(line, [shown, same, picture]).status == 200)
        #expect(try await browser.ask(line, browser.own(cookie)).status == 200)
        for fields in [
            [shown], [shown, same], [shown, picture], [same, picture],
            [shown, same, "Sec-Fetch-Dest: script"], [shown, same, "Sec-Fetch-Dest: iframe"],
            [shown, same, "Sec-Fetch-Dest: empty"], [shown, same, "Sec-Fetch-Mode: navigate"],
            [shown, same, "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"],
            [shown, same, "Sec-Fetch-Dest: object"],
            [shown, same, "Sec-Fetch-Dest: serviceworker"],
            [shown, "Sec-Fetch-Site: same-site", picture],
            [shown, "Sec-Fetch-Site: cross-site", picture],
            [shown, "Sec-Fetch-Site: none", picture],
            [shown, same, picture, "Origin: http://evil.example"],
            [shown, same, picture, "Authorization: Bearer x"],
            ["Cookie: parley-session=\(String(repeating: "0", count: 64))", same, picture],
        ] {
            let found = try await browser.ask(line, fields)
            #expect([401, 403].contains(found.status) && found.code != nil, "\(fields)")
        }
        // Nothing else is let in so, and by another name nothing at all.
        #expect(try await browser.ask("GET /changes", [shown, same, picture]).status == 403)
        #expect(
            try await browser.ask(line, [shown, same, picture], host: "localhost:1").status == 403)
        stand.node.answer(EndPageSession.self) { _, _ in NoReply() }
        #expect(try await browser.ask("POST /leave", browser.own(cookie)).status == 204)
        #expect(try await browser.ask(line, [shown, same, picture]).status == 401)
        await stand.server.stop()
    }

    @Test(
        "Attack 277: a file that is HTML, SVG or a script, by whatever name and type, is bytes to save"
    )
    func hostile277() async throws {
        let browser = try await PageTests.Browser()
        let cookie = try await browser.enter()
        let contents = [
            "<html><script>1</script>", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>", "%PDF-1.7 x",
            "<!doctype html>\u{89}PNG", "import('/app.js')", "\u{FEFF}<html>", "MZ", "",
        ]
        let names = ["a.png", "a.html", "a.svg", "x", "a.js"]
        var files: [FileView] = []
        for number in 1...contents.count * names.count {
            files.append(
                Self.file(
                    names[(number - 1) % names.count],
                    size: UInt64(contents[(number - 1) / names.count].utf8.count), number: number,
                    type: number % 2 == 0 ? "text/html" : "image/png"))
        }
        Self.show(files, on: browser.stand.node) { number, places in
            Array(contents[(number - 1) / names.count].utf8)[places].map(\.self)
        }
        for file in files {
            let found = try await browser.ask(
                "GET /file?message=12&number=\(file.number)", browser.own(cookie))
            #expect(found.status == 200)
            #expect(found.fields["content-type"] == "application/octet-stream", "\(file)")
            #expect(found.fields["content-disposition"]?.hasPrefix("attachment; ") == true)
            #expect(found.fields["x-content-type-options"] == "nosniff")
            #expect(
                found.fields["content-security-policy"]
                    == "default-src 'none'; sandbox; frame-ancestors 'none'")
            #expect(found.fields["cross-origin-resource-policy"] == "same-origin")
        }
        // A picture is shown in the page; whoever goes there with a window saves it.
        Self.show([Self.file("a.html", size: 30)], on: browser.stand.node, Self.picture)
        let shown = try await browser.ask("GET /file?message=12", browser.own(cookie))
        #expect(shown.fields["content-type"] == "image/gif")
        #expect(shown.fields["content-disposition"]?.hasPrefix("inline; ") == true)
        for (query, fields) in [
            ("&save=1", []), ("", ["Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"]),
            ("", ["Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: empty"]),
        ] {
            let saved = try await browser.ask(
                "GET /file?message=12" + query, browser.own(cookie) + fields)
            #expect(saved.fields["content-disposition"]?.hasPrefix("attachment; ") == true)
        }
        await browser.stand.server.stop()
    }

    @Test(
        "Attack 277: a name that ends its field, begins another, or says something else than it is")
    func names277() {
        for name in [
            "a\"; filename=\"b.exe", "a\r\nSet-Cookie: x=1", "täß\u{202E}gnp.exe", "a\\", "a%41",
            "\u{1F600}.png", "../../etc/passwd",
        ] {
            let field = FileForm.disposition(FileName.harmless(name), isShown: false)
            let form =
                /attachment; filename="[\x20-\x7E]*"; filename\*=UTF-8''[A-Za-z0-9!#$&+.^_`|~%\-]+/
            #expect(field.wholeMatch(of: form) != nil, "\(field)")
            let whole = field.split(separator: "''").last.flatMap {
                String($0).removingPercentEncoding
            }
            #expect(whole == FileName.harmless(name))
            #expect(field.split(separator: "\"").count == 3 && !field.contains("/"))
        }
    }

    @Test(
        "Attack 278: ranges without sense, many clients that take nothing, and a session that ends")
    func bounds278() async throws {
        let stand = try await Stand()
        let token = try stand.token(.read)
        let size = UInt64(3) << 30
        Self.show([Self.file("a.gif", size: size)], on: stand.node, Self.picture)
        for range in [
            "bytes=3221225472-", "bytes=9999999999999999999999-", "bytes=-0",
        ] {
            let found = try await stand.ask(
                "GET /file?message=12", token: token, fields: ["Range: \(range)"])
            #expect(found.status == 416 && found.fields["content-range"] == "bytes */\(size)")
        }
        for range in [
            "bytes=0-1,2-3", "bytes=9-2", "bytes=+1-2", "bytes=-", "bytes=a-b", "lines=0-1",
            "bytes=0x1-2", "bytes=" + String(repeating: "0-1,", count: 1_000),
        ] {
            #expect(ByteRange(range, of: size) == .whole, "\(range)")
        }
        // They are given what the system takes for them, and no more is read; some find no place.
        var programs: [HTTPProgram] = []
        for _ in 0..<40 {
            let program = try await stand.connect()
            program.send(stand.request("GET /file?message=12", token: token))
            program.pauseReading()
            programs.append(program)
        }
        // Until nothing more is read, others are answered.
        var (readCount, calmCount) = (0, 0)
        while calmCount < 50 {
            #expect(try await stand.ask("GET /healthz").status == 200)
            let count = stand.node.calls.count { $0.hasPrefix("readFile") }
            calmCount = count == readCount && count > 8 ? calmCount + 1 : 0
            readCount = count
        }
        #expect(readCount < 40 * 100)
        // A token that ends takes all of it along.
        try stand.tokens.revoke("bot")
        var refusedCount = 0
        for program in programs {
            program.resumeReading()
            guard let head = await program.text(through: "\r\n\r\n") else { continue }
            if head.contains(" 503 ") {
                refusedCount += 1
                program.close()
            } else {
                _ = await program.ended()
            }
        }
        // One token has a quarter of the room, and that is not nothing.
        #expect(refusedCount > 0 && refusedCount <= 32)
        let again = try stand.token(.read)
        let found = try await stand.ask(
            "GET /file?message=12", token: again, fields: ["Range: bytes=0-5"])
        #expect(found.status == 206 && found.body == "GIF89a")
        await stand.server.stop()
    }
}
