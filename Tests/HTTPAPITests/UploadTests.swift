import Foundation
import NIOCore
import Parley
import ParleySealing
import ParleyWire
import Synchronization
import Testing

@testable import LocalAPITests
@testable import Parley
@testable import ParleyHTTPAPI

@Suite("Files that come in over HTTP", .timeLimit(.minutes(3)))
struct UploadTests {
    /// What a node was given to seal, as a fake node notes it.
    private final class Sealed: Sendable {
        let files = Mutex<[(request: StageFile, content: Data)]>([])
        let dropped = Mutex<[String]>([])

        init(of node: FakeNode, failing failure: NodeError? = nil) {
            node.answer(StageFile.self) { [self] _, request in
                let content = try Data(contentsOf: URL(filePath: request.path))
                let number = files.withLock { files in
                    files.append((request, content))
                    return files.count
                }
                return Self.view("\(number)", request.name ?? "", content.count, isReady: false)
            }
            node.answer(GetStagedFile.self) { [self] _, request in
                let number = Int(request.ticket) ?? 0
                let file = files.withLock { $0[number - 1] }
                var view = Self.view(
                    request.ticket, file.request.name ?? "", file.content.count, isReady: true)
                view.failure = failure
                return view
            }
            node.answer(DropStagedFile.self) { [self] _, request in
                dropped.withLock { $0.append(request.ticket) }
                return NoReply()
            }
        }

        static func view(_ ticket: String, _ name: String, _ size: Int, isReady: Bool)
            -> StagedFile
        {
            StagedFile(
                ticket: ticket, name: name, size: UInt64(size),
                sealedByteCount: isReady ? UInt64(size) : 0, isReady: isReady, hasPreview: false)
        }

        var last: Data? { files.withLock { $0.last?.content } }
    }

    /// What is told of a file.
    private struct Told: Decodable {
        struct File: Decodable { var ticket: String }
        var upload: String
        var size: UInt64
        var receivedByteCount: UInt64
        var file: File?

        init(_ response: HTTPProgram.Response) throws {
            self = try JSONDecoder().decode(Told.self, from: Data(response.body.utf8))
        }
    }

    @Test("a file in one body is sealed, and the answer tells the ticket")
    func single() async throws {
        let stand = try await Stand()
        let token = try stand.token(.write)
        let sealed = Sealed(of: stand.node)
        let content = String(repeating: "parley ", count: 100_000)
        let found = try await stand.ask(
            "POST /upload?name=a+%62.txt&room=9000&voice=1", token: token, body: content)
        #expect(found.status == 200, "\(found.body)")
        let told = try Told(found)
        #expect(told.file?.ticket == "1" && told.receivedByteCount == UInt64(content.utf8.count))
        let file = try #require(sealed.files.withLock { $0.first })
        #expect(file.content == Data(content.utf8))
        #expect(file.request.name == "a b.txt" && file.request.room == 9000)
        #expect(file.request.isVoice == true && file.request.keepsMetadata == nil)
        // One too large for memory, and an empty one.
        let large = String(repeating: "x", count: Int(UploadBook.smallByteCountMax) + 1)
        let second = try await stand.ask("POST /upload?name=b", token: token, body: large)
        #expect(second.status == 200 && sealed.last?.count == large.utf8.count)
        let third = try await stand.ask("POST /upload?name=c", token: token, body: "")
        #expect(third.status == 200 && sealed.last?.isEmpty == true)
        // Nothing of it is left in the home.
        let names = try FileManager.default.contentsOfDirectory(atPath: stand.home.path)
        #expect(names.allSatisfy { !$0.contains("incoming") })
        await stand.server.stop()
    }

