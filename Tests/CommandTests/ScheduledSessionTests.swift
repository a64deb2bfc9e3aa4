import Foundation
import Synchronization
import Testing

@testable import LocalAPITests
@testable import Parley
@testable import parley

@Suite("Messages to be sent later, on the screen", .timeLimit(.minutes(3)))
struct ScheduledSessionTests {
    @Test("one is scheduled, listed, moved, sent and deleted, and no word of it writes by itself")
    func life() async {
        let node = FakeNode()
        let terminal = Terminal(node: node)
        #expect(await terminal.run("scheduled").talk.contains("nothing is to be sent later"))
        let noted = await terminal.run("schedule", "home", "good morning", "--at", "2h")
        #expect(noted.output.contains("  good morning  in “home”\n"), "\(noted.output)")
        #expect(await terminal.run("scheduled").output == noted.output)
        node.state.withLock { state in
            state.scheduled[0].text = "good\u{1b}[2J\nmorning"
            state.scheduled[0].device = "p\u{7}hone"
            state.scheduled[0].isHere = false
            state.scheduled[0].place = "t\u{1b}rip"
        }
        let hostile = await terminal.run("scheduled")
        #expect(!hostile.output.contains("\u{1b}") && !hostile.output.contains("\u{7}"))
        #expect(hostile.output.contains(" …  in"), "\(hostile.output)")
        #expect(hostile.output.contains("sends it"), "\(hostile.output)")
        node.state.withLock { $0.scheduled[0].state = "failed" }
        let failed = await terminal.run("scheduled", "--home", "a b")
        let advice = "`parley scheduled send --home 'a b' 00000000`"
        let words = "could not be sent then: \(advice) sends it"
        #expect(failed.output.contains(words), "\(failed.output)")
        let moved = await terminal.run("scheduled", "move", "0001", "--at", "3h")
        #expect(!moved.output.contains("could not"), "\(moved.output)")
        #expect(await terminal.run("scheduled", "send", "0001").status == 0)
        #expect(await terminal.run("scheduled", "delete", "0001").status == 1)
    }

    @Test("times and texts that make no sense are refused before anything is asked")
    func refused() async {
        let terminal = Terminal(node: FakeNode())
        for words in [
            ["schedule", "home", "a"], ["schedule", "home", "a", "--at", "yesterday"],
            ["schedule", "home", "a", "--at", "0m"], ["scheduled", "move", "0001"],
        ] {
            let run = await terminal.run(words)
            #expect(run.status == 64, "\(words): \(run.talk)")
        }
    }
}
