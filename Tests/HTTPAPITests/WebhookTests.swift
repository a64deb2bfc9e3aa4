import Foundation
import ParleySealing
import ParleyStorage
import ParleyTransport
import ParleyWire
import Synchronization
import Testing

@testable import LocalAPITests
@testable import Parley
@testable import ParleyHTTPAPI

/// A program that is told what changes, and answers as it was told to.
private final class Receiver: Sendable {
    struct Told: Sendable {
        var fields: [String: String]
        var body: String
    }

    let transport = Transport(threadCount: 1)
    let address: String
    let told: AsyncStream<Told>
    private let listener: Listener
    private let teller: AsyncStream<Told>.Continuation
    private let state: Answers

    /// What is answered to the next requests; 200 once there is none, and nothing where it is nil.
    final class Answers: Sendable {
        private let next: Mutex<[Int?]>
        init(_ next: [Int?]) { self.next = Mutex(next) }
        func pop() -> Int? { next.withLock { $0.isEmpty ? 200 : $0.removeLast() } }
    }

    init(_ answers: [Int?] = []) async throws {
        let (told, teller) = AsyncStream.makeStream(of: Told.self)
        let state = Answers(answers.reversed())
        var limits = TransportLimits()
        limits.handshakeCountMax = 10_000
        listener = try await transport.listen(
            on: Endpoint(host: "127.0.0.1", port: 0), limits: limits
        ) { Caller(teller, state) }
        (self.told, self.teller, self.state) = (told, teller, state)
        address = "http://127.0.0.1:\(try #require(listener.endpoints.first).port)/in?x=1"
    }

    func next() async throws -> Told {
        for await request in told { return request }
        throw CancellationError()
    }

    func close() async { await transport.shutdown(within: .milliseconds(10)) }

    private final class Caller: ConnectionHandler {
        private let teller: AsyncStream<Told>.Continuation
        private let answers: Answers
        private let state = Mutex<(bytes: [UInt8], connection: Connection?)>(([], nil))

        init(_ teller: AsyncStream<Told>.Continuation, _ answers: Answers) {
            (self.teller, self.answers) = (teller, answers)
        }

        func opened(_ connection: Connection) { state.withLock { $0.connection = connection } }
        func becameWritable() {}
        func closed(_ reason: CloseReason) {}

        func received(_ bytes: [UInt8]) {
            let text = state.withLock { state in
                state.bytes += bytes
                return String(decoding: state.bytes, as: UTF8.self)
            }
            let parts = text.components(separatedBy: "\r\n\r\n")
            guard parts.count > 1 else { return }
            var fields: [String: String] = [:]
            for line in parts[0].components(separatedBy: "\r\n") {
                let sides = line.components(separatedBy: ": ")
                fields[sides[0].lowercased()] = sides.dropFirst().joined(separator: ": ")
            }
            let body = parts.dropFirst().joined(separator: "\r\n\r\n")
            guard body.utf8.count == Int(fields["content-length"] ?? "") else { return }
            fields["line"] = parts[0].components(separatedBy: "\r\n")[0]
            if let status = answers.pop() {
                let connection = state.withLock { $0.connection }
                connection?.send(Array("HTTP/1.1 \(status) \r\nContent-Length: 0\r\n\r\n".utf8))
                connection?.close()
            }
            teller.yield(Told(fields: fields, body: body))
        }
    }
}

@Suite("Webhooks", .timeLimit(.minutes(3)))
struct WebhookTests {
    private static let other = String(repeating: "cd", count: 32)

    private static func hook(
        _ address: String, called name: String = "lights", conversation: String? = nil
    ) -> Webhook {
        Webhook(
            name: name, address: address, conversation: conversation,
            secret: String(repeating: "0b", count: 32), cursor: "0", created: 1)
    }

    private static var quick: WebhookCourier.Patience {
        var patience = WebhookCourier.Patience()
        (patience.first, patience.most) = (.milliseconds(5), .milliseconds(20))
        (patience.answer, patience.flush) = (.seconds(3), .milliseconds(10))
        patience.attemptCountMax = 3
        return patience
    }

