import Foundation
import Parley
import Testing

@Suite("A search on a terminal", .timeLimit(.minutes(10)))
struct TypedSearchTests {
    @Test("finds while one types, and leads to where a message stands, and to its thread")
    func typing() async throws {
        let folder = try TemporaryFolder()
        let home = folder.home("ann")
        let (node, _) = try await Node.create(
            NodeSettings(home: home, models: folder.home("none")), name: "ann")
        let group = try await node.perform(CreateConversation(name: "hut", members: []))
        let sent = try await node.perform(
            SendMessages(
                conversation: group.id,
                texts: ["the databases are full", "what about 京都?", "nothing"]))
        try await node.perform(
            SendMessages(
                conversation: group.id, texts: ["then we empty them"],
                replyTo: MessageReference(sent[0].number)))
        await node.shutdown()

        let program = try TerminalProgram(["search", "--home", home])
        defer { program.end() }
        try await program.shows("search: ")
        try program.type("datab")
        let found = try await program.shows("1 found")
        #expect(found.contains("the «databases» are full"))
        // A condition that is half typed is no error.
        try program.type("x\u{7F} from:")
        try await program.shows("from:")
        try program.type("\u{15}京都")
        #expect(try await program.shows("1 found").contains("«京都»"))
        try program.type("\u{15}empty")
        try await program.shows("«empty»")
        try program.type("\r")
        let context = try await program.shows("on from here: parley read")
        #expect(context.contains("nothing"))
        #expect(context.contains("thread"))
        #expect(context.contains("the databases are full"))
    }
}
