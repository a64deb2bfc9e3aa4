import Foundation
import Synchronization
import Testing

@testable import LocalAPITests
@testable import Parley
@testable import parley

@Suite("Commands about calls", .timeLimit(.minutes(3)))
struct CallCommandTests {
    @Test("show and choose the program for sound and pictures")
    func media() async {
        let terminal = Terminal()
        #expect(await terminal.run("calls", "media").output == "/usr/bin/media -q\n")
        #expect(await terminal.run("calls", "media", "sh", "-c", "true").status == 64)
        _ = await terminal.run("calls", "media", "--", "/bin/../bin/sh", "-c", "true")
        let none = await terminal.run("calls", "media", "--none")
        #expect(none.talk.contains("no program"))
        #expect(await terminal.run("calls", "media", "no-such-program-here").status == 1)
        #expect(await terminal.run("calls", "media", "--none", "sh").status == 64)
        #expect(
            terminal.node.calls == [
                "setMediaProgram [\"/bin/sh\", \"-c\", \"true\"]", "setMediaProgram []",
            ])
    }

    @Test("keep servers, and take passwords from files alone")
    func servers() async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/parley-\(UUID().uuidString)"
        try Data("squeamish\nrest\n".utf8).write(to: URL(fileURLWithPath: folder))
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let terminal = Terminal()
        let list = await terminal.run("calls", "turn")
        #expect(list.output == "turn:turn.example:3478  has a password for  ada\n")
        let turn = ["calls", "turn", "add", "turn:t.example"]
        _ = await terminal.run(list: turn + ["--secret-file", folder])
        _ = await terminal.run(list: turn + ["--name", "ada", "--password-file", folder])
        _ = await terminal.run("calls", "turn", "remove", "turn:t.example")
        for wrong in [["--name", "ada"], ["--password-file", folder], ["--secret-file", ""]] {
            #expect(await terminal.run(list: turn + wrong).status == 64)
        }
        #expect(await terminal.run(list: turn + ["--secret-file", "/nowhere/x"]).status == 1)
        #expect(
            terminal.node.calls == [
                "addTurnServer turn:t.example - - squeamish",
                "addTurnServer turn:t.example ada squeamish -",
                "removeTurnServer turn:t.example",
            ])
    }
}

extension CallCommandTests {
    @Test("a call without a connection connects, and its length is no sentence")
    func connecting() throws {
        var call = FakeNode.call("talking")
        #expect(CallLines.table([call]).contains("  connecting"))
        let member = """
            {"name":"ben","person":"","device":"","isThis":false,"media":[],"connection":"connected"}
            """
        call.members = [
            try JSONDecoder().decode(CallView.Member.self, from: Data(member.utf8))
        ]
        call.milliseconds = 62_000
        let line = CallLines.table([call])
        #expect(line.contains("  talking") && line.contains("  1:02") && !line.contains("after"))
    }

    @Test("two safety numbers of a person are told apart where they are cut short")
    func excerpts() {
        let number = (10...21).map { String($0 * 1_111) }.joined(separator: " ")
        #expect(DemoScript.excerpt(of: number) == "11110 12221 … 17776 18887 …")
    }

    @Test("call, answer and hang up, on a running node alone")
    func calls() async {
        let terminal = Terminal()
        let call = await terminal.run("call", "home", "--video", "--detach")
        #expect(call.output == "calling home\n" && call.status == 0)
        _ = await terminal.run("answer", "--muted", "--detach")
        _ = await terminal.run("reject", "home")
        _ = await terminal.run("hangup")
        _ = await terminal.run("calls", "send", "microphone", "screen")
        _ = await terminal.run("calls", "send", "nothing")
        _ = await terminal.run("calls", "send", "--muted", "--video")
        for wrong in [["smell"], [], ["camera", "--muted"]] {
            #expect(await terminal.run(list: ["calls", "send"] + wrong).status == 64)
        }
        #expect(await terminal.run("call", "").status == 64)
        #expect(await terminal.run("calls").output == "01234567  home  ringing\n")
        #expect(
            terminal.node.calls == [
                "call home [\"microphone\", \"camera\"]", "answer  []", "reject home", "hangUp ",
                "setMedia  [\"microphone\", \"screen\"]", "setMedia  []",
                "setMedia  [\"camera\"]",
            ])
        let still = Terminal(isRunning: false)
        for words in [["call", "home"], ["answer"], ["reject"], ["hangup"]] {
            let result = await still.run(list: words)
            #expect(result.status == 1 && result.talk.contains("is not running"))
        }
    }

    @Test("show what becomes of a call until it is over")
    func watch() async throws {
        let terminal = Terminal()
        var (talking, ended) = (FakeNode.call("talking"), FakeNode.call("ended"))
        talking.milliseconds = 0
        talking.members = [
            .init(
                name: "ben", person: "cc", device: "dd", isThis: false, media: [],
                connection: "connected")
        ]
        (ended.milliseconds, ended.reason, ended.end) = (62_000, "ben hung up", "hung-up-by-other")
        async let result = terminal.run("call", "home")
        while terminal.node.calls.isEmpty { await Task.yield() }
        for call in [talking, ended] {
            terminal.node.tell(
                ChangeView(kind: "call", conversation: call.conversation, call: call))
        }
        let shown = await result
        #expect(shown.output == "calling home\nconnected to ben\nben hung up, after 1:02\n")
        #expect(shown.status == 0)
    }

    @Test("show and set who is there")
    func presence() async {
        let terminal = Terminal()
        let shown = await terminal.run("presence")
        #expect(shown.output.contains("you  online") && shown.output.contains("told now only"))
        #expect(shown.output.contains("ben  away") && shown.output.contains("told nothing"))
        _ = await terminal.run("presence", "set", "away")
        _ = await terminal.run("presence", "tell", "nothing", "ben")
        #expect(await terminal.run("presence", "set", "asleep").status == 64)
        #expect(await terminal.run("presence", "tell", "some").status == 64)
        #expect(terminal.node.calls == ["setPresence away", "setPrivacy nothing ben"])
    }
}

extension CallCommandTests {
    @Test("show what became of calls, between messages and in a list")
    func records() async {
        let terminal = Terminal()
        _ = await terminal.run("send", "home", "hello")
        terminal.node.state.withLock { state in
            state.records = [
                FakeNode.record("talked", isOwn: true),
                FakeNode.record("unanswered", isMissed: true),
            ]
        }
        let read = await terminal.run("read", "home")
        #expect(read.output.contains("– you called ben, 1:02\n"))
        #expect(read.output.hasSuffix("– missed call from ben\n"))
        let list = await terminal.run("calls")
        #expect(list.output.contains("home  you called ben, 1:02\n"))
        #expect(list.output.hasSuffix("01234567  home  ringing\n"))
        var declined = FakeNode.record("declined")
        declined.isDeclined = true
        #expect(CallLines.text(declined) == "ben called, and you declined")
        var own = FakeNode.record("declined", isOwn: true)
        #expect(CallLines.text(own) == "you called, and everybody declined")
        own.declinedBy = "ben"
        #expect(CallLines.text(own) == "you called, and ben declined")
        let json = await terminal.run("calls", "list", "--json", "--limit", "1")
        #expect(json.output.contains("\"isMissed\":true") && !json.output.contains("talked"))
        #expect(await terminal.run("calls", "list", "--limit", "-1").status == 64)
    }
}
