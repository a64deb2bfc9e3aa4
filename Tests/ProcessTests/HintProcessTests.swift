import Foundation
import Parley
import ParleyLocalAPI
import Testing

@Suite("What commands say", .serialized, .timeLimit(.minutes(3)))
struct HintProcessTests {
    private func run(_ words: String..., at node: NodeProcess) async throws -> (
        status: Int32, output: String
    ) {
        let program = try Program(words + ["--home", node.home])
        return (try await program.ended(), program.output)
    }

    @Test("names no way that is closed: to delete, to send, to go")
    func ways() async throws {
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        _ = try await ann.newConversation(name: "club", members: ["ben"])
        for name in ["ben", "club"] {
            _ = try await ann.send(conversation: name, texts: ["for \(name)"], replyTo: nil)
        }
        try await eventually("ben has both", on: [all.ben]) {
            guard try await ben.conversations().contains(where: { $0.name == "club" }) else {
                return false
            }
            let direct = try await all.texts("ann", of: all.ben)
            let group = try await all.texts("club", of: all.ben)
            return direct == ["for ben"] && group == ["for club"]
        }
        for name in ["ann", "club"] {
            let page = try await ben.messages(conversation: name, before: nil, limit: 1)
            let number = try #require(page.messages.first?.number)
            let refused = try await run("delete", "\(number)", at: all.ben)
            #expect(refused.status == 1 && refused.output.contains("Only who wrote a message"))
            #expect(!refused.output.contains("--others"), "\(refused.output)")
        }
        let own = try await run("group", "remove", "club", "ann", at: all.ann)
        #expect(own.status == 1 && own.output.contains("That is yourself"), "\(own.output)")
        // A request by card waits for an answer, and for nothing else.
        let card = try await all.client(all.cara).card().text
        #expect(try await run("contact", "request", card, at: all.ann).status == 0)
        let sent = try await run("send", "cara", "hello", at: all.ann)
        #expect(sent.output.contains("has not answered your request"), "\(sent.output)")
        #expect(!sent.output.contains("invite"))
        try await all.end()
    }

    @Test("tells who takes a name with a word of the program behind it")
    func names() async throws {
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        try await ben.rename(to: "ann (you)")
        try await eventually("ann sees the name", on: [all.ann]) {
            try await ann.contacts().map(\.name) == ["ann (you)"]
        }
        let alike = try #require(await ann.contacts().first?.resembles.first)
        #expect(alike.hasPrefix("you, ann"), "\(alike)")
        try await all.end()
    }

    @Test("of what one writes for oneself does not call it undelivered, nor a letter a log of IRC")
    func alone() async throws {
        let folder = try TemporaryFolder()
        let node = try await NodeProcess(home: folder.home("a"), name: "ann", port: 1)
        #expect(try await run("group", "create", "diary", at: node).status == 0)
        #expect(try await run("send", "diary", "dear diary", at: node).status == 0)
        let outbox = try await run("outbox", at: node)
        #expect(!outbox.output.contains("diary"), "\(outbox.output)")
        let letter = folder.path + "/2026-01-31.log"
        try Data("Dear Ann,\nall is well.\n".utf8).write(to: URL(fileURLWithPath: letter))
        let vain = try await run("import", "irc", letter, "--into", "letters", at: node)
        #expect(vain.status == 1 && vain.output.contains("Nothing was stored"), "\(vain.output)")
        #expect(try await !run("conversations", at: node).output.contains("letters"))
    }
}
