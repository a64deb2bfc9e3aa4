import Testing

@testable import ParleyTransport

@Suite("A connection", .timeLimit(.minutes(3)), .serialized)
struct ConnectionTests {
    @Test("carries bytes both ways, whole and in order", arguments: [loopback, "::1"])
    func echo(host: String) async throws {
        try await withTransport { transport in
            let guests = Guests { .echo() }
            let listener: Listener
            do {
                listener = try await transport.listen(
                    on: try Endpoint(host: host, port: 0), limits: .patient,
                    handler: guests.handler)
            } catch let error as TransportFailure where host == "::1" {
                #expect([.unreachable, .addressNotAvailable].contains(error.code))
                return  // A machine without IPv6.
            }
            let client = Recorder()
            let connection = try await transport.dial(
                listener.endpoints[0], limits: .patient, handler: client)
            let bytes = pattern(24 << 20)
            var rest = bytes[...]
            while !rest.isEmpty {
                connection.send(Array(rest.prefix(70_001)))
                rest = rest.dropFirst(70_001)
            }
            await client.wait { $0.bytes.count >= 24 << 20 }
            #expect(client.heard.bytes == bytes)
            #expect(client.heard.openCount == 1)
            #expect(connection.pendingByteCount == 0)
            #expect(connection.remoteAddress == listener.endpoints[0].description)
            #expect(transport.counters.accepted == 1)
            #expect(transport.counters.bytesSent == 48 << 20)
        }
    }

    @Test("says when it is writable again, once")
    func writable() async throws {
        try await withTransport { transport in
            let guests = Guests { Recorder(onOpen: { $0.pauseReading() }) }
            let listener = try await transport.listen(
                on: try Endpoint(host: loopback, port: 0), limits: .patient,
                handler: guests.handler)
            let client = Recorder()
            let connection = try await transport.dial(
                listener.endpoints[0], limits: .patient, handler: client)
            let server = try #require(await guests.next())
            await server.wait { $0.openCount == 1 }
            connection.send(pattern(32 << 20))
            #expect(!connection.isWritable)
            server.heard.connection?.resumeReading()
            await client.wait { $0.writableCount == 1 }
            #expect(connection.isWritable)
            await server.wait { $0.bytes.count == 32 << 20 }
            #expect(client.heard.writableCount == 1)
        }
    }

    @Test("ends on both sides when one says goodbye, after all that was queued")
    func goodbye() async throws {
        try await withTransport { transport in
            let guests = Guests {
                Recorder(onOpen: { connection in
                    connection.send(pattern(8 << 20))
                    connection.close()
                    #expect(!connection.send([1]))
                })
            }
            let listener = try await transport.listen(
                on: try Endpoint(host: loopback, port: 0), limits: .patient,
                handler: guests.handler)
            let client = Recorder()
            let connection = try await transport.dial(
                listener.endpoints[0], limits: .patient, handler: client)
            // Bytes on their way to a side that closes must not cost what it sent.
            connection.send(pattern(100_000))
            #expect(await client.closeReason() == .closedByPeer)
            #expect(client.heard.bytes == pattern(8 << 20))
            let server = try #require(await guests.next())
            #expect(await server.closeReason() == .closedHere)
            #expect(server.heard.reasons.count == 1)
        }
    }

    @Test("takes everything after its end without harm")
    func afterTheEnd() async throws {
        try await withTransport { transport in
            let guests = Guests()
            let listener = try await transport.listen(
                on: try Endpoint(host: loopback, port: 0), limits: .patient,
                handler: guests.handler)
            let client = Recorder()
            let connection = try await transport.dial(
                listener.endpoints[0], limits: .patient, handler: client)
            connection.abort()
            #expect(await client.closeReason() == .closedHere)
            #expect(!connection.send([1, 2, 3]))
            connection.markAuthenticated()
            connection.pauseReading()
            connection.resumeReading()
            connection.close()
            connection.abort()
            #expect(connection.pendingByteCount == 0)
            #expect(!connection.isWritable)
            let server = try #require(await guests.next())
            #expect(await server.closeReason() == .closedByPeer)
            #expect(transport.openConnectionCount == 0)
        }
    }

