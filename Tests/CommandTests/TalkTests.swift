import Synchronization
import Testing

@testable import LocalAPITests
@testable import Parley
@testable import parley

/// What a person sees of mentions and threads.
@Suite("Mentions and threads on screen")
struct TalkTests {
    @Test("whom a message mentions is shown by the name of now, and mentions are listed")
    func mentions() async throws {
        let terminal = Terminal()
        #expect(await terminal.run("mentions").talk.contains("no message mentions you"))
        _ = await terminal.run("send", "home", "@ann and @ben: rules")
        terminal.node.state.withLock { state in
            state.messages[0].isOwn = false
            state.messages[0].mentionsMe = true
            state.messages[0].mentions = [
                .init(person: "aa", name: "Ann Lee", start: 0, length: 4),
                .init(person: "bb", name: "", start: nil, length: nil),
                .init(person: "cc", name: "Big Ben", start: 9, length: 4),
            ]
        }
        let listed = await terminal.run("mentions")
        #expect(listed.output.hasPrefix("home  new\n"), "\(listed.output)")
        #expect(
            listed.output.contains("@Ann Lee and @Big Ben: rules  (mentions you)"),
            "\(listed.output)")
        terminal.node.state.withLock { $0.messages[0].mentions[2].start = 2 }
        let odd = await terminal.run("mentions", "--json")
        #expect(odd.output.contains("\"isUnread\":true"), "\(odd.output)")
        #expect(await terminal.run("mentions").output.contains("@ann and @ben: rules"))
    }

    @Test("a thread is shown and listed, answered, and its answers say what became of the first")
    func threads() async throws {
        let terminal = Terminal()
        _ = await terminal.run("send", "home", "who brings the tent?")
        #expect(await terminal.run("threads").talk.contains("no threads"))
        _ = await terminal.run("reply", "home", "1", "I do")
        _ = await terminal.run("send", "home", "and the stove?", "--thread", "1")
        terminal.node.state.withLock { state in
            let quote = MessageView.Quote(
                author: "ann", text: "who brings the tent?", isDeleted: false, isEdited: true)
            state.messages[1].quote = quote
            state.messages[2].quote = quote
            state.messages[2].quote?.isDeleted = true
        }
        let shown = await terminal.run("thread", "1")
        #expect(shown.output.contains("who brings the tent?"), "\(shown.output)")
        #expect(shown.output.contains("↳ #1 (edited) I do"), "\(shown.output)")
        #expect(shown.output.contains("↳ #1 (deleted) and the stove?"), "\(shown.output)")
        let listed = await terminal.run("threads", "home")
        #expect(listed.output.hasPrefix("home\n"), "\(listed.output)")
        #expect(listed.output.contains("2 answers"), "\(listed.output)")
    }
}
