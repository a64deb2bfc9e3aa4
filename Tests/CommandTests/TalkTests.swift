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
}
