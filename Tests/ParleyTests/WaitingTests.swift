import Foundation
import ParleyLedger
import ParleyNodeCore
import ParleyStorage
import ParleyWire
import Testing

@testable import Parley

@Suite("Conversations that wait")
struct WaitingTests {
    /// As a peer would have proven: this device once wrote five operations more there.
    private func setBack(_ home: String) throws {
        let store = try SQLiteStore.open(home: Home(home), unlock: .keyFile)
        let space = try #require(try store.spaces().first { $0.kind == .group })
        let log = try #require(try store.logs(in: space.number).first { $0.lane == .content })
        var key = ByteWriter()
        key.uint64(UInt64(bitPattern: space.number.rawValue))
        key.uint64(log.tag.value)
        var end = ByteWriter()
        end.uint64(log.end + 5)
        try store.begin(.full)
        try store.setValue(end.bytes, .ownGap, key.bytes)
        try store.commit()
    }

    @Test("what is written is kept and shown as waiting, over a restart too; nothing is refused")
    func kept() async throws {
        let folder = try TemporaryFolder()
        let settings = NodeSettings(home: folder.home("ann"))
        var (ann, _) = try await Node.create(settings, name: "ann")
        for name in ["walks", "books"] {
            try await ann.perform(CreateConversation(name: name, members: []))
        }
        try await ann.perform(SendMessages(conversation: "walks", texts: ["before"]))
        try await ann.perform(SendMessages(conversation: "books", texts: ["before"]))
        await ann.shutdown()
        try setBack(folder.home("ann"))
        ann = try await Node.open(settings)
        let waiting = "waiting for 5 earlier operations of this device"
        let lists = try await ann.perform(ListConversations())
        let name = try #require(lists.first { $0.waitingFor != nil }?.name)
        #expect(lists.compactMap(\.waitingFor) == [waiting])
        let sent = try await ann.perform(SendMessages(conversation: name, texts: ["one", "two"]))
        #expect(sent.map(\.text) == ["one", "two"] && sent.allSatisfy { $0.state == waiting })
        let outbox = try await ann.perform(ListOutbox())
        #expect(outbox.map(\.name) == [name] && outbox.map(\.keptCount) == [2])
        let other = name == "walks" ? "books" : "walks"
        let elsewhere = try await ann.perform(SendMessages(conversation: other, texts: ["on"]))
        #expect(elsewhere.map(\.state) == ["saved"])
        await #expect(throws: NodeError.self) {
            try await ann.perform(LeaveGroup(conversation: name))
        }
        await ann.shutdown()
        ann = try await Node.open(settings)
        let page = try await ann.perform(ReadMessages(conversation: name, limit: 10))
        #expect(page.messages.map(\.text) == ["before", "one", "two"])
        #expect(page.messages.map(\.state) == ["saved", waiting, waiting])
        await ann.shutdown()
    }
}
