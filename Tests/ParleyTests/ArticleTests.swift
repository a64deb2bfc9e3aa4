import Foundation
import Parley
import Testing

@Suite("The articles about the library")
struct ArticleTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// Lines of code, without their margins.
    private static func lines(of code: String) -> [String] {
        code.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    @Test(
        "show lines alone that are compiled and run",
        arguments: [
            ("An-app-of-your-own", "Tests/ParleyTests/ArticleTests.swift"),
            ("A-bot-in-ten-minutes", "Tests/BotTests/Echo.swift"),
        ])
    func lines(article: String, file: String) throws {
        let known = Set(try Self.lines(of: Self.text(file)))
        let page = try Self.text("Sources/Parley/Parley.docc/\(article).md")
        let blocks = page.components(separatedBy: "```swift\n").dropFirst().map {
            $0.components(separatedBy: "```")[0]
        }
        let shown = blocks.flatMap(Self.lines)
        #expect(shown.count > 10)
        for line in shown { #expect(known.contains(line), "\(article): \(line)") }
    }

    @Test("An app of your own does what the article says", .timeLimit(.minutes(3)))
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
