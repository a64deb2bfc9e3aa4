import ParleyConversation
import Testing

@testable import Parley
@testable import ParleyNodeCore

@Suite("Changes", .timeLimit(.minutes(5)))
struct ChangeTests {
    private func texts(_ changes: [ChangeView]) -> [String] {
        changes.filter { $0.isNew == true }.compactMap { $0.message?.text }
    }

    @Test("are all told to a reader who takes none for long, and end with the node")
    func slowReader() async throws {
        let folder = try TemporaryFolder()
        let (ann, _) = try await Node.create(NodeSettings(home: folder.home("ann")), name: "ann")
        try await ann.perform(CreateConversation(name: "notes", members: []))
        let changes = try await ann.changes()
        let sent = (0..<3_000).map { "line \($0)" }
        for start in stride(from: 0, to: 3_000, by: 500) {
            try await ann.perform(
                SendMessages(conversation: "notes", texts: Array(sent[start..<start + 500])))
        }
        var heard: [ChangeView] = []
        for await change in changes {
            heard.append(change)
            if change.message?.text == "line 2999" { break }
        }
        #expect(texts(heard) == sent)
        #expect(Set(heard.filter { $0.isNew != nil }.map(\.cursor)).count == 3_000)
        let rest = try await ann.changes(after: heard[1_499].cursor)
        async let ended = rest.reduce(into: [ChangeView]()) { $0.append($1) }
        await ann.shutdown()
        let told = texts(await ended)
        #expect(told == Array(texts(Array(heard[1_500...])).prefix(told.count)))
        await #expect(throws: NodeError.self) { try await ann.perform(ReadChanges(limit: 1)) }
    }

    @Test("go on exactly when the node was opened again, an edit as a change of its own")
    func reopened() async throws {
        let folder = try TemporaryFolder()
        let settings = NodeSettings(home: folder.home("ann"))
        let (ann, _) = try await Node.create(settings, name: "ann")
        try await ann.perform(CreateConversation(name: "notes", members: []))
        let begin = try await ann.perform(ReadChanges(limit: 1)).cursor
        let sent = try await ann.perform(SendMessages(conversation: "notes", texts: ["a", "b"]))
        let page = try await ann.perform(ReadChanges(after: begin, limit: 1))
        #expect(texts(page.changes) == ["a"])
        #expect(!page.isEnd)
        await ann.shutdown()
        let again = try await Node.open(settings)
        try await again.perform(EditMessage(message: MessageReference(sent[0].number), text: "A"))
        let rest = try await again.perform(ReadChanges(after: page.cursor, limit: 100))
        let messages = rest.changes.filter { $0.message != nil }
        #expect(messages.map { $0.message?.text } == ["b", "A"])
        #expect(messages.map(\.isNew) == [true, false])
        #expect(rest.changes.allSatisfy { $0.missed == nil })
        #expect(rest.isEnd)
        let end = try await again.perform(ReadChanges(after: rest.cursor, limit: 100))
        #expect(end.changes.isEmpty && end.cursor == rest.cursor)
        await again.shutdown()
    }

    @Test("a message that is deleted is told without its text, also in what was told before")
    func erased() async throws {
        let folder = try TemporaryFolder()
        let (ann, _) = try await Node.create(NodeSettings(home: folder.home("ann")), name: "ann")
        try await ann.perform(CreateConversation(name: "notes", members: []))
        let begin = try await ann.perform(ReadChanges(limit: 1)).cursor
        let sent = try await ann.perform(SendMessages(conversation: "notes", texts: ["secret"]))
        try await ann.perform(DeleteMessage(message: MessageReference(sent[0].number)))
        let page = try await ann.perform(ReadChanges(after: begin, limit: 10))
        let messages = page.changes.compactMap(\.message)
        #expect(messages.map(\.text) == [nil, nil])
        #expect(messages.allSatisfy { $0.isDeleted })
        await ann.shutdown()
    }

    @Test("what is no cursor is refused, and so is a page of no or of too many changes")
    func refusals() async throws {
        let folder = try TemporaryFolder()
        let (ann, _) = try await Node.create(NodeSettings(home: folder.home("ann")), name: "ann")
        for text in ["", "x", "1", "1.0", "1.2.3.4", "1.2.-3", "g.1", "1.99999999999999999999"] {
            let error = await #expect(throws: NodeError.self) {
                try await ann.perform(ReadChanges(after: text, limit: 1))
            }
            #expect(error?.code == "bad-cursor")
        }
        for limit in [0, 201] {
            let error = await #expect(throws: NodeError.self) {
                try await ann.perform(ReadChanges(limit: limit))
            }
            #expect(error?.code == "bad-limit")
        }
        let cursor = EventCursor(generation: 7 << 32 | 0xabc, entry: 12, skip: 3)
        #expect(try EventCursor(text: cursor.text) == cursor)
        await ann.shutdown()
    }

    @Test("what may be forgotten waits within a bound, and too much of it is told as missed")
    func passing() async throws {
        let folder = try TemporaryFolder()
        let (ann, _) = try await Node.create(NodeSettings(home: folder.home("ann")), name: "ann")
        let feed = ChangeFeed(of: ann.running, after: .start, isKnown: true)
        for count in 0..<5_000 {
            feed.add(ChangeView(kind: "typing", conversation: "c", typing: ["\(count)"]))
        }
        for count in 0..<1_030 { feed.add(ChangeView(kind: "call", name: "\(count)")) }
        var told: [ChangeView] = []
        while let change = await feed.next(), change.name != "1029" { told.append(change) }
        // All but the newest of who types says nothing any more.
        #expect(told.filter { $0.kind == "typing" }.isEmpty)
        #expect(told.first?.missed == "skipped")
        #expect(told.count == 1_024)
        await ann.shutdown()
    }
}
