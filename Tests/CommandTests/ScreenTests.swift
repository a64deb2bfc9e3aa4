import Foundation
import Synchronization
import Testing

@testable import LocalAPITests
@testable import Parley
@testable import parley

@Suite("A screen", .timeLimit(.minutes(3)))
struct ScreenTests {
    @Test(
        "gives a character the columns that a terminal draws it in",
        arguments: [
            ("✨⭐✅", 6), ("☺️", 2), ("☺", 1), ("👩‍👩‍👧‍👦", 2), ("🇩🇪🇫🇷", 4), ("👍🏽", 2), ("1️⃣", 2),
            ("e\u{301}", 1), ("日本", 4), ("한", 2), ("\u{1112}\u{1161}\u{11AB}", 2), ("ｶﾞ", 2),
            ("क्षि", 3), ("a\u{200B}b", 2), ("a\u{AD}b", 3), ("a\u{FE0F}", 1), ("", 0), ("©", 1),
        ])
    func width(text: String, columns: Int) {
        #expect(columnCount(text) == columns, "\(text)")
    }

    @Test("wraps between words, within those that are longer than a line, and loses nothing")
    func wrapping() {
        #expect(Columns.wrap("one two three", to: nil) == ["one two three"])
        #expect(
            Columns.wrap("the key hangs at the farm", to: 14) == ["the key hangs", "at the farm"])
        #expect(Columns.wrap("abcdefghijklmnop", to: 12) == ["abcdefghijkl", "mnop"])
        #expect(Columns.wrap("日本語日本語日本語", to: 13) == ["日本語日本語", "日本語"])
        #expect(Columns.wrap("123456789012 x", to: 12) == ["123456789012", "x"])
        #expect(Columns.wrap("too narrow for anything", to: 3) == ["too narrow for anything"])
        #expect(Columns.wrap("", to: 40) == [""])
        var random = SystemRandomNumberGenerator()
        let letters = Array("ab 日👩‍🚒e\u{301} ")
        for _ in 0..<500 {
            let text = String(
                (0..<Int.random(in: 0...90, using: &random)).map { _ in
                    letters.randomElement(using: &random) ?? "a"
                })
            let width = Int.random(in: 12...40, using: &random)
            let lines = Columns.wrap(text, to: width)
            #expect(lines.allSatisfy { columnCount($0.trimmingSuffix()) <= width }, "\(text)")
            #expect(
                lines.joined().filter { $0 != " " } == text.filter { $0 != " " }, "\(text)")
        }
    }

    @Test("wraps messages below their own start, and colours them where it can")
    func messages() async {
        let node = FakeNode()
        var message = FakeNode.message(
            1, "the key hangs at the farm behind the door", author: "ben", isOwn: false)
        message.isLate = true
        let messages = [message]
        node.state.withLock { $0.messages = messages }
        let plain = await Terminal(node: node, columnCount: 40).run("read", "home", "--keep-unread")
        #expect(
            plain.output == """
                Tue 14 Nov 2023
                  #1  23:13  ben  the key hangs at the
                                  farm behind the door
                                  (late)

                """)
        let coloured = await Terminal(node: node, columnCount: 80, hasColour: true)
            .run("read", "home", "--keep-unread")
        #expect(coloured.output.contains("\u{1B}[1mTue 14 Nov 2023\u{1B}[0m"))
        #expect(coloured.output.contains("\u{1B}[2m(late)\u{1B}[0m"))
        let piped = await Terminal(node: node).run("read", "home", "--keep-unread")
        #expect(!piped.output.contains("\u{1B}"))
        #expect(piped.output.contains("the key hangs at the farm behind the door  (late)"))
    }

    @Test("shows lines about people in their order, whatever their clocks said")
    func order() async throws {
        let node = FakeNode()
        let time: UInt64 = 1_700_000_000_000
        node.state.withLock {
            $0.events = [
                FakeNode.event("added", "cleo", by: "ben", at: time + 3_600_000, holds: true),
                FakeNode.event("left", "cleo", by: nil, at: time, holds: true),
            ]
        }
        let shown = await Terminal(node: node).run("read", "home", "--keep-unread").output
        let added = try #require(shown.range(of: "ben added cleo"))
        let left = try #require(shown.range(of: "cleo left"))
        #expect(added.lowerBound < left.lowerBound, "\(shown)")
    }

    @Test("puts a text below its start where there is no room beside that, and loses nothing")
    func narrowMessages() async {
        let node = FakeNode()
        var message = FakeNode.message(
            1, "the key hangs at the farm behind the door", author: "benjamin", isOwn: true)
        message.editCount = 1
        message.waiting = [.init(change: "edit", state: "saved")]
        let (messages, time) = ([message], message.time)
        node.state.withLock {
            $0.messages = messages
            $0.events = [FakeNode.event("left", "benjamin", by: nil, at: time + 1, holds: true)]
        }
        let shown = await Terminal(node: node, columnCount: 20).run("read", "home", "--keep-unread")
        #expect(
            shown.output == """
                Tue 14 Nov 2023
                  #1  23:13
                benjamin
                    the key hangs at
                    the farm behind
                    the door
                    (edited, not yet
                    delivered) ✓
                      23:13
                    – benjamin left

                """)
    }

    @Test(
        "lists on as many lines as it needs, none longer than it is wide, and loses nothing",
        arguments: ["contacts", "conversations", "doctor"])
    func narrow(command: String) async {
        func letters(_ text: String) -> String { String(text.filter { !$0.isWhitespace }) }
        let node = FakeNode()
        let piped = await Terminal(node: node).run(command)
        for width in [30, 40, 56, 80, 200] {
            let shown = await Terminal(node: node, columnCount: width).run(command)
            let lines = shown.output.split(separator: "\n").map(String.init)
            #expect(lines.allSatisfy { columnCount($0) <= width }, "\(width): \(shown.output)")
            #expect(letters(shown.output) == letters(piped.output), "\(width): \(shown.output)")
            #expect(shown.status == piped.status)
        }
    }

    @Test("wraps what doctor says, and leaves a command that is to be copied on one line")
    func advice() {
        var report = DoctorReport(checks: [
            .init(name: "The guard and the database fit.", isFine: false, detail: "1 log is short")
        ])
        let command = "`parley recover --home FOLDER --backup FILE`"
        report.advice = [
            "Nobody else has it. Restore a backup: \(command). Without one it is lost."
        ]
        report.mended = ["Views were folded anew from what the messages say of them."]
        var world = World()
        world.output = Screen(put: { _ in }, isTerminal: true, columnCount: 48)
        let text = World.$current.withValue(world) { Doctor.text(report) }
        #expect(
            text == """
                ✗  The guard and the database fit. 1 log is
                   short
                Views were folded anew from what the messages
                say of them.
                Nobody else has it. Restore a backup:
                `parley recover --home FOLDER --backup FILE`.
                Without one it is lost.
                """)
        #expect(Advice.wrapped(command, to: 20) == [command])
        #expect(Advice.wrapped("", to: 20) == [""])
    }

    @Test("has colours on a terminal alone, and none where NO_COLOR says so")
    func colours() throws {
        let file = try #require(FileHandle(forWritingAtPath: "/dev/null"))
        #expect(!Screen.open(file.fileDescriptor, environment: ["TERM": "xterm"]).hasColour)
        #expect(Screen(put: { _ in }).styled("x", .strong) == "x")
        #expect(Style.name("ben").code == Style.name("ben").code)
    }

    @Test("that takes nothing is told, and nothing follows from what nobody saw")
    func failure() async throws {
        let node = FakeNode()
        let messages = [FakeNode.message(1, "hello", author: "ben", isOwn: false)]
        node.state.withLock { $0.messages = messages }
        let full = await Terminal(node: node, failure: ENOSPC).run("read", "home")
        #expect(full.status == 1)
        #expect(full.talk.hasPrefix("parley: error: The output could not be written: No space"))
        #expect(node.state.withLock { $0.read }.isEmpty)
        // `head` wants nothing more.
        let gone = await Terminal(node: node, failure: EPIPE).run("read", "home")
        #expect(gone.status == 0)
        #expect(gone.talk.isEmpty)
        #expect(node.state.withLock { $0.read }.isEmpty)
        let device = try #require(FileHandle(forWritingAtPath: "/dev/full"))
        let real = Screen.open(device.fileDescriptor, environment: [:])
        real.put("x")
        withExtendedLifetime(device) { #expect(real.failure() == ENOSPC) }
    }
}

