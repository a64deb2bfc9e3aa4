import Foundation
import ParleyRelaying
import ParleySealing
import ParleyTransport
import ParleyWire
import Synchronization
import Testing

@testable import ParleyRelayServer

@Suite("A relay that runs", .timeLimit(.minutes(5)))
struct RelayServerTests {
    static let open = RelayAction.open(writers: nil, ticket: nil)

    static func envelope(_ byteCount: Int = 512) -> [UInt8] {
        var random = SystemRandom()
        return random.bytes(byteCount)
    }

    static func access() -> MailboxAccess {
        var random = SystemRandom()
        return MailboxAccess(drop: .generate(using: &random))
    }

    @Test("takes an envelope from one and gives it to another, also after a new start")
    func carries() async throws {
        let folder = try ScratchFolder()
        let transport = Transport()
        let (drop, envelope) = (Self.access(), Self.envelope())
        let server = try await RelayServer.local(in: folder)
        let ada = try await RelayCaller.call(server, over: transport)
        _ = try await ada.ask(Self.open, as: drop)
        let stored = try await ada.ask(.put(envelope: envelope), as: drop)
        guard case .stored(let counter) = stored else {
            Issue.record("\(stored)")
            return
        }
        await server.stop()
        await ada.until { $0.last == .leaving(retryAfter: 5000) }
        #expect(ada.events.last == .leaving(retryAfter: 5000))

        let again = try await RelayServer.local(in: folder)
        #expect(again.key == server.key)
        let ben = try await RelayCaller.call(again, over: transport)
        let start = try #require(ada.welcome?.starts.first?.id)
        #expect(ben.welcome?.hasLost(counter, toldIn: start) == false)
        #expect(ben.welcome?.newest == counter)
        #expect(
            try await ben.ask(.get(RelayRange(after: 0)), as: drop)
                == .entries(
                    [RelayEntry(counter: counter, envelope: envelope)], hasMore: false,
                    newest: counter))
        await again.stop()
        await transport.shutdown()
    }

    @Test("answers others while a mailbox is emptied, and its owner once it is")
    func empties() async throws {
        let folder = try ScratchFolder()
        let transport = Transport()
        var random = SystemRandom()
        let inbox = MailboxAccess(inbox: .generate(using: &random))
        let other = Self.access()
        let server = try await RelayServer.local(in: folder)
        let ada = try await RelayCaller.call(server, over: transport)
        _ = try await ada.ask(Self.open, as: inbox)
        let count = SQLiteRelayStore.deletedRowCountMax * 2 + 10
        for _ in 0..<count { _ = try await ada.ask(.put(envelope: Self.envelope()), as: inbox) }
        // Not before: the relay ends what is silent for as long as all that can take.
        let ben = try await RelayCaller.call(server, over: transport)
        _ = try await ben.ask(Self.open, as: other)
        let kept = Self.envelope()
        async let done = ada.ask(.acknowledge(upTo: .max), as: inbox)
        guard case .stored = try await ben.ask(.put(envelope: kept), as: other) else {
            Issue.record("ben is answered")
            return
        }
        #expect(try await done == .done)
        guard
            case .entries(let entries, _, _) = try await ada.ask(
                .get(RelayRange(after: 0)), as: inbox)
        else {
            Issue.record("it can be read")
            return
        }
        #expect(entries.count == 0)
        await server.stop()
        await transport.shutdown()
    }

    @Test("tells twenty subscribers of each envelope")
    func fanOut() async throws {
        let folder = try ScratchFolder()
        let transport = Transport()
        let server = try await RelayServer.local(in: folder) {
            $0.policy.originConnectionCountMax = 200
        }
        let drop = Self.access()
        var readers: [RelayCaller] = []
        for _ in 0..<20 {
            let reader = try await RelayCaller.call(server, over: transport)
            _ = try await reader.ask(.subscribe, as: drop)
            readers.append(reader)
        }
        let ada = try await RelayCaller.call(server, over: transport)
        _ = try await ada.ask(Self.open, as: drop)
        let envelopes = (0..<5).map { _ in Self.envelope() }
        for envelope in envelopes { _ = ada.order { $0.ask(.put(envelope: envelope), as: drop) } }
        for reader in readers {
            let came: @Sendable ([RelayEvent]) -> [[UInt8]] = { events in
                events.compactMap {
                    if case .arrived(_, let entry) = $0 { entry.envelope } else { nil }
                }
            }
            await reader.until { came($0).count == 5 }
            #expect(came(reader.events) == envelopes)
        }
        await server.stop()
        await transport.shutdown()
    }

    @Test("Attack 49: refuses what breaks a bound, and the connection goes on")
    func malformed() async throws {
        let folder = try ScratchFolder()
        let transport = Transport()
        let server = try await RelayServer.local(in: folder)
        let drop = Self.access()
        let ada = try await RelayCaller.call(server, over: transport)
        _ = try await ada.ask(Self.open, as: drop)
        for action: RelayAction in [
            .put(envelope: Self.envelope(513)),
            .volatile(lifetime: 61, envelope: Self.envelope()),
            .get(RelayRange(after: 0, byteCountMax: 1 << 20)),
        ] {
            #expect(try await ada.ask(action, as: drop) == .refused(.malformed))
        }
        let stored = try await ada.ask(.put(envelope: Self.envelope()), as: drop)
        guard case .stored = stored else {
            Issue.record("\(stored)")
            return
        }
        await server.stop()
        await transport.shutdown()
    }

    @Test(
        "Attack 71: a flood from one address ends at its bound, and leaves others their mailboxes")
    func flood() async throws {
        let folder = try ScratchFolder()
        let transport = Transport()
        let server = try await RelayServer.local(in: folder) {
            $0.policy.storing = RelayPolicy.Rate(burst: 1 << 20, perSecond: 1)
        }
        var stored = 0
        var refused = 0
        for _ in 0..<3 {
            let eve = try await RelayCaller.call(server, over: transport)
            let drop = Self.access()
            _ = try await eve.ask(Self.open, as: drop)
            let numbers = (0..<10).map { _ in
                eve.order { $0.ask(.put(envelope: Self.envelope(65_536)), as: drop) }
            }
            for number in numbers {
                switch await eve.answer(to: number) {
                case .stored: stored += 65_536
                case .refused(.busy): refused += 1
                case let answer: Issue.record("\(String(describing: answer))")
                }
            }
        }
        #expect(stored == 1 << 20 && refused == 30 - 16)
        await server.stop()
        await transport.shutdown()
    }

    @Test("joins two clients that cannot reach each other")
    func pipe() async throws {
        let folder = try ScratchFolder()
        let transport = Transport()
        let server = try await RelayServer.local(in: folder)
        let inbox = MailboxAccess(inbox: Self.access().key)
        let writer = MailboxAccess(inbox.mailbox, key: Self.access().key)
        let ben = try await RelayCaller.call(server, over: transport)
        _ = try await ben.ask(.open(writers: [writer.writer], ticket: nil), as: inbox)
        _ = try await ben.ask(.subscribe, as: inbox)
        let ada = try await RelayCaller.call(server, over: transport)
        let number = ada.order { $0.ask(.pipe, as: writer) }
        await ben.until { $0.last == .called(1, inbox.mailbox) }
        ben.order { $0.accept(1) }
        #expect(await ada.answer(to: number) == .pipe(1))
        let bytes = Self.envelope(3_000_000)
        ada.order { $0.send(bytes, through: 1) }
        let carried: @Sendable ([RelayEvent]) -> [UInt8] = { events in
            events.flatMap { event -> [UInt8] in
                if case .bytes(1, let piece) = event { piece } else { [] }
            }
        }
        await ben.until { carried($0).count == bytes.count }
        #expect(carried(ben.events) == bytes)
        ada.hangUp()
        await ben.until { $0.last == .ended(1) }
        #expect(ben.events.last == .ended(1))
        await server.stop()
        await transport.shutdown()
    }

    @Test("hangs up on who speaks as no client does, and tells its figures")
    func figures() async throws {
        let folder = try ScratchFolder()
        let transport = Transport()
        let server = try await RelayServer.local(in: folder) {
            $0.metrics = try? Endpoint("127.0.0.1:0")
        }
        let drop = Self.access()
        let ada = try await RelayCaller.call(server, over: transport)
        _ = try await ada.ask(Self.open, as: drop)
        _ = try await ada.ask(.put(envelope: Self.envelope()), as: drop)
        ada.state.withLock { _ = $0.connection?.send([0, 20] + [UInt8](repeating: 7, count: 20)) }
        await ada.until { _ in false }
        #expect(ada.isClosed)
        let page = try await Self.fetch(
            try #require(server.metricsEndpoint), over: transport)
        for line in [
            "parley_relay_envelopes_total 1", "parley_relay_stored_bytes 512",
            "parley_relay_unpaid_bytes 512",
            "parley_relay_requests_total{action=\"put\"} 1",
            "parley_relay_rejections_total{reason=\"link\"} 1",
            "# TYPE parley_relay_connections gauge",
        ] {
            #expect(page.contains(line + "\n"), "\(page)")
        }
        #expect(!page.contains(drop.mailbox.description))
        await server.stop()
        await transport.shutdown()
    }

    /// What stands there, asked for as a scraper does.
    static func fetch(
        _ endpoint: Endpoint, over transport: Transport
    ) async throws -> String {
        let reader = PageReader()
        let connection = try await transport.dial(endpoint, limits: .localSocket, handler: reader)
        connection.send(Array("GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n".utf8))
        var page: [UInt8] = []
        for await bytes in reader.pieces { page += bytes }
        return String(decoding: page, as: UTF8.self)
    }

    @Test("a key, once made, is kept, and two relays cannot run in one folder")
    func home() throws {
        let folder = try ScratchFolder()
        let home = RelayHome(path: folder.path + "/relay")
        let key = try home.key()
        #expect(try home.key().publicKey == key.publicKey)
        let lock = try home.lock()
        #expect(throws: RelayServerError.self) { try home.lock() }
        withExtendedLifetime(lock) {}
    }
}

/// Reads until the other end is done.
private final class PageReader: ConnectionHandler {
    let pieces: AsyncStream<[UInt8]>
    private let sink: AsyncStream<[UInt8]>.Continuation

    init() { (pieces, sink) = AsyncStream.makeStream() }

    func opened(_ connection: Connection) {}
    func received(_ bytes: [UInt8]) { sink.yield(bytes) }
    func becameWritable() {}
    func closed(_ reason: CloseReason) { sink.finish() }
}