    @Test("a file in pieces goes on where it stopped, also after a connection that broke")
    func pieces() async throws {
        let stand = try await Stand()
        let token = try stand.token(.write)
        let sealed = Sealed(of: stand.node)
        let whole = (0..<1_000_000).map { UInt8(0x61 + $0 % 26) }
        let text = String(decoding: whole, as: UTF8.self)
        func piece(_ from: Int, _ to: Int) -> String {
            String(text.dropFirst(from).prefix(to - from))
        }
        let begun = try await stand.ask(
            "POST /upload?name=a&size=1000000", token: token, body: piece(0, 400_000))
        let id = try Told(begun).upload
        #expect(try Told(begun).receivedByteCount == 400_000 && sealed.last == nil)
        // Half a piece, and then nobody is there any more.
        let broken = try await stand.connect()
        broken.send(
            stand.request(
                "POST /upload?id=\(id)&offset=400000", token: token,
                fields: ["Content-Length: 300000"]) + piece(400_000, 700_000 - 10))
        var told = try await Told(stand.ask("GET /upload?id=\(id)", token: token))
        while told.receivedByteCount < 400_000 + 262_144 {
            told = try await Told(stand.ask("GET /upload?id=\(id)", token: token))
        }
        broken.close()
        var place = Int(told.receivedByteCount)
        var answer = try await stand.ask(
            "POST /upload?id=\(id)&offset=\(place)", token: token, body: piece(place, 1_000_000))
        while answer.status == 409 {
            // The other request has not ended, or noted more when it did.
            place = try await Int(
                Told(stand.ask("GET /upload?id=\(id)", token: token)).receivedByteCount)
            answer = try await stand.ask(
                "POST /upload?id=\(id)&offset=\(place)", token: token,
                body: piece(place, 1_000_000))
        }
        #expect(answer.status == 200 && sealed.last == Data(whole))
        // Who did not hear the answer asks again, and nothing is sealed twice.
        let again = try await stand.ask(
            "POST /upload?id=\(id)&offset=1000000", token: token, body: "")
        #expect(try Told(again).file?.ticket == "1" && sealed.files.withLock { $0.count } == 1)
        let gone = try await stand.ask("DELETE /upload?id=\(id)", token: token)
        #expect(gone.status == 204 && sealed.dropped.withLock { $0 } == ["1"])
        #expect(try await stand.ask("GET /upload?id=\(id)", token: token).status == 404)
        await stand.server.stop()
    }

    @Test("what the node does not seal is refused with its reason, and gone")
    func refused() async throws {
        let stand = try await Stand()
        let token = try stand.token(.write)
        _ = Sealed(of: stand.node, failing: NodeError("not-cleaned", "It may tell where."))
        let found = try await stand.ask("POST /upload?name=a", token: token, body: "x")
        #expect(found.status == 422 && found.code == "not-cleaned")
        _ = Sealed(of: stand.node, failing: NodeError("disk-full", "The disk is full."))
        let full = try await stand.ask("POST /upload?name=a", token: token, body: "x")
        #expect(full.status == 507 && full.code == "disk-full")
        await stand.server.stop()
    }