    @Test("that cannot be made says why, and its handler hears nothing")
    func refused() async throws {
        try await withTransport { transport in
            let listener = try await transport.listen(
                on: try Endpoint(host: loopback, port: 0), handler: { Recorder() })
            let endpoint = listener.endpoints[0]
            await listener.close()
            let client = Recorder()
            let failure = await #expect(throws: TransportFailure.self) {
                try await transport.dial(endpoint, handler: client)
            }
            #expect(failure?.code == .refused)
            let nowhere = await #expect(throws: TransportFailure.self) {
                try await transport.dial(try Endpoint("*:1"), handler: client)
            }
            #expect(nowhere?.code == .notDialable)
            #expect(client.heard.openCount == 0)
            #expect(client.heard.reasons.isEmpty)
            #expect(transport.counters.dialFailures == 1)
        }
    }

    @Test("delivers what was queued when the transport shuts down")
    func shutdown() async throws {
        let serving = Transport(threadCount: 1)
        try await withTransport { transport in
            let guests = Guests()
            let listener = try await serving.listen(
                on: try Endpoint(host: loopback, port: 0), limits: .patient,
                handler: guests.handler)
            let client = Recorder()
            try await transport.dial(listener.endpoints[0], limits: .patient, handler: client)
            let server = try #require(await guests.next())
            await server.wait { $0.openCount == 1 }
            server.heard.connection?.send(pattern(16 << 20))
            await serving.shutdown(within: .seconds(30))
            #expect(server.heard.reasons == [.shutDown])
            #expect(await client.closeReason() == .closedByPeer)
            #expect(client.heard.bytes == pattern(16 << 20))
            let failure = await #expect(throws: TransportFailure.self) {
                try await serving.dial(listener.endpoints[0], handler: Recorder())
            }
            #expect(failure?.code == .shutDown)
            await serving.shutdown()
        }
    }

    /// Whoever was turned away has its time to read why; the end of the node waits for none of it.
    @Test("Attack 66: that was told to go is not waited for when the transport shuts down")
    func shutdownOfLeaving() async throws {
        let serving = Transport(threadCount: 1)
        try await withTransport { transport in
            var limits = TransportLimits.patient
            limits.farewellTimeMax = .seconds(3_600)
            let guests = Guests()
            let listener = try await serving.listen(
                on: try Endpoint(host: loopback, port: 0), limits: limits, handler: guests.handler)
            let client = Recorder(onOpen: { $0.pauseReading() })
            try await transport.dial(listener.endpoints[0], limits: .patient, handler: client)
            let server = try #require(await guests.next())
            await server.wait { $0.openCount == 1 }
            server.heard.connection?.send(pattern(16 << 20))
            server.heard.connection?.close()
            await serving.shutdown(within: .milliseconds(10))
            #expect(server.heard.reasons == [.closedHere])
        }
    }

    /// It would wait for an hour otherwise.
    @Test("Attack 67: that has not shaken hands is not waited for when the transport shuts down")
    func shutdownOfHalfOpen() async throws {
        let serving = Transport(threadCount: 1)
        try await withTransport { transport in
            var limits = TransportLimits.patient
            limits.handshakeTimeMax = .seconds(3_600)
            let guests = Guests()
            let listener = try await serving.listen(
                on: try Endpoint(host: loopback, port: 0), limits: limits, handler: guests.handler)
            let client = Recorder(onOpen: { $0.pauseReading() })
            try await transport.dial(listener.endpoints[0], limits: .patient, handler: client)
            let server = try #require(await guests.next())
            await server.wait { $0.openCount == 1 }
            await serving.shutdown(within: .seconds(3_600))
            #expect(server.heard.reasons == [.shutDown])
        }
    }
}
