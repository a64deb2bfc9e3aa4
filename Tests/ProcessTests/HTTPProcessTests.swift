import Foundation
import FoundationNetworking
import Parley
import ParleyLocalAPI
import Testing

@Suite("parley run --http", .serialized, .timeLimit(.minutes(6)))
struct HTTPProcessTests {
    /// What a node answers; nothing where it cannot be reached.
    private static func get(
        _ path: String, of home: String, token: String, body: String? = nil
    ) async throws -> (status: Int, text: String) {
        let address = try String(contentsOfFile: home + "/http", encoding: .utf8).dropLast()
        var request = URLRequest(url: try #require(URL(string: "http://\(address)\(path)")))
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        request.httpMethod = body == nil ? "GET" : "POST"
        request.httpBody = body.map { Data($0.utf8) }
        let session = URLSession(configuration: .ephemeral)
        let (data, response) = try await session.data(for: request)
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        return (status, String(decoding: data, as: UTF8.self))
    }

    private static func token(_ words: String..., of home: String) async throws -> String {
        let made = try Program(["token"] + words + ["--json", "--home", home])
        #expect(try await made.ended() == 0, "\(made.output)")
        let line = made.output.split(separator: "\n")[0]
        return try JSONDecoder().decode(FreshToken.self, from: Data(line.utf8)).token
    }

    @Test("listens on this machine alone, and says which address is none")
    func refused() async throws {
        let folder = try TemporaryFolder()
        for address in ["0.0.0.0:8080", "192.0.2.1:1", "example.org:80", "127.0.0.1:x"] {
            let found = try await Program.run("run", "--home", folder.path, "--http", address)
            #expect(found.status == 64, "\(found.output)")
            #expect(found.output.contains("\(address) is not a loopback address"))
        }
    }

    @Test("answers who shows a token, as long as that is good, and is gone at its end")
    func whole() async throws {
        let folder = try TemporaryFolder()
        let node = try await NodeProcess(
            home: folder.home("ann"), name: "ann", port: try FreePort.some())
        // Made before the node runs, and while it does.
        let early = try await Self.token("new", "early", "--scope", "read", of: node.home)
        try await node.start(options: ["--http"])
        #expect(await node.output.contains("answering on http://127.0.0.1:"))
        let late = try await Self.token("new", "late", "--scope", "admin", of: node.home)
        let ask = #"{"jsonrpc":"2.0","id":1,"method":"status"}"#
        for token in [early, late] {
            let found = try await Self.get("/rpc", of: node.home, token: token, body: ask)
            #expect(found.status == 200 && found.text.contains(#""isRunning":true"#))
        }
        let metrics = try await Self.get("/metrics", of: node.home, token: early)
        #expect(metrics.text.contains("parley_links 0\n") && metrics.text.hasSuffix("# EOF\n"))
        let list = try await Program.run("token", "list", "--home", node.home)
        #expect(list.output.contains("early") && list.output.contains("admin"))
        #expect(!list.output.contains(early))
        let fresh = try await Self.token("rotate", "early", of: node.home)
        #expect(try await Self.get("/metrics", of: node.home, token: early).status == 401)
        #expect(try await Self.get("/metrics", of: node.home, token: fresh).status == 200)
        // Whoever reads the advice need not know which home it is.
        let advice = "parley token new --home \(node.home) NAME --scope"
        let stranger = try await Self.get("/metrics", of: node.home, token: early)
        #expect(stranger.text.contains("\(advice) read"), "\(stranger.text)")
        let wish = #"{"jsonrpc":"2.0","id":1,"method":"invite","params":{"hours":1}}"#
        let beyond = try await Self.get("/rpc", of: node.home, token: fresh, body: wish)
        #expect(beyond.text.contains("parley token new --home"), "\(beyond.text)")
        let revoked = try await Program.run("token", "revoke", "late", "--home", node.home)
        #expect(revoked.status == 0)
        #expect(try await Self.get("/metrics", of: node.home, token: late).status == 401)
        #expect(try await node.stop() == 0)
        #expect(!FileManager.default.fileExists(atPath: node.home + "/http"))
        #expect(!FileManager.default.fileExists(atPath: node.home + "/socket"))
    }

    /// A stream of changes that takes no more than its beginning.
    private static func stream(of home: String, token: String) throws -> FileHandle {
        let text = try String(contentsOfFile: home + "/http", encoding: .utf8).dropLast()
        let port = try #require(text.split(separator: ":").last.flatMap { UInt16($0) })
        let stream = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(stream, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw Late(description: "nobody is at \(text)") }
        let handle = FileHandle(fileDescriptor: stream, closeOnDealloc: true)
        let request =
            "GET /events HTTP/1.1\r\nHost: \(text)\r\nAuthorization: Bearer \(token)\r\n\r\n"
        try handle.write(contentsOf: Data(request.utf8))
        let answer = try handle.read(upToCount: 12)
        guard answer == Data("HTTP/1.1 200".utf8) else { throw Late(description: "refused") }
        return handle
    }

    @Test("stops at once, whoever has a stream open, and takes none of what waits for it")
    func stops() async throws {
        let folder = try TemporaryFolder()
        let node = try await NodeProcess(
            home: folder.home("ann"), name: "ann", port: try FreePort.some())
        let client = try await node.start(options: ["--http"])
        let token = try await Self.token("new", "reader", "--scope", "read", of: node.home)
        try await client.perform(CreateConversation(name: "notes", members: []))
        let behind = try Self.stream(of: node.home, token: token)
        // More than the buffers of both ends take.
        let text = String(repeating: "x", count: 30_000)
        for _ in 0..<16 {
            try await client.perform(
                SendMessages(conversation: "notes", texts: [String](repeating: text, count: 24)))
        }
        let idle = try Self.stream(of: node.home, token: token)
        let clock = ContinuousClock()
        let begin = clock.now
        #expect(try await node.stop() == 0)
        #expect(clock.now - begin < .seconds(3))
        for stream in [behind, idle] { try stream.close() }
    }

    @Test("events go on after a cursor, also where no node runs")
    func events() async throws {
        let folder = try TemporaryFolder()
        let node = try await NodeProcess(
            home: folder.home("ann"), name: "ann", port: try FreePort.some())
        let client = try await node.start()
        try await client.perform(CreateConversation(name: "notes", members: []))
        let start = try await client.perform(ReadChanges(limit: 1)).cursor
        try await client.perform(SendMessages(conversation: "notes", texts: ["milk", "bread"]))
        #expect(try await node.stop() == 0)
        let found = try await Program.run(
            "events", "--since", start, "--until-now", "--home", node.home)
        #expect(found.status == 0)
        let lines = found.output.split(separator: "\n")
        #expect(lines.first?.contains("\"milk\"") == true && found.output.contains("\"bread\""))
        let now = try await Program.run("events", "--until-now", "--home", node.home)
        #expect(now.output.contains(#""kind":"start""#) && !now.output.contains("milk"))
    }
}
