import ParleyConversation
import ParleyLedger
import ParleyWire
import Testing

@testable import Parley

@Suite("The origin of a forwarded message", .timeLimit(.minutes(2)))
struct ForwardNameTests {
    @Test("Attack 180: is shown as any name from outside, and makes nobody an author")
    func names() async throws {
        let folder = try TemporaryFolder()
        let (node, _) = try await Node.create(
            NodeSettings(home: folder.home("ann")), name: "ann")
        let notes = try await node.perform(CreateConversation(name: "notes", members: []))
        let space = try await node.read { try $0.conversation("notes").id }
        let names = ["Ada", "A\u{202E}da", "0123456789abcdef", " ", "a  b"]
        let sent = try await node.send(
            names.map { TextMessage(text: "words", forwardedFrom: $0) }, to: space)
        #expect(
            sent.map(\.forwardedFrom) == ["Ada", "A\u{FFFD}da", "“0123456789abcdef”", "", "a b"])
        #expect(sent.allSatisfy { $0.author == "ann" && $0.isOwn && !$0.isImported })
        // Whoever passes such a one on passes on the name as it came.
        let copy = try await node.perform(
            ForwardMessage(message: MessageReference(sent[1].id), conversation: notes.id))
        #expect(copy.forwardedFrom == "A\u{FFFD}da" && copy.id != sent[1].id)
        let own = try await node.perform(SendMessages(conversation: "notes", texts: ["mine"]))
        let passed = try await node.perform(
            ForwardMessage(message: MessageReference(own[0].id), conversation: "notes"))
        #expect(passed.forwardedFrom == "ann")
        await node.shutdown()
    }
}
