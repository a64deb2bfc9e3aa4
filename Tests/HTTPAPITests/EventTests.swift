import Foundation
import Testing

@testable import LocalAPITests
@testable import Parley
@testable import ParleyHTTPAPI

@Suite("Events over HTTP", .timeLimit(.minutes(3)))
struct EventTests {
    private static func tell(_ count: Int, on stand: Stand, from first: Int = 1) {
        for number in first..<first + count {
            stand.node.tell(.of(FakeNode.message(Int64(number), "line \(number).")))
        }
    }

    /// A change of another conversation than all others.
    private static func elsewhere(_ text: String) -> ChangeView {
        var message = FakeNode.message(1, text)
        message.conversation = String(repeating: "cd", count: 32)
        return .of(message)
    }

    @Test("a stream tells from now on, with a cursor, and is told the form of its events")
    func now() async throws {
        let stand = try await Stand()
        Self.tell(2, on: stand)
        let program = try await stand.connect()
        program.send(stand.request("GET /events", token: try stand.token(.read)))
        let head = try #require(await program.text(through: "\r\n\r\n"))
        #expect(head.hasPrefix("HTTP/1.1 200"))
        #expect(head.lowercased().contains("content-type: text/event-stream\r\n"))
        let opening = try #require(await program.text(through: "id: 2\n\n"))
        #expect(opening.contains("retry: 1000\n\n"))
        Self.tell(1, on: stand, from: 3)
        let event = try #require(await program.text(through: "}\n\n"))
        #expect(event.contains("id: 3\nevent: message\ndata: {"))
        #expect(event.contains("line 3.") && !event.contains("line 2."))
        program.close()
        await stand.server.stop()
    }

    @Test(
        "goes on after a cursor, in its query or in the field of a client that comes back",
        arguments: [("GET /events?since=2", [String]()), ("GET /events", ["Last-Event-ID: 2"])])
    func resumes(line: String, fields: [String]) async throws {
        let stand = try await Stand()
        Self.tell(4, on: stand)
        let program = try await stand.connect()
        program.send(stand.request(line, token: try stand.token(.read), fields: fields))
        let events = try #require(await program.text(through: "line 4."))
        #expect(events.contains("line 3.") && !events.contains("line 2."))
        program.close()
        await stand.server.stop()
    }

    @Test("a cursor that is none is refused", arguments: ["GET /events", "GET /changes"])
    func badCursor(line: String) async throws {
        let stand = try await Stand()
        let found = try await stand.ask(line + "?since=x", token: stand.token(.read))
        #expect(found.status == 400 && found.code == "bad-cursor")
        await stand.server.stop()
    }

    @Test("a line end in a text ends no line of an event")
    func lines() async throws {
        let stand = try await Stand()
        let program = try await stand.connect()
        program.send(stand.request("GET /events?since=0", token: try stand.token(.read)))
        stand.node.tell(.of(FakeNode.message(1, "a\n\nevent: forged\ndata: {}\r\n\u{2028}b")))
        let event = try #require(await program.text(through: "}\n\n"))
        #expect(event.contains(#"a\n\nevent: forged\ndata"#))
        #expect(!event.contains("\nevent: forged"))
        program.close()
        await stand.server.stop()
    }

    @Test(
        "a stream of a token for one conversation tells of that one, and that something was missed")
    func confined() async throws {
        let stand = try await Stand()
        let token = try stand.token(.read, conversation: FakeNode.id)
        stand.node.tell(Self.elsewhere("secret"))
        stand.node.tell(ChangeView(kind: "contact"))
        var missed = ChangeView(kind: "missed")
        missed.missed = "forgotten"
        stand.node.tell(missed)
        Self.tell(1, on: stand, from: 4)
        let program = try await stand.connect()
        program.send(stand.request("GET /events?since=0", token: token))
        let told = try #require(await program.text(through: "line 4."))
        #expect(told.contains("forgotten"))
        #expect(!told.contains("secret") && !told.contains("contact"))
        let page = try await stand.ask("GET /changes?since=0", token: token)
        #expect(page.body.contains("line 4.") && page.body.contains("forgotten"))
        #expect(!page.body.contains("secret") && !page.body.contains("contact"))
        #expect(page.body.contains(#""cursor":"4""#))
        program.close()
        await stand.server.stop()
    }

