import Testing

@testable import Parley

@Suite("Deleting conversations")
struct ForgettingTests {
    @Test("leaves a home that opens again, and no word of it")
    func reopens() async throws {
        let folder = try TemporaryFolder()
        let settings = NodeSettings(home: folder.home("ann"))
        let (ann, _) = try await Node.create(settings, name: "ann")
        let kept = try await ann.perform(CreateConversation(name: "kept", members: []))
        let gone = try await ann.perform(CreateConversation(name: "gone", members: []))
        try await ann.perform(SendMessages(conversation: kept.id, texts: ["stay"]))
        try await ann.perform(SendMessages(conversation: gone.id, texts: ["vanish"]))
        await #expect(throws: NodeError.self) {
            try await ann.perform(DeleteConversation(conversation: "gone"))
        }
        try await ann.perform(LeaveGroup(conversation: "gone"))
        let deleted = try await ann.perform(DeleteConversation(conversation: "GONE"))
        #expect(deleted.name == "gone" && deleted.conversation == gone.id)
        #expect(try await ann.perform(ListConversations()).map(\.name) == ["kept"])
        #expect(try await ann.perform(CheckStore()).checks.allSatisfy(\.isFine))
        await ann.shutdown()
        let again = try await Node.open(settings)
        #expect(try await again.perform(GetStatus()).readOnlyReason == nil)
        #expect(try await again.perform(ListConversations()).map(\.name) == ["kept"])
        let next = try await again.perform(CreateConversation(name: "next", members: []))
        try await again.perform(SendMessages(conversation: next.id, texts: ["go on"]))
        let page = try await again.perform(ReadMessages(conversation: "kept", limit: 9))
        #expect(page.messages.map(\.text) == ["stay"])
        #expect(try await again.perform(SearchMessages("vanish", limit: 3)).hits.isEmpty)
        await again.shutdown()
    }
}
