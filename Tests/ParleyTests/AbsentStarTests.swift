import Testing

@testable import Parley

@Suite("A marked message that is not on this device")
struct AbsentStarTests {
    @Test("is counted, so that no list without it looks whole")
    func deletedConversation() async throws {
        let folder = try TemporaryFolder()
        let (ann, _) = try await Node.create(NodeSettings(home: folder.home("ann")), name: "ann")
        for name in ["club", "home"] {
            try await ann.perform(CreateConversation(name: name, members: []))
            let sent = try await ann.perform(SendMessages(conversation: name, texts: [name]))
            let number = try #require(sent.first).number
            try await ann.perform(StarMessage(message: MessageReference(number), on: true))
        }
        #expect(try await ann.perform(ListStars(limit: 9)).absentCount == 0)
        try await ann.perform(LeaveGroup(conversation: "club", anyway: true))
        try await ann.perform(DeleteConversation(conversation: "club"))
        let left = try await ann.perform(ListStars(limit: 9))
        #expect(left.stars.map(\.message.text) == ["home"] && left.absentCount == 1)
        await ann.shutdown()
    }
}