    @Test("what is not for a token moves its reader on all the same")
    func passes() async throws {
        let stand = try await Stand()
        let token = try stand.token(.read, conversation: FakeNode.id)
        for _ in 0..<300 { stand.node.tell(Self.elsewhere("secret")) }
        let program = try await stand.connect()
        program.send(stand.request("GET /events?since=0", token: token))
        #expect(await program.text(through: "id: 256\n\n") != nil)
        program.close()
        await stand.server.stop()
    }

    @Test("a page is there at once, or as soon as something happens, or empty after a while")
    func pages() async throws {
        let stand = try await Stand()
        let token = try stand.token(.read)
        let now = try await stand.ask("GET /changes", token: token)
        #expect(now.body == #"{"changes":[],"cursor":"0","isEnd":true}"# + "\n")
        Self.tell(3, on: stand)
        let page = try await stand.ask("GET /changes?since=0&limit=2&wait=60", token: token)
        #expect(page.body.contains("line 2.") && !page.body.contains("line 3."))
        #expect(page.body.contains(#""cursor":"2","isEnd":false"#))
        let program = try await stand.connect()
        program.send(stand.request("GET /changes?since=3&wait=60", token: token))
        // It waits by now, or reads what is told: either way it is told once.
        Self.tell(1, on: stand, from: 4)
        let late = try #require(try await program.response())
        #expect(late.body.contains("line 4.") && late.body.contains(#""cursor":"4""#))
        let empty = try await stand.ask("GET /changes?since=4&wait=1", token: token)
        #expect(empty.body == #"{"changes":[],"cursor":"4","isEnd":true}"# + "\n")
        for query in [
            "wait=61", "wait=-1", "wait=x", "limit=0", "limit=201", "limit=99999999999999999999",
        ] {
            let bad = try await stand.ask("GET /changes?\(query)", token: token)
            #expect(bad.status == 400 && bad.code == "invalid-parameters", "\(query)")
        }
        program.close()
        await stand.server.stop()
    }

    @Test("a client that goes, and a server that stops, end a stream; its place is free again")
    func places() async throws {
        let stand = try await Stand()
        let token = try stand.token(.read)
        var programs: [HTTPProgram] = []
        for _ in 0..<HTTPAPI.streamOfTokenCountMax {
            let program = try await stand.connect()
            program.send(stand.request("GET /events", token: token))
            #expect(await program.text(through: "retry") != nil)
            programs.append(program)
        }
        let more = try await stand.ask("GET /events", token: token)
        #expect(more.status == 503 && more.code == "too-many-streams")
        programs[0].close()
        var status = 503
        while status == 503 {
            let program = try await stand.connect()
            program.send(stand.request("GET /events", token: token))
            let line = try #require(await program.text(through: "\r\n"))
            status = line.contains(" 200 ") ? 200 : 503
            if status == 503 { program.close() } else { programs.append(program) }
        }
        await stand.server.stop()
        for program in programs.dropFirst() {
            #expect(await program.text(through: "never") == nil)
            program.close()
        }
    }

    @Test("a client that takes nothing costs what the system buffers, and is hung up on")
    func slow() async throws {
        var times = Times()
        times.stall = .milliseconds(300)
        let stand = try await Stand(times: times)
        let program = try await stand.connect()
        program.send(stand.request("GET /events?since=0", token: try stand.token(.read)))
        #expect(await program.text(through: "retry") != nil)
        program.pauseReading()
        let text = String(repeating: "x", count: 10_000)
        for number in 1...5_000 { stand.node.tell(.of(FakeNode.message(Int64(number), text))) }
        // Polls the server: nothing else tells that it has hung up on who does not read.
        while stand.server.connectionCount > 0 { try await Task.sleep(for: .milliseconds(10)) }
        program.resumeReading()
        let taken = await program.ended().utf8.count
        #expect(taken < 20 << 20, "\(taken)")
        program.close()
        await stand.server.stop()
    }

    @Test("a stream on which nothing happens says that it is there")
    func keepAlive() async throws {
        var times = Times()
        times.keepAlive = .milliseconds(20)
        let stand = try await Stand(times: times)
        let program = try await stand.connect()
        program.send(stand.request("GET /events?since=0", token: try stand.token(.read)))
        for _ in 0..<3 { #expect(await program.text(through: "\n: \n") != nil) }
        Self.tell(1, on: stand)
        #expect(await program.text(through: "line 1.") != nil)
        program.close()
        await stand.server.stop()
    }
}
