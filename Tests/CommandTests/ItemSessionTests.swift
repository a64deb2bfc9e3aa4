import Synchronization
import Testing

@testable import LocalAPITests
@testable import Parley

@Suite("What is to be done, on the screen", .timeLimit(.minutes(3)))
struct ItemSessionTests {
    @Test("something is noted, changed, done, begun again and taken back")
    func life() async {
        let terminal = Terminal()
        #expect(await terminal.run("action", "list").talk.contains("nothing to do"))
        let noted = await terminal.run(
            "action", "new", "home", "book the hut", "--for", "ben", "--due", "2026-12-01",
            "--notes", "by telephone\nbefore noon", "--from", "7")
        #expect(
            noted.output == """
                #1  ☐ book the hut  ben, due 2026-12-01
                      by telephone
                      before noon
                      from the message 7
                      begun by ada in “home”

                """)
        let edited = await terminal.run(
            "action", "edit", "1", "--title", "book it", "--not-for", "ben", "--for", "me",
            "--due", "")
        #expect(edited.output.hasPrefix("#1  ☐ book it  me\n"), "\(edited.output)")
        let done = await terminal.run("action", "done", "1")
        #expect(done.output == "#1  ☑ book it  me, done by ada\n", "\(done.output)")
        #expect(await terminal.run("action", "list").output.isEmpty)
        #expect(await terminal.run("action", "list", "--done").output == done.output)
        _ = await terminal.run("action", "reopen", "1")
        #expect(await terminal.run("action", "list").output == "#1  ☐ book it  me\n")
        #expect(await terminal.run("action", "delete", "1").talk.contains("deleted: book it"))
        let unknown = await terminal.run("action", "show", "1")
        #expect(
            unknown.status == 1
                && unknown.talk.contains(
                    "no such action item"),
            "\(unknown.talk)")
    }

    @Test("both titles are shown where two were written at once, and none writes by itself")
    func titles() async {
        let node = FakeNode()
        let terminal = Terminal(node: node)
        _ = await terminal.run("action", "new", "home", "book the hut")
        node.state.withLock { state in
            state.items[0].otherTitles = ["book the \u{1b}[2Jinn"]
            state.items[0].assignees = ["e\u{1b}ve"]
        }
        let shown = await terminal.run("action", "list").output
        #expect(shown.contains("or: book the "), "\(shown)")
        #expect(shown.contains("(written at the same time)") && !shown.contains("\u{1b}"))
    }
}
