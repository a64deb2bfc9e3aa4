import Foundation
import ParleyRelaying
import ParleySealing
import ParleyTransport
import ParleyWire
import Synchronization
import Testing

@testable import ParleyRelayServer

@Suite("A relay that much is asked of", .serialized, .timeLimit(.minutes(3)))
struct RelayCrowdTests {
    @Test("answers all that it took before it says goodbye")
    func goodbye() async throws {
        let folder = try ScratchFolder()
        let transport = Transport()
        let server = try await RelayServer.local(in: folder)
        let drop = RelayServerTests.access()
        let ada = try await RelayCaller.call(server, over: transport)
        _ = try await ada.ask(RelayServerTests.open, as: drop)
        let numbers = ada.order { client in
            (0..<200).map { _ in
                client.ask(.put(envelope: RelayServerTests.envelope()), as: drop)
            }
        }
        _ = await ada.answer(to: try #require(numbers.first))
        await server.stop()
        await ada.until { _ in false }
        #expect(ada.events.last == .leaving(retryAfter: 5000))
        let stored = ada.events.count {
            if case .answered(_, .stored) = $0 { true } else { false }
        }
        // What is on the disk was answered, and what was answered is on the disk.
        let kept = try RelayHome(path: folder.path).store()
        #expect(kept.byteCount == Int64(512 * stored))
        await transport.shutdown()
    }

    @Test("lets no more than 512 stand before it without a handshake, and serves who was let in")
    func strangers() async throws {
        let folder = try ScratchFolder()
        let transport = Transport()
        let server = try await RelayServer.local(in: folder) {
            $0.metrics = try? Endpoint("127.0.0.1:0")
        }
        let drop = RelayServerTests.access()
        let ada = try await RelayCaller.call(server, over: transport)
        _ = try await ada.ask(RelayServerTests.open, as: drop)
        let port = try #require(server.endpoints.first).port
        var strangers: [Int32] = []
        defer { for socket in strangers { close(socket) } }
        // Sixty at most from one address: so from many.
        for number in 0..<700 {
            strangers.append(try Self.stranger(from: UInt8(2 + number / 50), to: port))
        }
        let put = RelayAction.put(envelope: RelayServerTests.envelope())
        // The last of them may still wait to be accepted when the first answer comes.
        var turnedAway = 0
        for _ in 0..<200 where turnedAway < 700 - 512 {
            let answer = try await ada.ask(put, as: drop)
            if case .stored = answer {} else { Issue.record("\(answer)") }
            turnedAway = strangers.count { Self.isClosed($0) }
        }
        #expect(turnedAway >= 700 - 512, "\(turnedAway) were turned away")
        await server.stop()
        await transport.shutdown()
    }

    /// A connection that says nothing, from an address of this machine.
    private static func stranger(from host: UInt8, to port: UInt16) throws -> Int32 {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var here = sockaddr_in()
        here.sin_family = sa_family_t(AF_INET)
        here.sin_addr.s_addr = (0x7f00_0000 | UInt32(host)).bigEndian
        var there = here
        there.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        there.sin_port = port.bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafePointer(to: &here) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, size) == 0 }
        }
        let isThere = withUnsafePointer(to: &there) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(socket, $0, size) == 0 }
        }
        try #require(isBound && isThere)
        return socket
    }

    /// Whether the other end has hung up; waited for a little, as it may be about to.
    private static func isClosed(_ socket: Int32) -> Bool {
        var watched = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        guard poll(&watched, 1, 20) > 0 else { return false }
        var byte: UInt8 = 0
        return recv(socket, &byte, 1, Int32(MSG_DONTWAIT)) <= 0
    }

    @Test("holds little for a client that reads nothing of what it asked for, and serves others")
    func slow() async throws {
        let folder = try ScratchFolder()
        let transport = Transport()
        let server = try await RelayServer.local(in: folder)
        let drop = RelayServerTests.access()
        let ada = try await RelayCaller.call(server, over: transport)
        let ben = try await RelayCaller.call(server, over: transport)
        _ = try await ada.ask(RelayServerTests.open, as: drop)
        for _ in 0..<8 {
            let large = RelayAction.put(envelope: RelayServerTests.envelope(65_536))
            _ = try await ada.ask(large, as: drop)
        }
        _ = try await ben.ask(.subscribe, as: drop)
        ben.state.withLock { $0.connection }?.pauseReading()
        // 32 MiB in answers, if all of them were made.
        let asked = (0..<256).map { _ in
            ben.order { $0.ask(.get(RelayRange(after: 0)), as: drop) }
        }
        let envelopes = (0..<20).map { _ in RelayServerTests.envelope() }
        for envelope in envelopes { _ = try await ada.ask(.put(envelope: envelope), as: drop) }
        #expect(!ben.isClosed)
        ben.state.withLock { $0.connection }?.resumeReading()
        for number in asked {
            let answer = await ben.answer(to: number)
            if case .entries = answer {} else { Issue.record("\(String(describing: answer))") }
        }
        #expect(!ben.isClosed)
        await server.stop()
        await transport.shutdown()
    }

    @Test(
        "keeps little for a subscriber that reads nothing, who gets by GET what was not told",
        arguments: [8, 256])
    func deaf(atOnce count: Int) async throws {
        let folder = try ScratchFolder()
        let transport = Transport()
        let server = try await RelayServer.local(in: folder)
        let drop = RelayServerTests.access()
        let ada = try await RelayCaller.call(server, over: transport)
        let ben = try await RelayCaller.call(server, over: transport)
        let cara = try await RelayCaller.call(server, over: transport)
        _ = try await ada.ask(RelayServerTests.open, as: drop)
        for reader in [ben, cara] { _ = try await reader.ask(.subscribe, as: drop) }
        ben.state.withLock { $0.connection }?.pauseReading()
        // 32 MiB, much more than the system holds for two sockets of one machine.
        let (envelopes, most) = try await Self.flood(drop, by: ada, server, atOnce: count)
        #expect(most > 256 << 10, "the system took all of it: nothing was tried")
        #expect(most < 4 << 20, "\(most) bytes waited for one who reads nothing")
        #expect(!ben.isClosed)
        ben.state.withLock { $0.connection }?.resumeReading()
        for reader in [cara, ben] {
            await reader.until {
                $0.contains(.missed(drop.mailbox)) || Self.told($0).count == envelopes.count
            }
            let told = Self.told(reader.events)
            let last = told.last?.counter ?? 0
            let rest = try await Self.fetch(drop, after: last, by: reader)
            // Not the bytes themselves: of what fails, all of them would be shown.
            let isWhole = (told + rest).map(\.envelope) == envelopes
            #expect(isWhole, "\(told.count) told and \(rest.count) fetched")
            if reader === ben { #expect(told.count < envelopes.count) }
        }
        // Who reads again is told again.
        let last = RelayServerTests.envelope()
        _ = try await ada.ask(.put(envelope: last), as: drop)
        await ben.until {
            if case .arrived(_, let entry)? = $0.last { entry.envelope == last } else { false }
        }
        #expect(!ben.isClosed)
        await server.stop()
        await transport.shutdown()
    }

    /// Puts large envelopes, so many at a time; returns them, and the most that ever waited for one
    /// client.
    private static func flood(
        _ drop: MailboxAccess, by ada: RelayCaller, _ server: RelayServer, atOnce count: Int
    ) async throws -> (envelopes: [[UInt8]], most: Int) {
        var envelopes: [[UInt8]] = []
        var most = 0
        for _ in 0..<(512 / count) {
            let round = (0..<count).map { _ in RelayServerTests.envelope(65_536) }
            let numbers = ada.order { client in
                round.map { client.ask(.put(envelope: $0), as: drop) }
            }
            for number in numbers {
                let answer = try #require(await ada.answer(to: number))
                if case .stored = answer {} else { Issue.record("\(answer)") }
                most = max(most, await server.engine.mostUnsentByteCount())
            }
            envelopes += round
        }
        return (envelopes, most)
    }

    /// What was told until something was not.
    private static func told(_ events: [RelayEvent]) -> [RelayEntry] {
        events.prefix { if case .missed = $0 { false } else { true } }
            .compactMap { if case .arrived(_, let entry) = $0 { entry } else { nil } }
    }

    /// All that a mailbox holds after a counter, page by page.
    private static func fetch(
        _ drop: MailboxAccess, after counter: UInt64, by reader: RelayCaller
    ) async throws -> [RelayEntry] {
        var found: [RelayEntry] = []
        while true {
            let range = RelayRange(after: found.last?.counter ?? counter)
            guard
                case .entries(let entries, let hasMore, _) = try await reader.ask(
                    .get(range), as: drop)
            else {
                Issue.record("no page")
                return found
            }
            found += entries
            if !hasMore { return found }
        }
    }
}
