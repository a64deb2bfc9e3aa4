import Glibc
import Testing

@testable import ParleyTransport

@Suite("A listener", .timeLimit(.minutes(3)))
struct ListenerTests {
    /// A fresh folder for one socket, removed afterwards.
    private func withFolder(_ body: (String) async throws -> Void) async throws {
        var template = Array("/tmp/parley-transport-XXXXXX".utf8CString)
        let folder = String(cString: try #require(mkdtemp(&template)))
        defer { rmdir(folder) }
        try await body(folder)
    }

    @Test("on every address has one port for both families")
    func everyAddress() async throws {
        try await withTransport { transport in
            let listener = try await transport.listen(on: try Endpoint("*:0")) { Recorder.echo() }
            #expect(Set(listener.endpoints.map(\.port)).count == 1)
            #expect(listener.endpoints.first?.port != 0)
            for endpoint in listener.endpoints {
                let host = endpoint.host == "::" ? "::1" : loopback
                let client = Recorder()
                let target = try Endpoint(host: host, port: endpoint.port)
                try await transport.dial(target, handler: client).send([7])
                await client.wait { $0.bytes == [7] }
            }
        }
    }

    @Test("on a name is found by that name")
    func names() async throws {
        try await withTransport { transport in
            let listener = try await transport.listen(on: try Endpoint("*:0")) { Recorder.echo() }
            let client = Recorder()
            let port = listener.endpoints[0].port
            try await transport.dial(
                try Endpoint(host: "localhost", port: port), handler: client
            ).send([7])
            await client.wait { $0.bytes == [7] }
            #expect(client.heard.openCount == 1)
        }
    }

    @Test("refuses a port that is taken")
    func taken() async throws {
        try await withTransport { transport in
            let endpoint = try Endpoint(host: loopback, port: 0)
            let listener = try await transport.listen(on: endpoint) { Recorder() }
            let failure = await #expect(throws: TransportFailure.self) {
                try await transport.listen(on: listener.endpoints[0]) { Recorder() }
            }
            #expect(failure?.code == .addressInUse)
        }
    }

    @Test("on a socket file lets only its owner in, and cleans up")
    func socketFile() async throws {
        try await withFolder { folder in
            let path = folder + "/socket"
            try await withTransport { transport in
                let listener = try await transport.listen(path: path) { Recorder.echo() }
                var status = stat()
                #expect(lstat(path, &status) == 0)
                #expect(status.st_mode & 0o7777 == 0o600)
                let client = Recorder()
                let connection = try await transport.dial(path: path, handler: client)
                #expect(connection.remoteAddress == "unix")
                connection.send(pattern(4 << 20))
                await client.wait { $0.bytes.count == 4 << 20 }
                #expect(client.heard.bytes == pattern(4 << 20))
                let failure = await #expect(throws: TransportFailure.self) {
                    try await transport.listen(path: path) { Recorder() }
                }
                #expect(failure?.code == .addressInUse)
                await listener.close()
                #expect(lstat(path, &status) != 0)
                let gone = await #expect(throws: TransportFailure.self) {
                    try await transport.dial(path: path, handler: Recorder())
                }
                #expect(gone?.code == .noSuchFile)
            }
        }
    }

    @Test("replaces a socket that a crash left behind, and nothing else")
    func staleFile() async throws {
        try await withFolder { folder in
            let path = folder + "/socket"
            // Bound, never listening, and closed: what a killed process leaves.
            close(try UnixSocket.bind(path))
            try await withTransport { transport in
                let dead = await #expect(throws: TransportFailure.self) {
                    try await transport.dial(path: path, handler: Recorder())
                }
                #expect(dead?.code == .refused)
                let listener = try await transport.listen(path: path) { Recorder.echo() }
                let client = Recorder()
                try await transport.dial(path: path, handler: client).send([7])
                await client.wait { $0.bytes == [7] }
                await listener.close()

                close(open(path, O_CREAT | O_WRONLY, 0o600))
                let failure = await #expect(throws: TransportFailure.self) {
                    try await transport.listen(path: path) { Recorder() }
                }
                #expect(failure?.code == .notASocket)
                unlink(path)
                let long = folder + "/" + String(repeating: "a", count: 100)
                let tooLong = await #expect(throws: TransportFailure.self) {
                    try await transport.listen(path: long) { Recorder() }
                }
                #expect(tooLong?.code == .pathTooLong)
            }
        }
    }
}
