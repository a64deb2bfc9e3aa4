import Synchronization
import Testing

@testable import LocalAPITests
@testable import Parley

@Suite("Decisions on the screen", .timeLimit(.minutes(3)))
struct DecisionSessionTests {
    @Test("a decision is proposed, approved, settled, replaced and taken back")
    func life() async {
        let terminal = Terminal()
        #expect(await terminal.run("decision", "list").talk.contains("no decisions"))
        let proposed = await terminal.run(
            "decision", "propose", "home", "we take the train", "--text", "The bus is full.",
            "--tag", "travel", "--from", "7")
        #expect(
            proposed.output == """
                #1  we take the train  (proposed)
                    The bus is full.
                    from the message 7
                    you in “home”, approved by nobody  [travel]

                """)
        let approved = await terminal.run("decision", "approve", "1")
        #expect(approved.output.contains("approved by ada  [travel]"), "\(approved.output)")
        #expect(
            await terminal.run("decision", "approve", "1", "--retract").output == proposed.output)
        let accepted = await terminal.run("decision", "accept", "1")
        #expect(accepted.output.contains("(accepted by ada)"), "\(accepted.output)")
        let rejected = await terminal.run("decision", "reject", "1")
        #expect(rejected.output.contains("(rejected by ada)"), "\(rejected.output)")
        let opened = await terminal.run("decision", "reopen", "1")
        #expect(opened.output.contains("(opened again by ada)"), "\(opened.output)")
        _ = await terminal.run("decision", "propose", "home", "--from-poll", "3")
        let replaced = await terminal.run("decision", "supersede", "1", "2")
        #expect(replaced.output.contains("(superseded, says ada)"), "\(replaced.output)")
        #expect(replaced.output.contains("in its place: 51d2e0270c829e06-2, “a result”"))
        let list = await terminal.run("decision", "list", "--state", "superseded")
        #expect(list.output == replaced.output)
        #expect(await terminal.run("decision", "delete", "2").talk.contains("deleted: a result"))
        let unknown = await terminal.run("decision", "show", "2")
        #expect(
            unknown.status == 1 && unknown.talk.contains("no such decision"), "\(unknown.talk)")
    }

    @Test("those of some days are listed by the days of the place where the person is")
    func days() async {
        let terminal = Terminal()
        // It is of the 14th of November 2023.
        _ = await terminal.run("decision", "propose", "home", "we take the train")
        for (days, isShown) in [
            (["--since", "2023-11-14"], true), (["--since", "2023-11-16"], false),
            (["--until", "2023-11-15"], true), (["--until", "2023-11-13"], false),
        ] {
            let list = await terminal.run(list: ["decision", "list"] + days)
            #expect(list.output.contains("train") == isShown, "\(days)")
        }
    }

    @Test("a decision stands between the messages of its time, and writes nothing by itself")
    func timeline() async {
        let node = FakeNode()
        let terminal = Terminal(node: node)
        _ = await terminal.run("send", "home", "hello")
        _ = await terminal.run("decision", "propose", "home", "we take the train")
        let read = await terminal.run("read", "home")
        let line = "– you propose: we take the train  (decision #1, proposed, 0 approve)\n"
        #expect(read.output.contains(line), "\(read.output)")
        node.state.withLock { state in
            state.decisions[0].title = "we\u{1b}[2J"
            state.decisions[0].text = "so\u{7}"
            state.decisions[0].tags = ["t\u{1b}"]
            state.decisions[0].approvers = ["a\u{1b}b"]
            (state.decisions[0].state, state.decisions[0].settledBy) = ("superseded", "b\u{1b}")
            (state.decisions[0].successor, state.decisions[0].successorTitle) = ("1-2", "c\u{7}")
            (state.decisions[0].isOwn, state.decisions[0].author) = (false, "e\u{1b}ve")
        }
        let shown = await terminal.run("decision", "show", "1")
        let again = await terminal.run("read", "home")
        for output in [shown.output, again.output] {
            #expect(!output.contains("\u{1b}") && !output.contains("\u{7}"), "\(output)")
        }
    }
}