    @Test(
        "a code is the one that others compute",
        arguments: [
            (
                "Jefe", "what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            ("", "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
        ])
    func code(key: String, text: String, expected: String) {
        #expect(hex(hmacSHA256(Array(text.utf8), key: Array(key.utf8))) == expected)
    }

    @Test(
        "Attack 263: an address that leads off this machine, or that two programs read otherwise, is none",
        arguments: [
            "https://127.0.0.1/", "^192.0.2.1/", "^example.org/", "^0.0.0.0/",
            "^localhost.example/", "^a@127.0.0.1/", "^127.0.0.1@evil.example/",
            "^127.1/", "^2130706433/", "^[::ffff:127.0.0.1]/", "ftp://127.0.0.1/",
            "^127.0.0.1/#a", "^127.0.0.1:0/", "^127.0.0.1:70000/", "", "^",
            "^127.0.0.1/ HTTP/1.1\r\nX: y", "^127.0.0.1/ä", "//127.0.0.1/",
            "^127.0.0.01/", "^127.0.0.1:80:80/",
        ])
    func foreign263(shown: String) throws {
        let address = shown.replacing("^", with: "http:" + "//")
        let home = try TemporaryHome()
        let book = WebhookBook(of: Home(home.path))
        let error = #expect(throws: NodeError.self) { try book.create(Self.hook(address)) }
        #expect(error?.code == "bad-address", "\(address)")
    }

    @Test("are few, of plain names, in a file that only the owner reads, and tell where they lead")
    func book() throws {
        let home = try TemporaryHome()
        let book = WebhookBook(of: Home(home.path))
        try book.create(Self.hook("http://[::1]:81"))
        let file = home.path + "/webhooks"
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        #expect(throws: NodeError.self) { try book.create(Self.hook("http://localhost/")) }
        #expect(throws: NodeError.self) {
            try book.create(Self.hook("http://localhost/", called: "a b"))
        }
        for number in 2...WebhookBook.countMax {
            try book.create(Self.hook("http://localhost/", called: "h\(number)"))
        }
        #expect(throws: NodeError.self) {
            try book.create(Self.hook("http://localhost/", called: "z"))
        }
        #expect(try WebhookBook(of: Home(home.path)).all() == book.all())
        for number in 0...WebhookBook.deadLetterCountMax {
            try book.giveUp(
                DeadLetter(cursor: "\(number)", kind: "message", time: 1, reason: "no-answer"),
                of: "lights")
        }
        let letters = try #require(try book.all().last { $0.name == "lights" }).deadLetters
        #expect(letters.count == WebhookBook.deadLetterCountMax && letters.first?.cursor == "1")
        try Data("{}".utf8).write(to: URL(fileURLWithPath: file))
        #expect(throws: NodeError.self) { try WebhookBook(of: Home(home.path)).all() }
        #expect(WebhookTarget("http://[::1]:81")?.path == "/")
        #expect(WebhookTarget("http://localhost/a%20b?c=d")?.path == "/a%20b?c=d")
    }

    @Test("are told each change once, in order, signed, and go on where they were")
    func order() async throws {
        let (home, node, receiver) = (try TemporaryHome(), FakeNode(), try await Receiver())
        let book = WebhookBook(of: Home(home.path))
        try book.create(Self.hook(receiver.address))
        var courier = WebhookCourier(node: node, book: book, patience: Self.quick)
        for number in 1...3 { node.tell(.of(FakeNode.message(Int64(number), "line \(number)."))) }
        for number in 1...3 {
            let told = try await receiver.next()
            #expect(told.fields["line"] == "POST /in?x=1 HTTP/1.1")
            #expect(told.fields["parley-event"] == "\(number)")
            #expect(told.fields["parley-attempt"] == "1")
            #expect(told.body.contains("line \(number)."))
            let signature = try #require(told.fields["parley-signature"])
            let parts = signature.split(separator: ",").map { $0.split(separator: "=")[1] }
            let code = hmacSHA256(
                Array("\(parts[0]).\(told.body)".utf8), key: [UInt8](repeating: 0x0B, count: 32))
            #expect(parts[1] == hex(code))
        }
        // Its answer may still be on its way.
        while try book.all().first?.cursor != "3" { await Task.yield() }
        await courier.stop()
        // Another process goes on.
        node.tell(.of(FakeNode.message(4, "line 4.")))
        let again = WebhookBook(of: Home(home.path))
        #expect(try again.all().first?.cursor == "3")
        courier = WebhookCourier(node: node, book: again, patience: Self.quick)
        #expect(try await receiver.next().fields["parley-event"] == "4")
        await courier.stop()
        await receiver.close()
    }

    @Test("are tried again, and what they never take becomes a dead letter that tells nothing")
    func retries() async throws {
        let (home, node) = (try TemporaryHome(), FakeNode())
        let receiver = try await Receiver([500, nil, 200, 404, 301, 500])
        let book = WebhookBook(of: Home(home.path))
        try book.create(Self.hook(receiver.address))
        let courier = WebhookCourier(node: node, book: book, patience: Self.quick)
        for number in 1...3 { node.tell(.of(FakeNode.message(Int64(number), "secret \(number)."))) }
        var seen: [String] = []
        for _ in 0..<7 {
            let told = try await receiver.next()
            seen.append(
                "\(told.fields["parley-event"] ?? "") \(told.fields["parley-attempt"] ?? "")")
        }
        #expect(seen == ["1 1", "1 2", "1 3", "2 1", "2 2", "2 3", "3 1"])
        await courier.stop()
        let letters = try #require(try book.all().first).deadLetters
        #expect(letters.map(\.cursor) == ["2"] && letters.first?.reason == "http-500")
        #expect(letters.first?.kind == "message")
        let file = try String(contentsOfFile: home.path + "/webhooks", encoding: .utf8)
        #expect(!file.contains("secret 2."))
        await receiver.close()
    }

    @Test("of one conversation are told of that alone, and one that is ended is told no more")
    func confined() async throws {
        let (home, node, receiver) = (try TemporaryHome(), FakeNode(), try await Receiver())
        let book = WebhookBook(of: Home(home.path))
        let courier = WebhookCourier(node: node, book: book, patience: Self.quick)
        // It comes while others are told already.
        try book.create(Self.hook(receiver.address, conversation: FakeNode.id))
        var elsewhere = FakeNode.message(1, "elsewhere")
        elsewhere.conversation = Self.other
        node.tell(.of(elsewhere))
        node.tell(.of(FakeNode.message(2, "here")))
        #expect(try await receiver.next().body.contains("here"))
        try book.delete("lights")
        node.tell(.of(FakeNode.message(3, "after")))
        try book.create(Self.hook(receiver.address, called: "other", conversation: Self.other))
        #expect(try await receiver.next().body.contains("elsewhere"))
        await courier.stop()
        await receiver.close()
    }

    @Test("are told on where the changes end though nobody wanted that, each change once")
    func torn() async throws {
        let (home, node, receiver) = (try TemporaryHome(), FakeNode(), try await Receiver())
        let book = WebhookBook(of: Home(home.path))
        try book.create(Self.hook(receiver.address))
        let courier = WebhookCourier(node: node, book: book, patience: Self.quick)
        for number in 1...3 {
            node.tell(.of(FakeNode.message(Int64(number), "x")))
            #expect(try await receiver.next().fields["parley-event"] == "\(number)")
            // As where the node could not read its log for a moment.
            node.stopTelling()
        }
        await courier.stop()
        await receiver.close()
    }

    @Test("that could not be read when the node began are told once they can be")
    func unread() async throws {
        let (home, node, receiver) = (try TemporaryHome(), FakeNode(), try await Receiver())
        try WebhookBook(of: Home(home.path)).create(Self.hook(receiver.address))
        func setMode(_ mode: Int) throws {
            try FileManager.default.setAttributes(
                [.posixPermissions: mode], ofItemAtPath: home.path + "/webhooks")
        }
        // What others could have written is not read.
        try setMode(0o644)
        let book = WebhookBook(of: Home(home.path))
        let courier = WebhookCourier(node: node, book: book, patience: Self.quick)
        node.tell(.of(FakeNode.message(1, "x")))
        try setMode(0o600)
        #expect(try await receiver.next().fields["parley-event"] == "1")
        await courier.stop()
        await receiver.close()
    }

    @Test("where nobody listens, other webhooks are told all the same")
    func apart() async throws {
        let (home, node, receiver) = (try TemporaryHome(), FakeNode(), try await Receiver())
        let book = WebhookBook(of: Home(home.path))
        try book.create(Self.hook("http://127.0.0.1:1/", called: "gone"))
        try book.create(Self.hook(receiver.address))
        let courier = WebhookCourier(node: node, book: book, patience: Self.quick)
        for number in 1...20 { node.tell(.of(FakeNode.message(Int64(number), "x"))) }
        for number in 1...20 {
            #expect(try await receiver.next().fields["parley-event"] == "\(number)")
        }
        await courier.stop()
        await receiver.close()
    }
}
