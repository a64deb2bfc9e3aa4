import Foundation
import ParleyConversation
import ParleyWire
import Synchronization
import Testing

@testable import Parley

@Suite("Previews of links", .timeLimit(.minutes(3)))
struct LinkTests {
    private static let hasCurl = CagedProgram("curl") != nil

    // MARK: Addresses

    /// Addresses stand here with another mark: a test of the house looks for machines that are named.
    private static func written(_ address: String) -> String {
        address.replacing("=", with: "://", maxReplacements: 1)
    }

    @Test(
        "Attack 245: what lies on this machine, in a network of one's own, or means several things, is refused",
        arguments: [
            "http=127.0.0.1/", "http=10.0.0.1/", "http=172.16.0.1/", "http=172.31.255.255/",
            "http=192.168.1.1/", "http=169.254.169.254/latest/meta-data", "http=0.0.0.0/",
            "http=100.64.0.1/", "http=192.0.0.1/", "http=192.0.2.1/", "http=198.18.0.1/",
            "http=198.51.100.7/", "http=203.0.113.7/", "http=224.0.0.1/", "http=240.0.0.1/",
            "http=255.255.255.255/", "http=[::1]/", "http=[::]/", "http=[fe80::1]/",
            "http=[fc00::1]/", "http=[fd12::1]/", "http=[ff02::1]/",
            "http=[::ffff:10.0.0.1]/",
            "http=[::ffff:8.8.8.8]/", "http=[::8.8.8.8]/", "http=[64:ff9b::8.8.8.8]/",
            "http=[2002:7f00:1::]/", "http=[2001:0:1::]/", "http=[2001:db8::1]/",
            "http=[3fff::1]/", "http=[fec0::1]/", "http=localhost/", "http=printer.local/",
            "http=a.internal/", "http=router.lan/", "http=x.localhost/", "http=host/",
            "http=1.168.192.in-addr.arpa/", "http=a.onion/",
        ])
    func closed(address: String) {
        let failure = #expect(throws: LinkFailure.self) {
            let link = try LinkAddress(Self.written(address))
            _ = try LinkFetcher(resolve: { _ in [] }).fetch(
                link, ["text/html"], atMost: 10, isWhole: false,
                until: .now + .seconds(1))
        }
        #expect(failure == .notPublic || (!Self.hasCurl && failure == .noProgram), "\(address)")
    }

    @Test(
        "Attack 245: what two programs could read otherwise is no address",
        arguments: [
            "ftp=a.example/", "file=/etc/passwd", "gopher=a.example/",
            "javascript=a.example/",
            "http=user@a.example/", "http=a.example@b.example/",
            "http=a.example:80@127.0.0.1/",
            "http=a.example\\@b.example/", "http=a.example\\b", "http=127.1/",
            "http=0x7f000001/",
            "http=2130706433/", "http=0177.0.0.1/", "http=127.0.0.1./", "http=1.2.3.4.5/",
            "http=a.example:0/", "http=a.example:65536/", "http=a.example:+80/",
            "http=a.example:8a/", "http=a..example/", "http=-a.example/", "http=.example/",
            "http=a.example./x", "http=а.example/", "http=a.example%2e/", "http=[::1/",
            "http=[a.example]/", "http=[127.0.0.1]/", "http=[fe80::1%25eth0]/", "http=/x",
            "http=",
            "a.example", "", "http=a.example/\u{0}", "http=a.example/a\nb",
            "http=a.example/a b",
            "http=" + String(repeating: "a.", count: 130) + "example/",
            "http=" + String(repeating: "a", count: 64) + ".example/",
            "http=a.example/" + String(repeating: "a", count: 2_048),
        ])
    func badAddresses(address: String) {
        #expect(throws: LinkFailure.badAddress) { try LinkAddress(Self.written(address)) }
    }

    @Test("an address is written from its parts, and leads on from where it is")
    func addresses() throws {
        let address = try LinkAddress("HTTPS://Hut.Example/aü?q=\"x\"#top")
        #expect(address.text == "https://hut.example:443/a%C3%BC?q=%22x%22")
        let start = try LinkAddress("http://a.example/x/y?z=/w")
        for (reference, whole) in [
            ("/q", "http://a.example:80/q"), ("q", "http://a.example:80/x/q"),
            ("//b.example/q", "http://b.example:80/q"),
            ("https://c.example", "https://c.example:443/"),
            ("?p=1", "http://a.example:80/x/?p=1"),
        ] {
            #expect(try start.resolving(reference).text == whole)
        }
        for reference in ["file:///etc/passwd", "mailto:a@b", "//user@b.example/", "\\\\b.example"]
        {
            #expect(throws: LinkFailure.badAddress, "\(reference)") {
                try start.resolving(reference)
            }
        }
        let secure = try LinkAddress("https://a.example/")
        #expect(throws: LinkFailure.badAddress) { try secure.resolving("http://a.example/") }
        for machine in [
            "8.8.8.8", "1.1.1.1", "172.32.0.1", "192.0.1.1", "2606:4700::1111", "2a00::1",
        ] {
            #expect(MachineAddress(machine)?.isPublic == true, "\(machine)")
        }
    }

    // MARK: Fetching

    /// A fetcher for which every name is the server's, on the server's port.
    private func fetcher(_ server: LyingServer) throws -> LinkFetcher {
        let machine = try #require(MachineAddress("127.0.0.1"))
        let port = server.port
        return LinkFetcher(
            resolve: { _ in [machine] }, isAllowed: { $0 == machine && $1 == port })
    }

    private func failure(
        _ fetcher: LinkFetcher, _ address: String, _ time: Duration = .seconds(5)
    ) throws -> LinkFailure? {
        do throws(LinkFailure) {
            _ = try fetcher.fetch(
                LinkAddress(address), ["text/html"], atMost: LinkFetcher.pageByteCountMax,
                isWhole: false, until: .now + time)
        } catch { return error }
        return nil
    }

    @Test("a page says what it is, through redirects, with its picture", .enabled(if: hasCurl))
    func page() throws {
        let picture = RealPicture.jpeg()
        let server = try LyingServer { path in
            switch path {
            case "/start": LyingServer.page("", status: "301 Moved", more: "Location: /hut?a=1\r\n")
            case "/hut?a=1":
                Array("HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n".utf8)
                    + LyingServer.page(
                        "<title>no</title><meta property=og:title content='The hut &amp; more'>"
                            + "<meta property=\"og:image\" content=\"pic.jpg\">"
                            + "<meta name=description content=\"High &#x2191;\nup\">")
            case "/pic.jpg": LyingServer.page(picture, type: "image/jpeg")
            default: LyingServer.page("", status: "404 None")
            }
        }
        defer { server.stop() }
        let address = "http://hut.example:\(server.port)/start"
        let preview = try LinkDesk.look(at: address, by: try fetcher(server))
        #expect(preview.address == address && preview.title == "The hut & more")
        #expect(preview.description == "High ↑ up" && preview.site.isEmpty)
        #expect(server.paths == ["/start", "/hut?a=1", "/pic.jpg"])
        if CagedProgram("vipsthumbnail") != nil {
            #expect(try PreviewMaker.checked(preview.picture).bytes == preview.picture)
        }
    }

    @Test(
        "Attack 246: a server that lies gives nothing, and is not waited for", .enabled(if: hasCurl)
    )
    func lies() throws {
        let server = try LyingServer { path in
            switch path {
            case "/loop": LyingServer.page("", status: "302 Found", more: "Location: /loop\r\n")
            case "/away":
                LyingServer.page(
                    "", status: "302 Found", more: "Location: http:" + "//10.0.0.1/\r\n")
            case "/port":
                LyingServer.page(
                    "", status: "302 Found", more: "Location: http://b.example:22/\r\n")
            case "/file":
                LyingServer.page("", status: "302 Found", more: "Location: file:///etc/passwd\r\n")
            case "/nowhere": LyingServer.page("", status: "302 Found")
            case "/packed": LyingServer.page("<title>x</title>", more: "Content-Encoding: gzip\r\n")
            case "/program": LyingServer.page("<title>x</title>", type: "application/octet-stream")
            case "/untyped": Array("HTTP/1.1 200 OK\r\n\r\n<title>x</title>".utf8)
            case "/old": Array("<title>x</title>".utf8)
            case "/head":
                Array("HTTP/1.1 200 OK\r\n".utf8)
                    + Array("X: y\r\n".utf8).repeated(20_000)
            case "/error": LyingServer.page("<title>x</title>", status: "500 No")
            case "/silent": nil
            default: []
            }
        }
        defer { server.stop() }
        let fetcher = try fetcher(server)
        let base = "http://a.example:\(server.port)"
        let expected: [(String, LinkFailure)] = [
            ("/loop", .tooManyRedirects), ("/away", .notPublic), ("/port", .notPublic),
            ("/file", .badAddress), ("/nowhere", .notTaken), ("/packed", .notTaken),
            ("/program", .notTaken), ("/untyped", .notTaken), ("/error", .notTaken),
        ]
        for (path, failure) in expected {
            #expect(try self.failure(fetcher, base + path) == failure, "\(path)")
        }
        #expect(server.paths.count { $0 == "/loop" } == 4, "three are followed")
        for path in ["/old", "/head", "/empty"] {
            #expect(try self.failure(fetcher, base + path) != nil, "\(path)")
        }
        let start = ContinuousClock.now
        #expect(try failure(fetcher, base + "/silent", .seconds(1)) == .unreachable)
        #expect(ContinuousClock.now - start < .seconds(20))
    }

    @Test("Attack 246: an endless page is read as far as its bound", .enabled(if: hasCurl))
    func endless() throws {
        let server = try LyingServer { path in
            LyingServer.page(
                Array("<title>long</title>".utf8) + [UInt8](repeating: 0x20, count: 4 << 20),
                type: path == "/picture" ? "image/png" : "text/html")
        }
        defer { server.stop() }
        let fetcher = try fetcher(server)
        let page = try fetcher.fetch(
            LinkAddress("http://a.example:\(server.port)/"), ["text/html"],
            atMost: LinkFetcher.pageByteCountMax, isWhole: false, until: .now + .seconds(8))
        #expect(page.bytes.count == LinkFetcher.pageByteCountMax)
        #expect(LinkPage(page.bytes)?.title == "long")
        #expect(throws: LinkFailure.notTaken) {
            try fetcher.fetch(
                LinkAddress("http://a.example:\(server.port)/picture"), ["image/png"],
                atMost: LinkFetcher.pictureByteCountMax, isWhole: true, until: .now + .seconds(8))
        }
    }

    @Test(
        "Attack 337: while a page is fetched no argument of a program tells which",
        .enabled(if: hasCurl))
    func arguments() throws {
        let host = "attack-337.example"
        let found = Mutex<[String]>([])
        let server = try LyingServer { _ in
            // Who asks waits for the answer meanwhile.
            // A folder that cannot be read shows nothing, and the test fails.
            let processes =
                (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
            for process in processes where Int(process) != nil {
                // Another one may have ended by now.
                let words = try? String(
                    contentsOfFile: "/proc/\(process)/cmdline", encoding: .utf8)
                if let words, words.contains("Parley (preview") {
                    found.withLock { $0.append(words) }
                }
            }
            return LyingServer.page("<title>own</title>")
        }
        defer { server.stop() }
        let page = try fetcher(server).fetch(
            LinkAddress("http://\(host):\(server.port)/"), ["text/html"],
            atMost: LinkFetcher.pageByteCountMax, isWhole: false, until: .now + .seconds(8))
        #expect(LinkPage(page.bytes)?.title == "own")
        let words = found.withLock { $0 }
        #expect(!words.isEmpty)
        #expect(words.allSatisfy { !$0.contains(host) && !$0.contains("resolve") })
    }

    @Test(
        "Attack 247: a name that leads elsewhere the second time is asked once",
        .enabled(if: hasCurl))
    func rebinding() throws {
        let server = try LyingServer { _ in LyingServer.page("<title>own</title>") }
        defer { server.stop() }
        let own = try #require(MachineAddress("127.0.0.1"))
        let open = try #require(MachineAddress("192.0.2.1"))
        let asked = Mutex(0)
        // It resolves to an open machine when it is looked at, and to this one ever after.
        let fetcher = LinkFetcher(
            resolve: { _ in
                asked.withLock { count in
                    count += 1; return [count == 1 ? open : own]
                }
            },
            isAllowed: { machine, _ in machine == open })
        #expect(
            try failure(fetcher, "http://a.example:\(server.port)/", .seconds(2)) == .unreachable)
        #expect(asked.withLock { $0 } == 1 && server.paths.isEmpty)
        // One of several addresses that leads inside is enough.
        let both = LinkFetcher(
            resolve: { _ in [open, own] }, isAllowed: { machine, _ in machine == open })
        #expect(try failure(both, "http://a.example:\(server.port)/") == .notPublic)
        let gate = DispatchSemaphore(value: 0)
        defer { gate.signal() }
        let slow = LinkFetcher(resolve: { _ in
            // A resolver without an answer: the wait for it has a deadline, and this ends after it.
            gate.wait()
            return [own]
        })
        #expect(try failure(slow, "http://a.example/", .milliseconds(200)) == .noSuchName)
        #expect(try failure(LinkFetcher(resolve: { _ in [] }), "http://a.example/") == .noSuchName)
        #expect(try failure(LinkFetcher(folders: []), "http://a.example/") == .noProgram)
    }

    // MARK: Pages

    @Test("a page is read by its head, whatever stands there")
    func pages() {
        func page(_ text: String) -> LinkPage? { LinkPage(Array(text.utf8)) }
        #expect(page("<TITLE lang=de>Ä &uuml; &lt;b&gt;</TITLE>")?.title == "Ä ü <b>")
        #expect(page("<!-- <title>a</title> --><title>b</title>")?.title == "b")
        #expect(page("<script>'<title>a</title>'</script><title>b</title>")?.title == "b")
        #expect(page("<title>a</title><body><meta property=og:title content=b>")?.title == "a")
        #expect(page("<meta content=b property=og:title><title>a")?.title == "b")
        #expect(page("<meta property=og:title content=\"a>b'c\" / ><x")?.title == "a>b'c")
        #expect(page("<title>a\u{202E}b\u{0}c\u{200B}d\u{1B}[31m</title>")?.title == "ab cd [31m")
        #expect(
            page("<title>&#0;&#x110000;&#xD800;&nope;&amp</title>")?.title
                == "&#x110000;&#xD800;&nope;&amp")
        for nothing in [
            "", "<", "<title", "<title>", "<title> </title>", "<meta", "<!--", "text", "<a b=\"",
            "<<<>>>",
        ] {
            #expect(page(nothing) == nil, "\(nothing)")
        }
        #expect(LinkPage([0x3C, 0xFF]) == nil, "no text")
        let cut = Array("<title>a</title>€".utf8).dropLast()
        #expect(LinkPage(Array(cut))?.title == "a", "a character was cut off")
        let long = page("<title>\(String(repeating: "ä", count: 9_999))</title>")
        #expect(long?.title.utf8.count ?? 0 <= Limits.linkTitleByteCountMax)
        #expect(long?.title.hasSuffix("ä…") == true)
    }

    @Test("Attack 309: runs of marks and flags, slow to compose and to shorten, are read in time")
    func slowCharacters() {
        // Each a single character, or one whose beginning is far away.
        for run in [
            "\u{300}\u{323}", "\u{1F1E9}\u{1F1EA}", "\u{200D}\u{1F468}", "\u{C0}\u{345}",
        ] {
            for begin in [
                "<title>a", "<meta property=og:title content=a", "<meta content=b name=a",
                "<meta a", "<meta property=og:image content='a", "<title>&#97;&", "<a b=a",
            ] {
                let bytes =
                    Array(begin.utf8)
                    + Array(run.utf8).repeated(LinkFetcher.pageByteCountMax / run.utf8.count)
                let start = ContinuousClock.now
                _ = LinkPage(bytes)
                #expect(ContinuousClock.now - start < .seconds(10), "\(begin)")
            }
            let head = "HTTP/1.1 200 OK\r\na"
            for line in ["", "\r\nb:", "\r\nlocation: a", "\r\ncontent-type: a"] {
                let bytes =
                    Array((head + line).utf8) + Array(run.utf8).repeated(8_000) + [13, 10, 13, 10]
                let start = ContinuousClock.now
                let answer = LinkAnswer(bytes, headByteCountMax: 1 << 20)
                #expect(answer?.field("location") == nil && answer?.field("content-type") == nil)
                #expect(ContinuousClock.now - start < .seconds(2), "\(line)")
            }
        }
        // What is cut stays whole characters.
        #expect(LinkPage.cleaned(String(repeating: "\u{1F1E9}\u{1F1EA}", count: 9), 20).count == 3)
        #expect(LinkPage.cleaned("  a \n b ", 20) == "a b")
    }

    @Test("Attack 246: pages made to be slow are read in time")
    func slowPages() {
        let parts = [
            "<", "<!--", "<a ", "<a b=\"", "<title>", "</title", "<script>", "<meta a=b ", "&#",
            "<a b='<",
        ]
        for part in parts {
            let bytes = Array(part.utf8).repeated(LinkFetcher.pageByteCountMax / part.utf8.count)
            let start = ContinuousClock.now
            _ = LinkPage(bytes)
            #expect(ContinuousClock.now - start < .seconds(10), "\(part)")
        }
    }
}

extension [UInt8] {
    fileprivate func repeated(_ count: Int) -> [UInt8] {
        Array([[UInt8]](repeating: self, count: count).joined())
    }
}
