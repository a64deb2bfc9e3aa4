import Foundation
import Parley
import Testing

/// A folder that goes away with the test.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        let base = FileManager.default.temporaryDirectory
        let url = base.appendingPathComponent("parley-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func home(_ name: String) -> String { path + "/" + name }
}

/// Waits for something to become true, checking after every change of the node.
func eventually(
    _ what: String, on node: Node, within seconds: Double = 60,
    _ condition: @escaping @Sendable (Node) async throws -> Bool
) async throws {
    let changes = try await node.changes()
    if try await condition(node) { return }
    let isTrue = try await withThrowingTaskGroup(of: Bool.self) { group in
        group.addTask {
            for await _ in changes where try await condition(node) { return true }
            return false
        }
        group.addTask {
            // The one deadline of the test: it only ever ends a failure.
            try await Task.sleep(for: .seconds(seconds))
            return false
        }
        let first = try await group.next() ?? false
        group.cancelAll()
        return first
    }
    if !isTrue { #expect(try await condition(node), "\(what) within \(seconds) s") }
}

@Suite("Two nodes over TCP")
struct TwoNodesTests {
    @Test("meet by an invite, talk, and see the same")
    func talk() async throws {
        let folder = try TemporaryFolder()
        let (ann, code) = try await Node.create(
            NodeSettings(home: folder.home("ann")), name: "ann")
        let (ben, _) = try await Node.create(
            NodeSettings(home: folder.home("ben")), name: "ben")
        #expect(code.count > 50)
        try await ann.start(listen: ["127.0.0.1:0"])
        try await ben.start(listen: ["127.0.0.1:0"])
        let invite = try await ann.perform(CreateInvite(hours: 1))
        try await ben.perform(AcceptInvite(link: invite.link))
        try await eventually("ben knows ann", on: ben) {
            try await $0.perform(ListConversations()).contains { $0.name == "ann" }
        }
        // The conversation is made by who took the invite.
        try await eventually("ann knows ben", on: ann) {
            try await $0.perform(ListConversations()).contains { $0.name == "ben" }
        }
        try await ann.perform(SendMessages(conversation: "ben", texts: ["hello ben"]))
        try await eventually("ben reads it", on: ben) {
            let page = try await $0.perform(ReadMessages(conversation: "ann", limit: 10))
            return page.messages.map(\.text) == ["hello ben"]
        }
        try await eventually("ann sees it delivered", on: ann) {
            let page = try await $0.perform(ReadMessages(conversation: "ben", limit: 10))
            return page.messages.first?.state == "delivered"
        }
        // Receipts still travel when the message has arrived.
        try await eventually("both see the same", on: ann) {
            try await $0.perform(ListDigests()).map(\.digest)
                == ben.perform(ListDigests()).map(\.digest)
        }
        let number = try await ann.perform(GetSafetyNumber(person: "ben")).number
        #expect(try await ben.perform(GetSafetyNumber(person: "ann")).number == number)
        await ann.shutdown()
        await ben.shutdown()
    }

    @Test("seal the vault anew once somebody was removed, and open what they kept all the same")
    func renewal() async throws {
        let folder = try TemporaryFolder()
        let settings = NodeSettings(home: folder.home("ann"))
        let (ann, _) = try await Node.create(settings, name: "ann")
        let (ben, _) = try await Node.create(
            NodeSettings(home: folder.home("ben")), name: "ben")
        try await ann.start(listen: ["127.0.0.1:0"])
        try await ben.start(listen: ["127.0.0.1:0"])
        try await ben.perform(
            AcceptInvite(link: try await ann.perform(CreateInvite(hours: 1)).link))
        try await eventually("ann knows ben", on: ann) {
            try await $0.perform(ListConversations()).contains { $0.name == "ben" }
        }
        let group = try await ann.perform(CreateConversation(name: "trip", members: ["ben"]))
        try await ann.perform(SendMessages(conversation: group.id, texts: ["before"]))
        let keystore = URL(filePath: folder.home("ann") + "/keystore")
        let before = try Data(contentsOf: keystore)
        try await ann.perform(RemoveGroupMember(conversation: group.id, person: "ben"))
        try await eventually("the vault has another key", on: ann) { _ in
            try Data(contentsOf: keystore) != before
        }
        await ben.shutdown()
        await ann.shutdown()
        let again = try await Node.open(settings)
        let page = try await again.perform(ReadMessages(conversation: "trip", limit: 10))
        #expect(page.messages.map(\.text) == ["before"])
        #expect(try await again.perform(CheckStore()).checks.allSatisfy(\.isFine))
        await again.shutdown()
    }

    @Test("survives closing and opening again")
    func reopen() async throws {
        let folder = try TemporaryFolder()
        let settings = NodeSettings(home: folder.home("ann"))
        let (ann, _) = try await Node.create(settings, name: "ann")
        let group = try await ann.perform(CreateConversation(name: "notes", members: []))
        try await ann.perform(SendMessages(conversation: group.id, texts: ["one", "two"]))
        await ann.shutdown()
        let again = try await Node.open(settings)
        let page = try await again.perform(ReadMessages(conversation: "notes", limit: 10))
        #expect(page.messages.map(\.text) == ["one", "two"])
        #expect(try await again.perform(CheckStore()).checks.allSatisfy(\.isFine))
        #expect(try await again.perform(GetStatus()).readOnlyReason == nil)
        await again.shutdown()
    }
}
