import Synchronization
import Testing

@testable import LocalAPITests
@testable import Parley
@testable import parley

@Suite("Hints")
struct HintTests {
    @Test("of an empty list name what its commands need")
    func empty() async {
        let terminal = Terminal()
        terminal.node.state.withLock { $0.conversations = [] }
        terminal.node.answer(ListContacts.self) { _, _ in [] }
        let waits = await terminal.run("conversations").talk
        #expect(waits.contains("you wait for ben to add you to “trip”"), "\(waits)")
        #expect(!waits.contains("No conversations yet"), "\(waits)")
        terminal.node.answer(ListJoins.self) { _, _ in [] }
        let talk = await terminal.run("conversations").talk
        #expect(talk.contains("parley group create NAME"), "\(talk)")
    }

    @Test("are sentences, and so are errors; what a person typed stays as it is")
    func sentences() {
        #expect(NodeError.sentence("the disk is full") == "The disk is full.")
        #expect(NodeError.sentence("/home/ann is gone!") == "/home/ann is gone!")
        #expect(NodeError.ended("example.org is no address") == "example.org is no address.")
        #expect(NodeError.ended("Was it this?") == "Was it this?" && NodeError.ended("") == "")
    }

    @Test("say that a group that was left stays readable")
    func left() async {
        let talk = await Terminal().run("group", "leave", "trip").talk
        #expect(talk == "You left “trip”. It stays readable.\n")
    }

    @Test("of what mends itself say to wait, and what is to be mended is mended first")
    func soon() async {
        for (code, isSoon) in [("not-a-member-yet", true), ("disk-full", false)] {
            let terminal = Terminal()
            terminal.node.state.withLock {
                $0.linesLeft = 300
                $0.linesRefused = NodeError(code, "no")
            }
            let input = Array((1...600).map { "line \($0)" }.joined(separator: "\n").utf8)
            let talk = await terminal.run("send", "home", "--lines", input: input).talk
            #expect(
                talk.contains(
                    "Wait a moment, and run the same command again") == isSoon, "\(talk)")
            #expect(talk.contains("once that is fixed") == !isSoon, "\(talk)")
        }
    }

    @Test("of a backup tell what of others is not in it")
    func backup() async {
        let terminal = Terminal()
        terminal.node.answer(CreateBackup.self) { _, request in
            BackupReport(
                file: request.file, byteCount: 1, name: "ada", person: "aa", device: "dd", time: 1,
                contactCount: 1, conversationCount: 1, logCount: 1, operationCount: 1,
                unsignedCount: 3)
        }
        let talk = await terminal.run("backup", "create", "/tmp/none").talk
        #expect(talk.contains("not in it: 3 operations of others"), "\(talk)")
    }
}
