import Testing

@testable import Parley

@Suite("Deleting conversations")
struct ForgettingTests {
    @Test("leaves a home that opens again, and no word of it")
    func reopens() async throws {
        let folder = try TemporaryFolder()
        let settings = NodeSettings(home: folder.home("ann"))
        let (ann, _) = try await Node.create(settings, name: "ann")
        let kept = try await ann.newConversation(name: "kept", members: [])
        let gone = try await ann.newConversation(name: "gone", members: [])
        try await ann.perform(SendMessages(conversation: kept.id, texts: ["stay"]))
        try await ann.perform(SendMessages(conversation: gone.id, texts: ["vanish"]))
        await #expect(throws: NodeError.self) { try await ann.deleteConversation("gone") }
        try await ann.leave(conversation: "gone")
        try await ann.deleteConversation("gone")
        #expect(try await ann.conversations().map(\.name) == ["kept"])
        #expect(try await ann.doctor().checks.allSatisfy(\.isFine))
        await ann.shutdown()
        let again = try await Node.open(settings)
        #expect(try await again.status().readOnlyReason == nil)
        #expect(try await again.conversations().map(\.name) == ["kept"])
        let next = try await again.newConversation(name: "next", members: [])
        try await again.perform(SendMessages(conversation: next.id, texts: ["go on"]))
        let page = try await again.messages(conversation: "kept", before: nil, limit: 9)
        #expect(page.messages.map(\.text) == ["stay"])
        #expect(try await again.search(SearchRequest("vanish", limit: 3)).hits.isEmpty)
        await again.shutdown()
    }
}
