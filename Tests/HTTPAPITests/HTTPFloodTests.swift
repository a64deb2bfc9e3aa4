import Foundation
import NIOCore
import ParleyLocalAPI
import Testing

@testable import LocalAPITests
@testable import Parley
@testable import ParleyHTTPAPI

@Suite("Floods over HTTP", .serialized, .timeLimit(.minutes(5)))
struct HTTPFloodTests {
    @Test("Attack 265: hundreds of connections that say nothing keep nobody out who shows a token")
    func connections265() async throws {
        let stand = try await Stand()
        let token = try stand.token(.read)
        let known = try await stand.connect()
        known.send(stand.request("GET /changes", token: token))
        #expect(try await known.response()?.status == 200)
        var programs: [HTTPProgram] = []
        for _ in 0..<3 * HTTPAPI.connectionCountMax {
            // Who finds no place is hung up on, perhaps before a word was said.
            guard let program = try? await stand.connect() else { continue }
            programs.append(program)
        }
        #expect(stand.server.connectionCount <= HTTPAPI.connectionCountMax)
        // Whoever was let in stays, and whoever comes now finds a place once one had its second.
        known.send(stand.request("GET /changes", token: token))
        #expect(try await known.response()?.status == 200)
        var isAnswered = false
        while !isAnswered {
            guard let program = try? await stand.connect() else { continue }
            program.send(stand.request("GET /changes", token: token))
            isAnswered = try await program.response()?.status == 200
            program.close()
        }
        for program in programs { program.close() }
        known.close()
        await stand.server.stop()
    }

    @Test("Attack 265: heads that never end, however they are sent, are cut off")
    func heads265() async throws {
        var times = Times()
        (times.head, times.idle) = (.milliseconds(300), .milliseconds(300))
        let stand = try await Stand(times: times)
        let token = try stand.token(.read)
        // Nothing at all; a part; a part after a whole request; a client that comes back too late.
        for start in [
            "", "GET /healthz HTTP/1.1\r\nHost:", stand.request("GET /healthz") + "GET /",
            stand.request("GET /changes", token: token),
        ] {
            let program = try await stand.connect()
            program.send(start)
            _ = await program.ended()
            program.close()
        }
        await stand.server.stop()
    }

    @Test(
        "Attack 265: a first line, a field or fields without end cost their bound and no more",
        arguments: ["GET /", "GET / HTTP/1.1\r\nX: ", "GET / HTTP/1.1\r\n", "\r\n"])
    func long265(start: String) async throws {
        let stand = try await Stand()
        let program = try await stand.connect()
        program.send(start)
        let more =
            switch start {
            case "GET / HTTP/1.1\r\n": String(repeating: "X: y\r\n", count: 2_000)
            case "\r\n": String(repeating: "\r\n", count: 10_000)
            default: String(repeating: "x", count: 20_000)
            }
        for _ in 0..<20 { program.send(more) }
        let answer = await program.ended()
        #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 400"), "\(answer.prefix(200))")
        program.close()
        await stand.server.stop()
    }

    @Test("Attack 265: nor does a line without end behind a stream that is open")
    func behindStream265() async throws {
        let stand = try await Stand()
        let program = try await stand.connect()
        program.send(stand.request("GET /events", token: try stand.token(.read)))
        #expect(await program.text(through: "retry") != nil)
        program.send("GET /")
        for _ in 0..<20 { program.send(String(repeating: "x", count: 20_000)) }
        #expect(await program.text(through: "never") == nil)
        program.close()
        await stand.server.stop()
    }

    @Test("Attack 265: bodies of which a half never comes are cut off, and give their room back")
    func bodies265() async throws {
        var times = Times()
        times.body = .milliseconds(500)
        let stand = try await Stand(times: times)
        let token = try stand.token(.read)
        var programs: [HTTPProgram] = []
        for _ in 0..<24 {
            let program = try await stand.connect()
            program.send(
                stand.request(
                    "POST /rpc", token: token,
                    fields: ["Content-Length: \(LocalAPI.lineByteCountMax)"]))
            program.send([UInt8](repeating: 0x20, count: 1 << 20))
            programs.append(program)
        }
        // Seven or eight have room; others are told so at once.
        var busyCount = 0
        for program in programs where await program.ended().contains("\"busy\"") { busyCount += 1 }
        // Where sending takes its time, room that was given back is taken again.
        #expect((1...17).contains(busyCount))
        let half = try await stand.connect()
        half.send(stand.request("POST /rpc", token: token, fields: ["Content-Length: 100"]))
        half.send(String(repeating: " ", count: 50))
        #expect(await half.ended().isEmpty)
        half.close()
        for program in programs { program.close() }
        #expect(try await stand.call("contacts", token: token).status == 200)
        await stand.server.stop()
    }

    @Test("Attack 265: requests that are sent before others were answered are answered in order")
    func pipelined265() async throws {
        let stand = try await Stand()
        let token = try stand.token(.read)
        let program = try await stand.connect()
        for number in 0..<500 {
            program.send(
                stand.request(
                    "POST /rpc", token: token,
                    body: #"{"jsonrpc":"2.0","id":\#(number),"method":"contacts"}"#))
        }
        for number in 0..<500 {
            let body = try #require(try await program.response()).body
            #expect(body.contains("\"id\":\(number),"))
        }
        program.close()
        await stand.server.stop()
    }

    @Test("a client that asks and hangs up at once hundreds of times leaves nothing behind")
    func hangUps() async throws {
        let stand = try await Stand()
        let token = try stand.token(.read)
        for number in 0..<300 {
            let program = try await stand.connect()
            let line = ["GET /events", "GET /changes?wait=60", "POST /rpc", "GET /metrics"][
                number % 4]
            program.send(stand.request(line, token: token, body: number % 4 == 2 ? "{}" : nil))
            program.close()
        }
        // Polls the server: nothing else tells when the last one has left.
        while stand.server.connectionCount > 0 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(stand.server.streamCount == 0)
        await stand.server.stop()
    }
}
