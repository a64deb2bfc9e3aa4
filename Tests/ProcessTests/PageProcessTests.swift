import Foundation
import Parley
import Testing

@Suite("parley open", .serialized, .timeLimit(.minutes(4)))
struct PageProcessTests {
    /// The first link in what a program wrote.
    private static func link(in text: String) throws -> URL {
        let line = try #require(text.split(separator: "\n").first { $0.contains("/#enter=") })
        return try #require(URL(string: String(line)))
    }

    @Test("runs a node where none does, gives a link each time, and finds its port again")
    func whole() async throws {
        let folder = try TemporaryFolder()
        let home = folder.home("ann")
        #expect(try await Program.run("init", "--home", home, "--name", "ann").status == 0)
        let first = try Program(["open", "--print", "--home", home])
        try await first.says("#enter=")
        let one = try Self.link(in: first.output)
        let second = try await Program.run("open", "--print", "--home", home)
        let other = try Self.link(in: second.output)
        #expect(second.status == 0 && one.host == other.host && one.port == other.port)
        #expect(one.host?.hasSuffix(".localhost") == true && one.fragment != other.fragment)
        let address = try String(contentsOfFile: home + "/http", encoding: .utf8)
        #expect(address == "127.0.0.1:\(one.port ?? 0)\n")
        #expect(second.output.contains("open this link in the browser"), "\(second.output)")
        let sessions = try await Program.run("page", "sessions", "--home", home)
        #expect(sessions.status == 0 && sessions.output.contains("no browser is signed in"))
        let unknown = try await Program.run("page", "end", "browser-1", "--home", home)
        #expect(unknown.status == 1 && unknown.output.contains("parley page sessions"))
        first.signal(SIGTERM)
        #expect(try await first.ended() == 0)
        #expect(!FileManager.default.fileExists(atPath: home + "/http"))
        let again = try Program(["open", "--print", "--home", home])
        try await again.says("#enter=")
        let third = try Self.link(in: again.output)
        #expect(third.host == one.host && third.port == one.port)
        again.signal(SIGTERM)
        #expect(try await again.ended() == 0)
    }

    @Test("where there is no home it offers to begin one, and writes nothing before")
    func begins() async throws {
        let folder = try TemporaryFolder()
        let home = folder.home("ann")
        let program = try Program(["open", "--print", "--home", home])
        try await program.says("/#begin=")
        #expect(program.output.contains("there is no node in \(home) yet"), "\(program.output)")
        let url = try #require(
            program.output.split(separator: "\n").first { $0.contains("/#begin=") }
                .flatMap { URL(string: String($0)) })
        #expect(url.host?.hasPrefix("b") == true && url.fragment?.count == 6 + 64)
        program.signal(SIGTERM)
        #expect(try await program.ended() == 0)
        #expect(!FileManager.default.fileExists(atPath: home))
    }

    @Test("says how, where a node runs without its page")
    func without() async throws {
        let folder = try TemporaryFolder()
        let node = try await NodeProcess(
            home: folder.home("ann"), name: "ann", port: try FreePort.some())
        try await node.start()
        let found = try await node.run("open", "--print")
        #expect(found.status == 1 && found.output.contains("without its page"))
        #expect(!found.output.contains("#enter="))
        #expect(try await node.stop() == 0)
        // As a service does it, whose command has no option for it.
        let served = try Program(
            ["run", "--no-listen", "--home", node.home],
            environment: ["PARLEY_RUN_PAGE": "true", "PARLEY_RUN_HTTP": "127.0.0.1:0"])
        try await served.says("answering on http://")
        let opened = try await Program.run("open", "--print", "--home", node.home)
        #expect(opened.status == 0 && opened.output.contains("#enter="), "\(opened.output)")
        served.signal(SIGTERM)
        #expect(try await served.ended() == 0)
        let far = try Program(
            ["run", "--no-listen", "--home", node.home],
            environment: ["PARLEY_RUN_HTTP": "192.0.2.1:80"])
        #expect(try await far.ended() != 0)
        #expect(far.output.contains("is not a loopback address"), "\(far.output)")
    }
}
