import ParleyNodeCore
import ParleyTransport
import ParleyWire
import Synchronization
import Testing

@testable import Parley
@testable import ParleyStorage

@Suite("A node that begins", .timeLimit(.minutes(2)))
struct StartTests {
    private static func made(_ clock: NodeClock = .system) async throws -> (TemporaryFolder, Node) {
        let folder = try TemporaryFolder()
        var settings = NodeSettings(home: folder.home("a"), models: folder.home("none"))
        settings.clock = clock
        return (folder, try await Node.create(settings, name: "ann").node)
    }

    private static func listenerCount(of node: Node) async -> Int {
        await node.running.listeners.all.count
    }

    @Test("puts its addresses onto its card though the disk failed when it began")
    func addresses() async throws {
        let clock = ManualClock()
        let (_, node) = try await Self.made(clock.clock)
        func write(_ isOff: Int) async throws {
            try await node.running.write { store in
                try store.connection.execute("PRAGMA query_only = \(isOff)", "test")
            }
        }
        func card() async throws -> [String] {
            try await node.read {
                try CardReader.addresses(of: node.network.identity.person, $0.store)
            }
        }
        try await write(1)
        let reachable = try await node.start(listen: ["127.0.0.1:0"])
        #expect(reachable.count == 1)
        #expect(try await card().isEmpty)
        // It fails once more, and then no more.
        clock.advance(by: Recovery.pause)
        try await write(0)
        while try await card() != reachable {
            clock.advance(by: Recovery.pause)
            await Task.yield()
        }
        await node.shutdown()
    }

    @Test(
        "leaves no listener behind where a stream is refused its seat", arguments: ["bad", "taken"])
    func refusedSeat(_ why: String) async throws {
        let (_, node) = try await Self.made()
        let seat = String(repeating: "a", count: MediaSeat.nameCount)
        let first = try await node.changes(after: nil, seat: seat)
        let before = await Self.listenerCount(of: node)
        let media = node.media.state.withLock { $0.listeners.all.count }
        for _ in 0..<3 {
            await #expect(throws: NodeError.self) {
                try await node.changes(after: nil, seat: why == "bad" ? "x" : seat)
            }
        }
        #expect(node.media.state.withLock { $0.listeners.all.count } == media)
        while await Self.listenerCount(of: node) != before { await Task.yield() }
        withExtendedLifetime(first) {}
        await node.shutdown()
    }

    @Test("follows its log for the index once, however often it is told to, and until it ends")
    func index() async throws {
        let (_, node) = try await Self.made()
        let before = await Self.listenerCount(of: node)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { await node.indexer.start() } }
        }
        while await Self.listenerCount(of: node) == before { await Task.yield() }
        #expect(await Self.listenerCount(of: node) == before + 1)
        node.indexer.stop()
        while await Self.listenerCount(of: node) != before { await Task.yield() }
        await node.shutdown()
    }

    /// What carries a link and notes whether it was ended.
    private final class Carrier: LinkCarrier {
        private let closings = Mutex(0)
        var isClosed: Bool { closings.withLock { $0 > 0 } }
        var remoteAddress: String { "192.0.2.1:7447" }
        var isPiped: Bool { false }
        var pendingByteCount: Int { 0 }
        var isWritable: Bool { true }
        func send(_ bytes: [UInt8]) -> Bool { true }
        func awaitRoom() -> Bool { true }
        func markAuthenticated() {}
        func markKnown() {}
        func pauseReading() {}
        func resumeReading() {}
        func close() { closings.withLock { $0 += 1 } }
        func perform(_ work: @escaping @Sendable () -> Void) { work() }
    }

    @Test(
        "Attack 295: a link that is sent more than it may hold unopened is ended, and stands mute for nobody"
    )
    func overflow() async throws {
        let (_, node) = try await Self.made()
        let (carrier, driver) = (Carrier(), node.network.responder())
        driver.opened(over: carrier)
        // The start of a record, and no end of it.
        driver.received([0])
        #expect(!carrier.isClosed)
        driver.received([UInt8](repeating: 0, count: LinkDriver.unopenedByteCountMax))
        #expect(carrier.isClosed)
        driver.closed(.closedHere)
        await node.shutdown()
    }
}
