import Parley
import Synchronization
import Testing

@testable import ParleyLocalAPI

@Suite("A node over its socket", .timeLimit(.minutes(3)))
struct NodeClientTests {
    /// Runs the body with a client of a fake node.
    static func withClient(
        _ body: (NodeClient, FakeNode, LocalServer) async throws -> Void
    ) async throws {
        let home = try TemporaryHome()
        let node = FakeNode()
        let server = try await LocalServer.start(node: node, home: home.path)
        let client = try #require(try await NodeClient.connect(home: home.path))
        try await body(client, node, server)
        await client.close()
        await server.stop()
    }

    @Test("gives back what the node itself gives, for every function")
    func everything() async throws {
        try await Self.withClient { client, node, _ in
            let sent = try await client.perform(
                SendMessages(conversation: "home", texts: ["a", "b"], replyTo: 3))
            #expect(sent.map(\.number) == [1, 2])
            #expect(sent.map(\.replyTo) == [3, 3])
            #expect(try await client.perform(EditMessage(message: 1, text: "c")).editCount == 1)
            #expect(
                try await client.perform(ReactToMessage(message: 1, emoji: "👍", on: true)).reactions
                    .count == 1)
            #expect(try await client.perform(DeleteMessage(message: 2)).isDeleted)
            let page = try await client.perform(ReadMessages(conversation: "home", limit: 1))
            #expect(page.cursor == "1")
            let first = try await client.perform(
                ReadMessages(conversation: "home", before: page.cursor, limit: 50))
            #expect(first.messages.map(\.number) == [1])
            #expect(try await client.perform(GetStatus()) == node.perform(GetStatus()))
            #expect(try await client.perform(ListContacts()) == node.perform(ListContacts()))
            #expect(try await client.perform(CreateInvite(hours: 2)).link == "parley:invite:2")
            #expect(try await client.perform(AcceptInvite(link: "l")).name == "ben")
            #expect(try await client.perform(AcceptInvite(link: "l", alias: "b")).name == "b")
            #expect(
                try await client.perform(CreateConversation(name: "w", members: ["ben"])).name
                    == "w")
            try await client.perform(RenameConversation(conversation: "w", name: "work"))
            try await client.perform(MuteConversation(conversation: "work", on: true))
            #expect(node.state.withLock { $0.muted } == ["work": true])
            #expect(
                try await client.perform(ListConversations()) == node.perform(ListConversations()))
            #expect(try await client.perform(GetSafetyNumber(person: "ben")).name == "ben")
            try await client.perform(MarkVerified(person: "ben"))
            #expect(node.calls.last == "markVerified ben")
            #expect(try await client.perform(ListDigests()) == node.perform(ListDigests()))
            #expect(try await client.perform(CheckStore()) == node.perform(CheckStore()))
            #expect(
                try await client.perform(MarkRead(conversation: "home", messages: [1, 2], last: 7))
                    == 2)
            #expect(
                try await client.perform(ReadUnread(conversation: "home", limit: 1)).belowCount == 0
            )
            #expect(try await client.perform(GetMessageHistory(message: 1, from: 0)).count == 1)
        }
    }

    @Test("carries a full batch of an import, whatever its bytes")
    func batch() async throws {
        try await Self.withClient { client, node, _ in
            let text = String(repeating: "\u{1}\"\\é", count: 100)
            let rows = (1...2_000).map {
                ImportMessages.Row(line: $0, author: "n", time: 1, text: text, isAction: false)
            }
            let batch = ImportMessages(
                conversation: "home", fileHash: "ff", throughLine: 2_001, rows: rows)
            #expect(try await client.perform(batch).stored == 2_000)
            #expect(node.state.withLock { $0.batches } == [batch])
            let count = try await client.perform(
                CountImportedLines(conversation: "home", fileHash: "ff"))
            #expect(count == 2_001)
        }
    }

    @Test("throws the error that the node threw, with its hint")
    func errors() async throws {
        try await Self.withClient { client, _, _ in
            let error = await #expect(throws: NodeError.self) {
                try await client.perform(SendMessages(conversation: "nowhere", texts: ["a"]))
            }
            #expect(error?.code == "unknown-conversation")
            #expect(error?.hint == "parley conversations lists them")
        }
    }

    /// What a newer program asks of the node of an older one that runs on.
    private struct AskAnew<Reply: Codable & Sendable>: NodeRequest {
        static var name: String { Reply.self == [String].self ? "nobodyKnows" : "listContacts" }
        static var summary: String { "" }
        static var scope: RequestScope { .read }
        static var example: Self { Self() }
        func perform(on node: Node) async throws -> Reply { fatalError() }
    }

    @Test("says that another version runs where it asks or answers otherwise, and how to go on")
    func otherVersion() async throws {
        try await Self.withClient { client, node, _ in
            let unknown = await #expect(throws: NodeError.self) {
                try await client.perform(AskAnew<[String]>())
            }
            let unread = await #expect(throws: NodeError.self) {
                try await client.perform(AskAnew<Int>())
            }
            for error in [unknown, unread] {
                #expect(error?.code == "other-version")
                #expect(error?.hint == NodeError.otherVersion.hint)
            }
            let contacts = try await client.perform(ListContacts())
            #expect(!contacts.isEmpty)
        }
    }

    @Test("hears changes in their order until the node stops")
    func changes() async throws {
        try await Self.withClient { client, node, _ in
            let changes = try await client.changes()
            let messages = (1...100).map { FakeNode.message($0, "m\($0)") }
            for message in messages { node.tell(.of(message)) }
            node.stopTelling()
            var heard: [MessageView] = []
            for await change in changes { if let it = change.message { heard.append(it) } }
            #expect(heard == messages)
        }
    }

    @Test("goes on after a cursor, and pages give the same")
    func cursors() async throws {
        try await Self.withClient { client, node, _ in
            let messages = (1...10).map { FakeNode.message($0, "m\($0)") }
            for message in messages { node.tell(.of(message)) }
            let end = try await client.perform(ReadChanges(limit: 5))
            #expect(end.changes.isEmpty)
            #expect(end.cursor == "10")
            let page = try await client.perform(ReadChanges(after: "3", limit: 5))
            #expect(page.changes.compactMap(\.message) == Array(messages[3..<8]))
            #expect(!page.isEnd)
            let changes = try await client.changes(after: page.cursor)
            node.stopTelling()
            var heard: [MessageView] = []
            for await change in changes { if let it = change.message { heard.append(it) } }
            #expect(heard == Array(messages[8...]))
            let error = await #expect(throws: NodeError.self) {
                try await client.changes(after: "x")
            }
            #expect(error?.code == "bad-cursor")
        }
    }

    /// More than the program takes stands with the node: the program reads no more until it has room,
    /// and questions on its other connection are answered meanwhile.
    @Test("a reader that takes nothing holds up nobody, and then hears everything in order")
    func slowReader() async throws {
        try await Self.withClient { client, node, _ in
            let changes = try await client.changes(after: "0")
            let text = String(repeating: "x", count: 1_000)
            let count = 20_000
            for number in 1...count { node.tell(.of(FakeNode.message(Int64(number), text))) }
            for _ in 0..<10 { _ = try await client.perform(GetStatus()) }
            node.stopTelling()
            var heard: [Int64] = []
            for await change in changes { if let it = change.message { heard.append(it.number) } }
            #expect(heard == (1...Int64(count)).map { $0 })
        }
    }

    @Test("a question that the node can no longer answer ends with an error")
    func lost() async throws {
        try await Self.withClient { client, _, server in
            await server.stop()
            await #expect(throws: NodeError.self) { try await client.perform(GetStatus()) }
        }
    }
}
