import Synchronization
import Testing

@testable import LocalAPITests
@testable import Parley

@Suite("Polls on the screen", .timeLimit(.minutes(3)))
struct PollSessionTests {
    @Test("a poll is asked, answered, closed and taken back")
    func life() async {
        let terminal = Terminal()
        #expect(await terminal.run("poll", "list").talk.contains("no poll is open"))
        let asked = await terminal.run("poll", "new", "home", "when?", "Friday", "Saturday")
        #expect(
            asked.output == """
                #1  when?  (one answer)
                     1  Friday    0
                     2  Saturday  0
                    you in “home”, 0 answered

                """)
        #expect(await terminal.run("poll", "list", "--to-answer").output == asked.output)
        let answered = await terminal.run("poll", "vote", "1", "2")
        #expect(answered.output.contains("2  Saturday  1  ada  ✓ yours"), "\(answered.output)")
        let none = await terminal.run("poll", "list", "--to-answer")
        #expect(none.output.isEmpty && none.talk.contains("no poll waits for you"))
        #expect(await terminal.run("poll", "vote", "1", "--retract").output == asked.output)
        _ = await terminal.run("poll", "vote", "1", "2")
        let closed = await terminal.run("poll", "close", "1")
        #expect(
            closed.output.contains("#1  when?  (closed, Saturday (1 vote))\n"), "\(closed.output)")
        #expect(closed.output.contains("you in “home”, closed by ada, 1 answered"))
        #expect(await terminal.run("poll", "list").talk.contains("no poll is open"))
        #expect(await terminal.run("poll", "list", "--all").output == closed.output)
        let gone = await terminal.run("poll", "delete", "1")
        #expect(gone.talk.contains("deleted: when?"))
        let unknown = await terminal.run("poll", "show", "1")
        #expect(unknown.status == 1 && unknown.talk.contains("no such poll"), "\(unknown.talk)")
    }

    @Test("a poll stands between the messages of its time, with who is ahead")
    func timeline() async {
        let node = FakeNode()
        let terminal = Terminal(node: node)
        _ = await terminal.run("send", "home", "hello")
        _ = await terminal.run("poll", "new", "home", "when?", "Friday", "Saturday")
        let read = await terminal.run("read", "home")
        #expect(
            read.output.contains("– you ask: when?  (poll #1, 0 answered)\n"), "\(read.output)")
        _ = await terminal.run("poll", "vote", "1", "1")
        _ = await terminal.run("poll", "close", "1")
        let closed = await terminal.run("read", "home")
        #expect(closed.output.contains("(poll #1, closed, Friday (1 vote))"), "\(closed.output)")
    }

    @Test("a poll that ends with as many votes for two says so, and names no winner")
    func tied() async {
        let node = FakeNode()
        let terminal = Terminal(node: node)
        _ = await terminal.run("poll", "new", "home", "when?", "Friday", "Saturday", "Sunday")
        _ = await terminal.run("poll", "vote", "1", "1")
        node.state.withLock { state in
            state.polls[0].options[1].count = 1
            state.polls[0].leading = PollView.leading(state.polls[0].options)
        }
        #expect(
            await terminal.run("poll", "show", "1", "--json").output.contains(#""leading":[1,2]"#))
        let closed = await terminal.run("poll", "close", "1")
        let words = "(closed, tied: Friday and Saturday (1 vote each))\n"
        #expect(closed.output.contains(words), "\(closed.output)")
        node.state.withLock { state in
            state.polls[0].options[2].count = 1
            state.polls[0].leading = PollView.leading(state.polls[0].options)
        }
        let read = await terminal.run("read", "home")
        let all = "(poll #1, closed, tied: Friday, Saturday and Sunday (1 vote each))\n"
        #expect(read.output.contains(all), "\(read.output)")
        node.state.withLock { state in
            for place in 0..<3 { state.polls[0].options[place].count = 0 }
            state.polls[0].leading = PollView.leading(state.polls[0].options)
        }
        let nobody = await terminal.run("poll", "show", "1")
        #expect(nobody.output.contains("(closed, nobody answered)\n"), "\(nobody.output)")
    }

    @Test("who is not counted is named, and no name or answer writes on the screen by itself")
    func hostile() async {
        let node = FakeNode()
        let terminal = Terminal(node: node)
        _ = await terminal.run("poll", "new", "home", "when?", "Friday", "Saturday")
        node.state.withLock { state in
            state.polls[0].question = "when\u{1b}[2J?"
            state.polls[0].options[0].text = "Fri\u{7}day"
            state.polls[0].options[0].names = ["a\u{1b}b"]
            state.polls[0].uncounted = ["d\u{1b}an"]
            state.polls[0].isOwn = false
            state.polls[0].author = "e\u{1b}ve"
        }
        let shown = await terminal.run("poll", "show", "1")
        let read = await terminal.run("read", "home")
        for output in [shown.output, read.output] {
            #expect(!output.contains("\u{1b}") && !output.contains("\u{7}"), "\(output)")
        }
        #expect(
            shown.output.contains(
                "not counted, since their answer came after it was closed: d"), "\(shown.output)")
    }
}
