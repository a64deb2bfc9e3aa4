import Foundation
import ParleyConversation
import ParleyLedger
import ParleyLocalAPI
import ParleyRoster
import ParleySealing
import ParleySignalling
import ParleyStorage
import ParleyWire
import Testing

@testable import Parley
@testable import ParleyNodeCore

/// Zoe's node in a process of its own, and Mallory's, which writes what no node writes.
@Suite("Calls that never were", .timeLimit(.minutes(3)))
struct ForgedCallTests {
    /// Mallory's device signs whatever it pleases, as if Mallory had changed the program.
    private func write(_ records: [CallRecord], as mallory: Node) async throws {
        let (key, authority) = try await mallory.running.read { views in
            let space = try #require(try views.store.spaces().first { $0.kind == .direct })
            let roster = try #require(try views.roster(of: space))
            return (views.core.identity.key, roster.authority)
        }
        try await mallory.running.write { store in
            let space = try #require(try store.spaces().first { $0.kind == .direct })
            var random = SystemRandom()
            let author = LogAuthor(
                key: key, space: space, authority: authority,
                wallClock: SystemClock.now.wall)
            try store.begin(.full)
            _ = try author.append(records.map { $0.draft() }, to: store, using: &random)
            try store.commit()
        }
    }

    @Test("Attack 148: a forged record shows nobody as calling who did not call")
    func forged() async throws {
        let folder = try TemporaryFolder()
        let zoe = try await NodeProcess(
            home: folder.home("z"), name: "zoe", port: try FreePort.some())
        let client = try await zoe.start()
        let (mallory, _) = try await Node.create(
            NodeSettings(home: folder.home("m")), name: "mallory")
        try await mallory.start(listen: [])
        try await mallory.perform(
            AcceptInvite(link: try await client.perform(CreateInvite(hours: 1)).link))
        try await eventually("they meet", on: [mallory]) {
            try await mallory.perform(ListConversations()).count == 1
        }
        let persons = try await mallory.running.read { views in
            let space = try #require(try views.store.spaces().first { $0.kind == .direct })
            return try #require(try views.roster(of: space)).members.map(\.person).sorted()
        }
        let own = try await mallory.running.read { $0.core.node.person }
        let other = try #require(persons.first { $0 != own })
        let hourAgo = SystemClock.now.wall - 3_600_000
        func record(_ name: UInt64, by founder: PersonID) -> CallRecord {
            CallRecord(
                call: CallID(Check(high: 7, low: name)), founder: founder, began: hourAgo + name,
                summary: CallSummary(outcome: .talked, duration: 3_600_000, persons: persons))
        }
        try await write([record(1, by: other), record(2, by: own)], as: mallory)
        try await mallory.perform(SendMessages(conversation: "zoe", texts: ["so long ago"]))
        try await eventually("zoe has it", on: [zoe]) {
            let page = try await client.perform(ReadMessages(conversation: "mallory", limit: 9))
            return page.messages.last?.text == "so long ago"
        }
        for command in [["read", "mallory"], ["calls"]] {
            let program = try Program(command + ["--home", zoe.home])
            #expect(try await program.ended() == 0)
            let output = program.output
            // Of a call of their own they may say what they please.
            #expect(output.contains("mallory called you, 1:00:00"), "\(output)")
            #expect(!output.contains("you called"), "\(output)")
        }
        #expect(try await client.perform(ListCallRecords()).map(\.isOwn) == [false])
        await mallory.shutdown()
        await client.close()
    }
}
