import Foundation
// example
import Parley
// end
import Testing

@Suite("The example in README.md")
struct ReadmeExampleTests {
    @Test("does what it says", .timeLimit(.minutes(3)))
    func runs() async throws {
        let folder = try TemporaryFolder()
        let home = folder.home("ada")
        // example

        let (node, recoveryCode) = try await Node.create(NodeSettings(home: home), name: "Ada")
        print("write this on paper:", recoveryCode)
        try await node.start(listen: ["*:0"])
        let changes = try await node.changes()
        let notes = try await node.perform(CreateConversation(name: "notes", members: []))
        try await node.perform(SendMessages(conversation: notes.id, texts: ["milk, bread"]))
        for await change in changes where change.message?.text == "milk, bread" { break }
        await node.shutdown()
        // end
        #expect(recoveryCode.count > 50)
    }

    @Test("is the code that is tested here")
    func same() throws {
        let test = URL(fileURLWithPath: #filePath)
        let root = test.deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let readme = try String(
            contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
        let block = try #require(readme.components(separatedBy: "```swift\n").dropFirst().first)
        let shown = try #require(block.components(separatedBy: "```").first)
        #expect(try shown == Self.tested(test))
    }

    /// The lines between `// example` and `// end`, without their margin.
    static func tested(_ file: URL) throws -> String {
        var isExample = false
        var lines: [Substring] = []
        for line in try String(contentsOf: file, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        {
            let margin = line.prefix { $0 == " " }.count
            switch line.dropFirst(margin) {
            case "// example": isExample = true
            case "// end": isExample = false
            default: if isExample { lines.append(line.dropFirst(min(margin, 8))) }
            }
        }
        return lines.map { $0 + "\n" }.joined()
    }
}
