import Foundation
import Parley
import Testing

/// The lines of `An-app-of-your-own.md`; Tests/ExampleTests compares them.
@Suite("An app of your own")
struct AppExampleTests {
    @Test("does what the article says", .timeLimit(.minutes(3)))
    func app() async throws {
        let folder = try TemporaryFolder()
        let home = folder.home("ada")

        let settings = NodeSettings(home: home)
        let (made, recoveryCode) = try await Node.create(settings, name: "Ada")
        print("write this on paper:", recoveryCode)
        await made.shutdown()
        let node = try await Node.open(settings)
        try await node.start(listen: ["*:0"])

        let trip = try await node.perform(CreateConversation(name: "trip", members: []))
        try await node.perform(SendMessages(conversation: trip.id, texts: ["hello"]))

        let changes = try await node.changes(after: nil)
        for conversation in try await node.perform(ListConversations()) {
            print(conversation.name, conversation.unread)
        }

        let page = try await node.perform(ReadMessages(conversation: trip.id, limit: 50))
        for message in page.messages {
            print(message.author, message.text ?? "(not here yet)", message.state ?? "")
        }
        let shown = page.messages.map { MessageReference($0.number) }
        try await node.perform(MarkRead(conversation: trip.id, messages: shown, last: page.last))

        let asked = SendMessages(
            conversation: trip.id, texts: ["who brings the tent?"], once: "question-1")
        try await node.perform(asked)
        try await node.perform(asked)
        for await change in changes where change.message?.text == "who brings the tent?" { break }

        do {
            try await node.perform(ReadMessages(conversation: "nowhere", limit: 50))
        } catch let error as NodeError {
            print(error.code, error.message)
        }
        let all = try await node.perform(ReadMessages(conversation: trip.id, limit: 50))
        #expect(all.messages.compactMap(\.text) == ["hello", "who brings the tent?"])
        await node.shutdown()
    }
}
