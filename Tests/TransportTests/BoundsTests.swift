import NIOCore
import Testing

@testable import ParleyTransport

@Suite("A hostile peer", .timeLimit(.minutes(3)), .serialized)
struct BoundsTests {
    private func listen(
        _ transport: Transport, _ guests: Guests, _ change: (inout TransportLimits) -> Void
    ) async throws -> Endpoint {
        var limits = TransportLimits()
        change(&limits)
        return try await transport.listen(
            on: try Endpoint(host: loopback, port: 0), limits: limits, handler: guests.handler
        ).endpoints[0]
    }

    @Test("Attack 10: a peer that trickles its handshake is closed at the deadline all the same")
    func slowLoris() async throws {
        try await withTransport { transport in
            // Each byte is answered, and each answer draws the next: never silent, never done.
            let guests = Guests { .echo() }
            let endpoint = try await listen(transport, guests) {
                $0.handshakeTimeMax = .milliseconds(500)
            }
            let client = Recorder(onOpen: { $0.send([1]) }, onBytes: { $0.send($1) })
            try await transport.dial(endpoint, handler: client)
            let server = try #require(await guests.next())
            #expect(await server.closeReason() == .handshakeTimeout)
            #expect(server.heard.bytes.count > 1)
            #expect(transport.counters.handshakeTimeout == 1)
        }
    }

    @Test("that was authenticated in time is not hurried, and closed when it falls silent")
    func idle() async throws {
        try await withTransport { transport in
            let guests = Guests { Recorder(onOpen: { $0.markAuthenticated() }) }
            let endpoint = try await listen(transport, guests) {
                $0.handshakeTimeMax = .milliseconds(20)
                $0.idleTimeMax = .milliseconds(80)
            }
            try await transport.dial(endpoint, handler: Recorder())
            let server = try #require(await guests.next())
            #expect(await server.closeReason() == .idle)
            #expect(transport.counters.handshakeTimeout == 0)
            #expect(transport.counters.idle == 1)
        }
    }

    @Test("that never reads is closed when too much waits for it")
    func slowReader() async throws {
        try await withTransport { transport in
            let guests = Guests { Recorder(onOpen: { $0.send(pattern(32 << 20)) }) }
            let endpoint = try await listen(transport, guests) {
                $0.queueByteCountMax = 1 << 20
                $0.stallTimeMax = .milliseconds(50)
            }
            let client = Recorder(onOpen: { $0.pauseReading() })
            try await transport.dial(endpoint, handler: client)
            let server = try #require(await guests.next())
            #expect(await server.closeReason() == .slowReader)
            #expect(transport.counters.slowReader == 1)
            #expect(server.heard.connection?.pendingByteCount == 0)
        }
    }

    @Test("cannot make the queue longer than its end")
    func overflow() async throws {
        try await withTransport { transport in
            let guests = Guests {
                Recorder(onOpen: { connection in
                    #expect(connection.send(pattern(1000)))
                    #expect(!connection.send(pattern(1001)))
                })
            }
            let endpoint = try await listen(transport, guests) { $0.overflowByteCountMax = 2000 }
            try await transport.dial(endpoint, handler: Recorder())
            let server = try #require(await guests.next())
            #expect(await server.closeReason() == .slowReader)
        }
    }

    @Test("finds only so many places")
    func places() async throws {
        try await withTransport { transport in
            let guests = Guests()
            let endpoint = try await listen(transport, guests) { $0.connectionCountMax = 2 }
            for _ in 0..<2 {
                try await transport.dial(endpoint, handler: Recorder())
                #expect(await guests.next() != nil)
            }
            await expectRefused(transport, endpoint)
            #expect(transport.counters.tooManyConnections == 1)
            #expect(transport.counters.accepted == 2)
        }
    }

    /// The peer closes at once: before the dial returns, or just after.
    private func expectRefused(_ transport: Transport, _ endpoint: Endpoint) async {
        let refused = Recorder()
        do {
            try await transport.dial(endpoint, handler: refused)
            #expect(await refused.closeReason() != .closedHere)
        } catch {
            #expect(refused.heard.openCount == 0)
        }
        #expect(refused.heard.bytes.isEmpty)
    }

    @Test("is turned away when it begins too many handshakes, until the window has passed")
    func rate() async throws {
        let clock = NIOClock()
        try await withTransport(now: { clock.now }) { transport in
            let guests = Guests()
            let endpoint = try await listen(transport, guests) { $0.handshakeCountMax = 2 }
            for _ in 0..<2 {
                try await transport.dial(endpoint, handler: Recorder())
                #expect(await guests.next() != nil)
            }
            await expectRefused(transport, endpoint)
            #expect(transport.counters.handshakeRate == 1)
            clock.advance(by: .seconds(60))
            try await transport.dial(endpoint, handler: Recorder())
            #expect(await guests.next() != nil)
            #expect(transport.counters.accepted == 3)
        }
    }
}