extension String {
    fileprivate func trimmingSuffix() -> String {
        String(reversed().drop { $0 == " " }.reversed())
    }
}

@Suite("Errors", .timeLimit(.minutes(3)))
struct ErrorTests {
    private struct View: Decodable {
        struct Reason: Decodable {
            var code: String
            var message: String
            var hint: String?
        }
        var error: Reason
    }

    @Test(
        "are one object of JSON where JSON was asked for",
        arguments: [
            (["read", "nowhere", "--json"], 1, "unknown-conversation"),
            (["fly", "--json"], 64, "usage"), (["read", "--json"], 64, "usage"),
            (["contact", "--json"], 64, "usage"),
        ])
    func json(arguments: [String], status: Int32, code: String) async throws {
        let result = await Terminal().run(list: arguments)
        #expect(result.status == status)
        #expect(result.output.isEmpty)
        let view = try JSONDecoder().decode(View.self, from: Data(result.talk.utf8))
        #expect(view.error.code == code)
        #expect(!view.error.message.isEmpty)
    }

    @Test(
        "of words that are no wish for help are no help",
        arguments: [
            ["contact"], ["group"], ["help", "nosuch"], ["help", "contact", "nosuch"],
            ["send", "trip", "-hi"], ["send", "trip", "-x"], ["device"],
        ])
    func misread(arguments: [String]) async {
        let result = await Terminal().run(list: arguments)
        #expect(result.status == 64)
        #expect(result.output.isEmpty)
        #expect(result.talk.hasPrefix("parley: error: "))
        #expect(result.talk.contains("parley: hint: "))
    }

