import Foundation
import ParleyRelaying
import ParleySealing
import ParleyTransport
import ParleyWire
import Synchronization
import Testing

@testable import RelayServerTests

@Suite("A relay in a process of its own", .timeLimit(.minutes(5)))
struct RelayProcessTests {
    /// A relay that runs, and how it is called.
    struct RelayProcess {
        let program: Program
        let key: NoiseKey
        let endpoint: Endpoint

        init(home: String) async throws {
            program = try Program(
                ["relay", "run", "--home", home, "--listen", "127.0.0.1:0", "--unbounded"])
            try await program.says("Ctrl-C stops the relay")
            let line = program.output.split(separator: "\n").first {
                $0.hasPrefix("parley-relay:")
            }
            let text = try RelayText(text: String(try #require(line)))
            key = text.key
            endpoint = try Endpoint(try #require(text.addresses.first))
        }
    }

    /// What the relay said that it has.
    final class Ledger: Sendable {
        private let acknowledged = Mutex<[UInt64: [UInt8]]>([:])
        var all: [UInt64: [UInt8]] { acknowledged.withLock { $0 } }
        func note(_ counter: UInt64, _ envelope: [UInt8]) {
            acknowledged.withLock { $0[counter] = envelope }
        }
    }

    @Test("killed under load, again and again, it loses no envelope that it acknowledged")
    func killed() async throws {
        let folder = try ScratchFolder()
        let transport = Transport()
        let drop = RelayServerTests.access()
        let ledger = Ledger()
        var told: RelayWelcome?
        for round in 0..<4 {
            let relay = try await RelayProcess(home: folder.path + "/relay")
            let first = try await RelayCaller.call(relay.key, at: relay.endpoint, over: transport)
            let welcome = try #require(first.welcome)
            if let told { #expect(!welcome.hasLost(told.newest, toldIn: told.starts[0].id)) }
            told = welcome
            let opened = try await first.ask(.open(writers: nil, ticket: nil), as: drop)
            if case .opened = opened {} else { Issue.record("\(opened)") }
            try await check(ledger, drop, first)
            if round == 3 {
                relay.program.signal(SIGTERM)
                #expect(try await relay.program.ended() == 0)
                break
            }
            try await load(relay, drop, ledger, over: transport)
        }
        #expect(ledger.all.count > 600)
        await transport.shutdown()
    }

    /// Four clients put as fast as they can, until the relay is killed in the midst of it.
    private func load(
        _ relay: RelayProcess, _ drop: MailboxAccess, _ ledger: Ledger, over transport: Transport
    ) async throws {
        let enough = ledger.all.count + 200
        await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let caller = try await RelayCaller.call(
                        relay.key, at: relay.endpoint, over: transport)
                    while !caller.isClosed {
                        let puts = caller.order { client in
                            (0..<32).map { _ -> (UInt64, [UInt8]) in
                                let envelope = RelayServerTests.envelope()
                                return (
                                    client.ask(.put(envelope: envelope), as: drop), envelope
                                )
                            }
                        }
                        for (number, envelope) in puts {
                            guard case .stored(let counter) = await caller.answer(to: number)
                            else { continue }
                            ledger.note(counter, envelope)
                        }
                        if ledger.all.count >= enough { relay.program.signal(SIGKILL) }
                    }
                }
            }
        }
        _ = try await relay.program.ended()
    }

    /// Everything that was acknowledged is there, under the counter that was told.
    private func check(
        _ ledger: Ledger, _ drop: MailboxAccess, _ caller: RelayCaller
    ) async throws {
        var found: [UInt64: [UInt8]] = [:]
        var after: UInt64 = 0
        while true {
            let answer = try await caller.ask(.get(RelayRange(after: after)), as: drop)
            guard case .entries(let entries, let hasMore, _) = answer else { break }
            for entry in entries { found[entry.counter] = entry.envelope }
            guard hasMore, let last = entries.last else { break }
            after = last.counter
        }
        let lost = ledger.all.filter { found[$0.key] != $0.value }
        #expect(lost.isEmpty, "\(lost.count) of \(ledger.all.count) are gone")
    }

    @Test("prints a unit that systemd takes, without starting anything")
    func unit() async throws {
        let program = try Program([
            "relay", "--systemd-unit", "--listen", "*:7448", "--announce", "relay.example:7448",
        ])
        #expect(try await program.ended() == 0)
        #expect(program.output.contains("/parley relay run --listen *:7448"))
        // The very program that printed it: a unit that names another starts nothing.
        let start = try #require(
            program.output.split(separator: "\n").first { $0.hasPrefix("ExecStart=") })
        let file = start.dropFirst("ExecStart=".count).prefix { $0 != " " }
        #expect(FileManager.default.isExecutableFile(atPath: String(file)))
        #expect(program.output.contains("DynamicUser=yes"))
        #expect(!program.output.contains("man:"))
        let named = try Program(["relay", "--systemd-unit", "--home", "/srv/a relay"])
        #expect(try await named.ended() == 0)
        #expect(named.output.contains("--home \"/srv/a relay\""))
        #expect(named.output.contains("BindPaths=\"/srv/a relay\""))
        #expect(!named.output.contains("DynamicUser"))
    }

    @Test("makes no relay for a question about one")
    func noRelay() async throws {
        let folder = try ScratchFolder()
        let home = folder.path + "/none"
        for words in [["list"], ["revoke", "8c1f20a3b7d94e55"]] {
            let program = try Program(["relay", "ticket"] + words + ["--home", home])
            #expect(try await program.ended() == 1)
            #expect(program.output.contains("parley relay run --home \(home)"))
            #expect(!FileManager.default.fileExists(atPath: home))
        }
    }

    @Test("issues tickets while it runs, and makes mailboxes for them alone")
    func tickets() async throws {
        let folder = try ScratchFolder()
        let home = folder.path + "/relay"
        let ticketed = try Program([
            "relay", "--home", home, "--listen", "127.0.0.1:0", "--tickets",
        ])
        try await ticketed.says("Ctrl-C stops the relay")
        let line = ticketed.output.split(separator: "\n").first {
            $0.hasPrefix("parley-relay:")
        }
        let relay = try RelayText(text: String(try #require(line)))
        let issued = try Program(["relay", "ticket", "new", "--home", home])
        #expect(try await issued.ended() == 0)
        let text = try #require(issued.output.split(separator: "\n").first)
        let ticket = try #require(TicketText(text: String(text)))
        let transport = Transport()
        let drop = RelayServerTests.access()
        let caller = try await RelayCaller.call(
            relay.key, at: try Endpoint(relay.addresses[0]), over: transport)
        #expect(
            try await caller.ask(.open(writers: nil, ticket: nil), as: drop)
                == .refused(.ticketNeeded))
        let opened = try await caller.ask(
            .open(writers: nil, ticket: ticket.bytes), as: drop)
        guard case .opened(_, byteCountMax: 64 << 20) = opened else {
            Issue.record("\(opened)")
            return
        }
        let listed = try Program(["relay", "ticket", "list", "--home", home])
        #expect(try await listed.ended() == 0)
        #expect(listed.output.isEmpty, "a spent ticket is not kept")
        let second = try Program(["relay", "--home", home, "--listen", "127.0.0.1:0"])
        #expect(try await second.ended() == 1)
        #expect(second.output.contains("another relay, or a node, is running"))
        ticketed.signal(SIGTERM)
        #expect(try await ticketed.ended() == 0)
        await transport.shutdown()
    }
}
