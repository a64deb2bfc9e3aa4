import Foundation
import ParleyNodeCore
import ParleySealing
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

    /// Waits until something is so; the time of the suite is the only limit.
    private static func wait(until isSo: () async throws -> Bool) async throws {
        while try await !isSo() {
            try Task.checkCancellation()
            await Task.yield()
        }
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
        try await Self.wait {
            clock.advance(by: Recovery.pause)
            return try await card() == reachable
        }
        await node.shutdown()
    }

    @Test("looks through its database after a while, and writes no more where an index is damaged")
    func inspection() async throws {
        let clock = ManualClock()
        let (folder, made) = try await Self.made(clock.clock)
        var settings = NodeSettings(home: folder.home("a"), models: folder.home("none"))
        settings.clock = clock.clock
        try await made.perform(CreateConversation(name: "notes", members: []))
        try await made.perform(
            SendMessages(conversation: "notes", texts: (0..<300).map { "line \($0)" }))
        await made.shutdown()
        let home = Home(settings.home)
        #expect(try home.complaints().isEmpty)
        let file = URL(fileURLWithPath: home.database)
        let sound = try Data(contentsOf: file)
        for draw in 0..<400 {
            var bytes = sound
            // Spread over all pages but the first one, which tells what the others are.
            bytes[4096 + draw * 104_729 % (sound.count - 4096)] ^= UInt8(1) << UInt8(draw % 8)
            try bytes.write(to: file)
            // Most bits hide nothing, or so much that the node does not even open.
            guard let found = try? home.complaints(), !found.isEmpty,
                let node = try? await Node.open(settings)
            else { continue }
            try await node.start(listen: ["127.0.0.1:0"])
            #expect(await node.running.bar == nil, "nobody has noticed it, draw \(draw)")
            try await Self.wait {
                clock.advance(by: Node.inspectionPauses.first)
                return await node.running.bar != nil
            }
            await #expect(throws: NodeError.self) {
                try await node.perform(SendMessages(conversation: "notes", texts: ["one more"]))
            }
            await node.shutdown()
            return
        }
        Issue.record("no bit of 400 was one that is found by looking alone")
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
        try await Self.wait { await Self.listenerCount(of: node) == before }
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
        try await Self.wait { await Self.listenerCount(of: node) > before }
        #expect(await Self.listenerCount(of: node) == before + 1)
        node.indexer.stop()
        try await Self.wait { await Self.listenerCount(of: node) == before }
        await node.shutdown()
    }

    /// What carries one end of a link: bytes wait until a test takes them.
    private final class Carrier: LinkCarrier {
        private struct State {
            var sent: [UInt8] = []
            var isWritable = true
            var isClosed = false
        }
        private let state = Mutex(State())

        var isClosed: Bool { state.withLock { $0.isClosed } }
        var remoteAddress: String { "192.0.2.1:7447" }
        var isPiped: Bool { false }
        var pendingByteCount: Int { 0 }
        var isWritable: Bool { state.withLock { $0.isWritable } }

        func send(_ bytes: [UInt8]) -> Bool {
            state.withLock { $0.sent += bytes }
            return true
        }
        func awaitRoom() -> Bool { isWritable }
        func markAuthenticated() {}
        func markKnown() {}
        func pauseReading() {}
        func resumeReading() {}
        func close() { state.withLock { $0.isClosed = true } }
        func perform(_ work: @escaping @Sendable () -> Void) { work() }

        /// The other end takes nothing more.
        func fill() { state.withLock { $0.isWritable = false } }

        func takeSent() -> [UInt8] {
            state.withLock { state in
                defer { state.sent = [] }
                return state.sent
            }
        }
    }

    @Test(
        "Attack 295: a link that is sent more than it may hold unopened is ended, and stands mute for nobody"
    )
    func overflow() async throws {
        let ((_, ann), (_, ben)) = (try await Self.made(), try await Self.made())
        let (here, there) = (Carrier(), Carrier())
        var random = SystemRandom()
        let link = Link(
            initiatorTo: ann.network.noiseKey, expecting: ann.network.identity.device,
            credentials: ben.network.credentials, network: ben.network.network, using: &random)
        let caller = LinkDriver(
            id: ben.network.newLink(), link: link, isInitiator: true, inputs: ben.running,
            network: ben.network)
        let driver = ann.network.responder()
        driver.opened(over: here)
        caller.opened(over: there)
        while !driver.isAuthenticated {
            let (there, here) = (there.takeSent(), here.takeSent())
            try #require(!there.isEmpty || !here.isEmpty)
            if !there.isEmpty { driver.received(there) }
            if !here.isEmpty { caller.received(here) }
        }
        // Nothing is opened as long as the peer takes nothing, and this one heeds no pause.
        here.fill()
        let piece = [UInt8](repeating: 0, count: LinkDriver.unopenedByteCountMax)
        driver.received(piece)
        #expect(!here.isClosed)
        driver.received([0])
        #expect(here.isClosed)
        driver.closed(.closedHere)
        caller.closed(.closedHere)
        await ann.shutdown()
        await ben.shutdown()
    }
}