    @Test("say how a text is sent that begins with a hyphen, which then is")
    func hyphen() async {
        let terminal = Terminal()
        #expect(
            await terminal.run("send", "home", "-hi").talk == """
                parley: error: “-hi” begins with a hyphen, as options do. Nothing was done.
                parley: hint: Put -- before a text that begins with a hyphen: `parley send … -- -hi`

                """)
        let sent = await terminal.run("send", "home", "--", "-hi")
        #expect(sent.status == 0)
        #expect(sent.output.contains("-hi"))
        for words in [["help"], ["help", "send"], ["send", "-h"], ["contact", "--help"], []] {
            let help = await terminal.run(list: words)
            #expect(help.status == 0, "\(words)")
            #expect(help.output.contains("USAGE"), "\(words)")
        }
    }

    @Test("advise commands for the home that was named")
    func home() async {
        let terminal = Terminal()
        let named = await terminal.run("read", "nowhere", "--home", "/tmp/a b")
        #expect(named.talk.contains("parley conversations --home '/tmp/a b' lists them"))
        let equal = await terminal.run("read", "nowhere", "--home=/tmp/ab")
        #expect(equal.talk.contains("parley conversations --home /tmp/ab lists them"))
        #expect(!(await terminal.run("read", "nowhere")).talk.contains("--home"))
        Advice.$home.withValue("/h") {
            #expect(
                Advice.complete("`parley contact accept ben`, parley demo; parley-relay:1:")
                    == "`parley contact accept --home /h ben`, parley demo; parley-relay:1:")
            #expect(Advice.complete("parley relay run") == "parley relay run")
            #expect(Advice.complete("say parley") == "say parley")
            #expect(
                Advice.complete("`parley backup create F`, `parley recover --home N --backup F`")
                    == "`parley backup create --home /h F`, `parley recover --home N --backup F`")
            #expect(Advice.complete("a sparley run") == "a sparley run")
        }
        #expect(Advice.quoted("it's") == "'it'\\''s'")
        #expect(Advice.quoted("") == "''")
    }

    @Test("keep others' messages from a slip of the hand")
    func others() async {
        let node = FakeNode()
        let messages = [FakeNode.message(1, "hello", author: "ben", isOwn: false)]
        node.state.withLock { $0.messages = messages }
        let terminal = Terminal(node: node)
        let refused = await terminal.run("delete", "1")
        #expect(refused.status == 1)
        #expect(refused.talk.contains("parley delete 1 --others"))
        #expect((await terminal.run("delete", "1", "--others")).status == 0)
    }

    @Test(
        "what is explained by a sentence stands whole, and pads no other line",
        arguments: [nil, 50])
    func sentences(columns: Int?) async {
        let long = "The code of ben was used twice" + String(repeating: ", twice", count: 40)
        let node = FakeNode()
        node.state.withLock {
            $0.explained = [
                .init(about: "contact", what: "accepted", source: "noted by you"),
                .init(
                    about: "devices", what: long, source: "their signed list of devices",
                    since: 1_700_000_000_000),
            ]
        }
        let shown = await Terminal(node: node, columnCount: columns).run("why", "ben").output
        let lines = shown.split(separator: "\n")
        #expect(lines.dropFirst().first == "  contact  accepted  noted by you", "\(shown)")
        let whole = lines.dropFirst(2).map { $0.drop { $0 == " " } }.joined(separator: " ")
        #expect(
            whole == "devices: \(long) (their signed list of devices, 14 Nov 2023 23:13)",
            "\(shown)")
        if let columns { #expect(lines.allSatisfy { $0.count <= columns }, "\(shown)") }
    }

    @Test(
        "of what needs a node that runs say so",
        arguments: [
            ["offline", "on"], ["presence", "set", "away"],
        ])
    func notRunning(arguments: [String]) async {
        let result = await Terminal(isRunning: false).run(list: arguments)
        #expect(result.status == 1)
        #expect(
            result.talk == """
                parley: error: The node is not running.
                parley: hint: Start it with `parley run`.

                """)
    }
}
