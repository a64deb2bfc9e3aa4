import Foundation
import Synchronization
import Testing

@testable import LocalAPITests
@testable import Parley
@testable import parley

@Suite("Reminders on the screen", .timeLimit(.minutes(3)))
struct ReminderSessionTests {
    private let zone: TimeZone
    /// 2026-03-28 21:30 there, the evening before clocks are set forward.
    private let evening: UInt64 = 1_774_729_800_000

    init() throws { zone = try #require(TimeZone(identifier: "Europe/Berlin")) }

    private func moment(_ text: String) throws -> UInt64? {
        try RingTime(argument: text).moment(after: evening, in: zone)
    }

    @Test("times are what a person's own clock shows, on the night of a leap as well")
    func times() throws {
        let hour: UInt64 = 3_600_000
        #expect(try moment("30m") == evening + hour / 2)
        #expect(try moment("3d") == evening + 72 * hour)
        #expect(try moment("22:00") == evening + hour / 2)
        // Of that night there is an hour less.
        #expect(try moment("21:00") == evening + 23 * hour - hour / 2)
        #expect(try moment("2026-03-29 04:00") == evening + 6 * hour - hour / 2)
        #expect(try moment("2026-03-29 02:30") == nil)
        for text in [
            "", "0m", "m", "-3h", "9", "24:00", "09:60", "9:5", "2026-3-1 09:00", "x 09:00",
        ] {
            #expect(throws: (any Error).self, "\(text)") { try RingTime(argument: text) }
        }
    }

    @Test("a reminder is noted, listed, done and ended, and no word of it writes by itself")
    func life() async {
        let node = FakeNode()
        let terminal = Terminal(node: node)
        #expect(await terminal.run("reminders").talk.contains("no reminders"))
        let noted = await terminal.run("remind", "call the hut", "--at", "2h")
        #expect(noted.output.contains("  call the hut\n"), "\(noted.output)")
        #expect(await terminal.run("reminders").output == noted.output)
        node.state.withLock { state in
            state.reminders[0].text = "call\u{1b}[2J\nthe hut"
            state.reminders[0].device = "p\u{7}hone"
            state.reminders[0].isHere = false
            state.reminders[0].place = "t\u{1b}rip"
        }
        let hostile = await terminal.run("reminders")
        #expect(!hostile.output.contains("\u{1b}") && !hostile.output.contains("\u{7}"))
        #expect(hostile.output.contains("rings on p"), "\(hostile.output)")
        // That more than its first line was noted is seen.
        #expect(hostile.output.contains(" …  in"), "\(hostile.output)")
        node.state.withLock { $0.reminders[0].isOrphaned = true }
        let lost = await terminal.run("reminders", "--home", "a b")
        #expect(lost.output.contains("`parley reminders here --home 'a b' "), "\(lost.output)")
        let here = await terminal.run("reminders", "here", "0001")
        #expect(!here.output.contains("rings on"), "\(here.output)")
        _ = await terminal.run("reminders", "done", "0001")
        #expect(await terminal.run("reminders").output.isEmpty)
        #expect(await terminal.run("reminders", "list", "--all").output.contains("done"))
        #expect(await terminal.run("reminders", "delete", "0001").talk.contains("deleted: 0001"))
        #expect(await terminal.run("reminders", "done", "0001").status == 1)
    }
}