    @Test("Attack 279: files that come in without end, too large, beside each other, and of others")
    func bounds279() async throws {
        let stand = try await Stand()
        let sealed = Sealed(of: stand.node)
        let (token, other) = (try stand.token(.write), try stand.token(.write, called: "other"))
        let reader = try stand.token(.read, called: "reader")
        for (query, token, status, code) in [
            ("name=a", reader, 403, "forbidden"), ("", token, 400, "invalid-parameters"),
            ("name=a&size=-1", token, 400, "invalid-parameters"),
            ("name=a&size=4294967297", token, 413, "too-large"),
            ("name=a&size=1", token, 413, "too-large"),
            ("name=a&room=x", token, 400, "invalid-parameters"),
            ("name=" + String(repeating: "a", count: 1_025), token, 400, "invalid-parameters"),
            ("offset=1&name=a", token, 400, "invalid-parameters"),
            ("id=0&offset=0", token, 404, "no-upload"),
            ("path=%2Fetc", token, 400, "invalid-parameters"),
        ] {
            let found = try await stand.ask("POST /upload?" + query, token: token, body: "ab")
            #expect(found.status == status && found.code == code, "\(query) \(found.body)")
        }
        #expect(sealed.last == nil)
        // Chunks that bring more than was said end it.
        let begun = try await stand.ask("POST /upload?name=a&size=9", token: token, body: "abc")
        let first = try Told(begun).upload
        let more = try await stand.connect()
        more.send(
            stand.request(
                "POST /upload?id=\(first)&offset=3", token: token,
                fields: ["Transfer-Encoding: chunked"]) + "7\r\nabcdefg\r\n0\r\n\r\n")
        #expect(try await more.response()?.status == 413)
        #expect(try await stand.ask("GET /upload?id=\(first)", token: token).status == 404)
        // One is nobody else's, and goes on where it ends alone.
        let second = try await stand.ask("POST /upload?name=a&size=9", token: token, body: "abc")
        let id = try Told(second).upload
        for (line, token, status) in [
            ("GET /upload?id=\(id)", other, 404), ("DELETE /upload?id=\(id)", other, 404),
            ("POST /upload?id=\(id)&offset=3", other, 404),
            ("POST /upload?id=\(id)&offset=2", token, 409),
        ] {
            let body = line.hasPrefix("POST") ? "x" : nil
            #expect(try await stand.ask(line, token: token, body: body).status == status)
        }
        // Places end, and those of others are theirs.
        var full: HTTPProgram.Response?
        for _ in 0...UploadBook.ofOneCountMax {
            full = try await stand.ask("POST /upload?name=a&size=9", token: token, body: "")
        }
        #expect(full?.status == 503 && full?.code == "too-many-uploads")
        #expect(
            try await stand.ask("POST /upload?name=a&size=9", token: other, body: "").status == 200)
        await stand.server.stop()
    }

    @Test("Attack 279: files of which next to nothing comes, and those that nobody goes on with")
    func times279() async throws {
        var times = Times()
        (times.longBody, times.upload) = (.milliseconds(400), .milliseconds(400))
        (times.ticket, times.sweep) = (.milliseconds(400), .milliseconds(50))
        let stand = try await Stand(times: times)
        let sealed = Sealed(of: stand.node)
        let token = try stand.token(.write)
        let slow = try await stand.connect()
        slow.send(
            stand.request(
                "POST /upload?name=a&size=9", token: token, fields: ["Content-Length: 9"]) + "a")
        #expect(await slow.ended().isEmpty)
        // Those without end and those that nobody sends are dropped, however many there are.
        for _ in 0..<2 * UploadBook.ofOneCountMax {
            var status = 503
            while status == 503 {
                let found = try await stand.ask(
                    "POST /upload?name=a&size=9", token: token, body: "")
                status = found.status
            }
            #expect(status == 200)
        }
        var sent: HTTPProgram.Response?
        while sent?.status != 200 {
            sent = try await stand.ask("POST /upload?name=a", token: token, body: "sealed")
        }
        while sealed.dropped.withLock({ $0.isEmpty }) {
            _ = try await stand.ask("GET /healthz")
        }
        await stand.server.stop()
    }

    @Test(
        "Attack 279: many files at once take no more memory than is given out, and an owner who ends takes theirs"
    )
    func book279() throws {
        var book = UploadBook()
        let times = Times()
        let now = NIODeadline.now()
        func owner(_ name: String) -> TokenGrant {
            TokenGrant(
                name: name, scope: .write, conversation: nil,
                digest: digest(.accessToken, Array(name.utf8)))
        }
        let small = UploadBook.Description(name: "a", size: UploadBook.smallByteCountMax)
        let inMemory = try (0..<20).map {
            try book.begin("\($0)", small, for: owner("a"), at: now).isInMemory
        }
        #expect(inMemory.count { $0 } == 8 && inMemory.prefix(8).allSatisfy { $0 })
        let large = UploadBook.Description(name: "a", size: Limits.fileByteCountMax)
        for number in 0..<3 { _ = try book.begin("b\(number)", large, for: owner("b"), at: now) }
        #expect(throws: Refusal.tooManyUploads) {
            try book.begin("b3", large, for: owner("b"), at: now)
        }
        // What a request goes on with stays, whatever the time.
        let later = now + .hours(2)
        #expect(book.dropOver(at: later, times) { _ in true }.isEmpty)
        for number in 0..<20 { book.change("\(number)", at: now) { $0.isTaken = false } }
        #expect(
            book.dropOver(at: now, times) { $0.name == "a" }.map(\.id).sorted() == [
                "b0", "b1", "b2",
            ])
        #expect(book.dropOver(at: later, times) { _ in true }.count == 20 && book.count == 0)
    }
}
