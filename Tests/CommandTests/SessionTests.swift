import Foundation
import Parley
import Synchronization
import Testing

@testable import LocalAPITests
@testable import parley

@Suite("A session", .timeLimit(.minutes(3)))
struct SessionTests {
    @Test("messages are written, answered, changed and read")
    func messages() async {
        let terminal = Terminal()
        let sent = await terminal.run("send", "home", "dinner\nat eight?")
        #expect(
            sent.output == """
                Tue 14 Nov 2023
                  #1  23:13  ada  dinner
                                  at eight?  ✓

                """)
        _ = await terminal.run("reply", "home", "1", "yes")
        _ = await terminal.run("edit", "#2", "yes, with cake")
        _ = await terminal.run("react", "1", "👍")
        _ = await terminal.run("send", "home", "oops")
        _ = await terminal.run("delete", "3")
        let read = await terminal.run("read", "home")
        #expect(
            read.output == """
                Tue 14 Nov 2023
                  #1  23:13  ada  dinner
                                  at eight?  ✓
                                  👍 ada
                  #2  23:13  ada  ↳ #1 yes, with cake  (edited) ✓
                  #3  23:13  ada  (deleted)  ✓

                """)
        #expect(read.talk.isEmpty)
    }

    @Test("a message is passed on with the name of who wrote it, or without")
    func forwarding() async {
        let node = FakeNode()
        node.state.withLock {
            $0.messages = [FakeNode.message(1, "at nine", author: "ben", isOwn: false)]
        }
        let terminal = Terminal(node: node)
        let named = await terminal.run("forward", "1", "home")
        #expect(named.output.contains("at nine  (forwarded from ben)\n"), "\(named.output)")
        let unnamed = await terminal.run("forward", "#1", "home", "--without-origin")
        #expect(unnamed.output.hasSuffix("at nine\n"), "\(unnamed.output)")
        node.state.withLock { $0.messages[0].forwardedFrom = "" }
        let unknown = await terminal.run("read", "home")
        #expect(unknown.output.contains("at nine  (forwarded)\n"), "\(unknown.output)")
        let lost = await terminal.run("forward", "1", "nowhere")
        #expect(lost.status == 1 && lost.talk.contains("no conversation"), "\(lost.talk)")
    }

    @Test("a message is pinned, listed and taken down")
    func pins() async {
        let terminal = Terminal()
        _ = await terminal.run("send", "home", "rules")
        let none = await terminal.run("pins", "home")
        #expect(none.output.isEmpty && none.talk.contains("nothing is pinned"))
        let pinned = await terminal.run("pin", "1")
        #expect(pinned.output.contains("rules  (pinned) ✓\n"), "\(pinned.output)")
        #expect(await terminal.run("pins", "home").output.contains("rules  (pinned)"))
        _ = await terminal.run("pin", "1", "--remove")
        #expect(await terminal.run("pins", "home").output.isEmpty)
    }

    @Test("a conversation that is put away is listed apart, until it is taken back")
    func archive() async {
        let terminal = Terminal()
        terminal.node.state.withLock { $0.conversations = ["home", "trip"] }
        let before = await terminal.run("conversations").output
        #expect(await terminal.run("archive", "home").status == 0)
        let lines = await terminal.run("conversations").output.split(
            separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 5 && lines[0].hasPrefix("trip  ") && lines[1].isEmpty, "\(lines)")
        #expect(lines[2] == "archived" && lines[3].hasPrefix("home  "), "\(lines)")
        #expect(await terminal.run("unarchive", "home").status == 0)
        #expect(await terminal.run("conversations").output == before)
        #expect(await terminal.run("archive", "nowhere").status == 1)
    }

    @Test("a conversation is marked as unread until it is read, whoever wrote what is in it")
    func unread() async {
        let terminal = Terminal()
        func marked() -> Set<String> { terminal.node.state.withLock { $0.markedUnread } }
        _ = await terminal.run("send", "home", "mine")
        #expect(await terminal.run("unread", "home").status == 0)
        #expect(marked() == ["home"])
        _ = await terminal.run("read", "home", "--keep-unread")
        #expect(marked() == ["home"])
        _ = await terminal.run("read", "home")
        #expect(marked().isEmpty)
        _ = await terminal.run("unread", "home")
        _ = await terminal.run("unread", "home", "--off")
        #expect(marked().isEmpty)
        var shown = ConversationView.group("home")
        shown.isMarkedUnread = true
        #expect(!Conversations.text([shown]).contains("unread"), "how many says more")
        shown.unread = 0
        #expect(Conversations.text([shown]).contains("  unread  "))
    }

    @Test("what was begun is kept, shown, sent or dropped")
    func drafts() async {
        let terminal = Terminal()
        #expect(await terminal.run("draft", "home").talk.contains("no draft there"))
        #expect(await terminal.run("draft", "home", "--send").status == 1)
        #expect(await terminal.run("draft", "home", "I could").output == "I could\n")
        #expect(await terminal.run("draft", "home").output == "I could\n")
        #expect(await terminal.run("draft", "home", "--send").output.contains("I could"))
        #expect(terminal.node.state.withLock { $0.messages.last?.text } == "I could")
        let dropped = await terminal.run("draft", "home", "--remove")
        #expect(dropped.output.isEmpty && dropped.talk.isEmpty)
        #expect(terminal.node.state.withLock { $0.drafts }.isEmpty)
        var shown = ConversationView.group("home")
        shown.draft = "I could"
        #expect(Conversations.text([shown]).contains("  draft: I could  "))
    }

    @Test("a message is marked, listed and marked no more")
    func stars() async {
        let terminal = Terminal()
        let none = await terminal.run("stars")
        #expect(none.output.isEmpty && none.talk.contains("no message is starred"))
        for text in ["milk", "bread"] { _ = await terminal.run("send", "home", text) }
        let marked = await terminal.run("star", "1")
        #expect(marked.output.contains("milk  ★ ✓\n"), "\(marked.output)")
        _ = await terminal.run("star", "2")
        let listed = await terminal.run("stars", "--limit", "1")
        #expect(listed.output.hasPrefix("home\n") && listed.output.contains("bread  ★"))
        #expect(listed.talk.contains("parley stars --from 1") && !listed.output.contains("milk"))
        let removed = await terminal.run("star", "2", "--remove")
        #expect(removed.output.contains("bread  ✓\n"), "\(removed.output)")
        #expect(await !terminal.run("stars").output.contains("bread"))
    }

    @Test("what others sent shows where it came from and what became of it")
    func marks() async {
        let node = FakeNode()
        var action = FakeNode.message(7, "waves", author: "genii", isOwn: false)
        (action.isAction, action.isImported) = (true, true)
        action.importedBy = "ben"
        var late = FakeNode.message(80, "hello", author: "Åsa", isOwn: false)
        late.isLate = true
        var missing = FakeNode.message(81, nil, author: "ben", isOwn: false)
        missing.isMissing = true
        var seen = FakeNode.message(82, "all here", author: "ada")
        seen.state = "read"
        var kept = FakeNode.message(0, "and on", author: "ada")
        kept.state = "waiting for 5 earlier operations of this device"
        node.state.withLock { $0.messages = [action, late, missing, seen, kept] }
        let read = await Terminal(node: node).run("read", "home")
        #expect(
            read.output == """
                Tue 14 Nov 2023
                   #7  23:13  *      genii waves  (imported by ben)
                  #80  23:13  Åsa    hello  (late)
                  #81  23:13  ben    (not here yet)
                  #82  23:13  ada    all here  ✓✓ read
                   #0  23:13  ada    and on  waiting for 5 earlier operations of this device

                """)
    }

    @Test("reading begins at the first unread message, and marks what was shown alone")
    func paging() async {
        let node = FakeNode()
        let names = ["a", "b", "c", "d"]
        node.state.withLock { state in
            state.messages = names.enumerated().map {
                FakeNode.message(Int64($0 + 1), $1, author: "ben", isOwn: false)
            }
            state.read = [1]
        }
        func read() -> [Int64] { node.state.withLock { $0.read } }
        let terminal = Terminal(node: node)
        let kept = await terminal.run("read", "home", "--limit", "1", "--keep-unread")
        #expect(kept.output.contains("#2") && !kept.output.contains("#3"))
        #expect(read() == [1])
        let one = await terminal.run("read", "home", "--limit", "1")
        #expect(one.output == kept.output)
        #expect(
            one.talk
                == "1 above: parley read home --before 1\n2 below: parley read home\n")
        #expect(read() == [1, 2])
        let newest = await terminal.run("read", "home", "--limit", "1", "--newest")
        #expect(newest.output.contains("#4"))
        #expect(read() == [1, 2, 4], "and nothing above it")
        let earlier = await terminal.run("read", "home", "--before", "1")
        #expect(earlier.output.contains("#1") && !earlier.output.contains("#2"))
        let rest = await terminal.run("read", "home")
        #expect(rest.output.contains("#3"))
        #expect(Set(read()) == [1, 2, 3, 4])
    }

    @Test("a change that nobody has yet is shown as such")
    func waiting() async {
        let node = FakeNode()
        var edited = FakeNode.message(7, "new")
        (edited.editCount, edited.waiting) = (1, [.init(change: "edit", state: "saved")])
        var deleted = FakeNode.message(8, nil)
        (deleted.isDeleted, deleted.waiting) = (true, [.init(change: "deletion", state: "relayed")])
        var liked = FakeNode.message(9, "hi", author: "ben", isOwn: false)
        liked.waiting = [.init(change: "reaction", state: "saved")]
        node.state.withLock { $0.messages = [edited, deleted, liked] }
        let read = await Terminal(node: node).run("read", "home", "--newest")
        #expect(
            read.output == """
                Tue 14 Nov 2023
                  #7  23:13  ada  new  (edited, not yet delivered) ✓
                  #8  23:13  ada  (deleted)  (deleted, on a relay) ✓
                  #9  23:13  ben  hi  (reaction not yet delivered)

                """)
    }

    @Test("standard input is one message, or one a line")
    func input() async {
        let terminal = Terminal()
        _ = await terminal.run("send", "home", input: Array("one\n\ntwo\n".utf8))
        let lines = await terminal.run(
            "send", "home", "--lines", input: Array("one\r\n\ntwo".utf8))
        #expect(lines.output == "saved 2 messages\n")
        #expect(
            terminal.node.calls == [
                #"send home ["one\n\ntwo"] -"#, #"send home ["one", "two"] -"#,
            ])
    }

    @Test("many lines that stop half-way say how many are saved, and go on when said again")
    func halfWay() async {
        let terminal = Terminal()
        let lines = (1...600).map { "line \($0)" }
        let input = Array(lines.joined(separator: "\n").utf8)
        terminal.node.state.withLock {
            $0.linesLeft = 300
            $0.linesRefused = NodeError("disk-full", "The disk is full: this was not saved.")
        }
        let stopped = await terminal.run("send", "home", "--lines", input: input)
        #expect(stopped.status == 1 && stopped.output.isEmpty)
        #expect(stopped.talk.contains("256 of 600 messages are saved, the others are not"))
        #expect(stopped.talk.contains("continues with message 257"))
        // A node that goes may have saved what it was asked last.
        terminal.node.state.withLock {
            $0.linesLeft = 0
            $0.linesRefused = NodeError("connection-lost", "the running node has stopped")
        }
        let lost = await terminal.run("send", "home", "--lines", input: input)
        #expect(lost.talk.contains("256 of 600 messages are saved, and perhaps those up to 512: "))
        #expect(lost.talk.contains("it continues with the first that is not"))
        terminal.node.state.withLock { $0.linesLeft = .max }
        let rest = await terminal.run("send", "home", "--lines", input: input)
        #expect(rest.talk == "256 of 600 messages were saved before; continuing\n")
        #expect(rest.output == "saved 344 messages\n")
        let texts = terminal.node.state.withLock { $0.batches.flatMap(\.rows).map(\.text) }
        #expect(texts == lines, "each once, in order")
        let twice = await terminal.run("send", "home", "--lines", input: input)
        #expect(twice.status == 1 && twice.talk.contains("were all sent before"))
        let again = await terminal.run("send", "home", "--lines", "--again", input: input)
        #expect(again.output == "saved 600 messages\n")
    }

    @Test(
        "input that cannot be sent as a whole is not sent at all",
        arguments: [
            ("", "nothing to send"), (" \n", "nothing to send"), ("\u{FF}", "not UTF-8"),
            ("ok\n" + String(repeating: "x", count: 32_769), "Line 2 has 32769 bytes."),
        ])
    func badInput(text: String, message: String) async {
        let terminal = Terminal()
        let input = text == "\u{FF}" ? [0xFF] : Array(text.utf8)
        let result = await terminal.run("send", "home", "--lines", input: input)
        #expect(result.status == 1)
        #expect(result.talk.hasPrefix("parley: error: "))
        #expect(result.talk.contains(message))
        #expect(terminal.openCount.withLock { $0 } == 0)
    }

    @Test("people and conversations are lists whose columns stand below each other")
    func lists() async {
        let terminal = Terminal()
        #expect(
            await terminal.run("contacts").output == """
                ben   cc  invited  not verified  not linked
                cleo  cc  invited  not verified  not linked

                """)
        _ = await terminal.run("group", "create", "our trip", "ben")
        #expect(
            await terminal.run("conversations").output == """
                home      abababab  14 Nov 2023 23:13  2 new  ada, ben
                our trip  abababab  14 Nov 2023 23:13  2 new  ada, ben

                """)
        let verify = await terminal.run("contact", "verify", "ben", "--equal")
        #expect(verify.output.split(separator: "\n").count == 5)
        #expect(terminal.node.calls == ["markVerified ben"])
        _ = await terminal.run("mute", "home")
        _ = await terminal.run("mute", "home", "--off")
        #expect(terminal.node.state.withLock { $0.muted } == ["home": false])
        _ = await terminal.run("mute", "home", "--for", "7d")
        #expect(terminal.node.state.withLock { $0.mutedHours } == ["home": 168])
        var silent = ConversationView.group("home")
        (silent.isMuted, silent.mutedUntil) = (true, 1_700_000_000_000)
        #expect(Conversations.text([silent]).contains("  muted until 14 Nov 2023 22:13  "))
        #expect(await terminal.run("group", "rename", "home", "nest").status == 0)
        #expect(await terminal.run("send", "home", "x").status == 1)
    }

    @Test("people are asked, answered, checked and kept away")
    func people() async {
        let terminal = Terminal()
        #expect(await terminal.run("contact", "card").output == "parley:c1:QUJD\n")
        #expect(
            await terminal.run("contact", "request", "parley:c1:QUJD", "--alias", "Ben").output
                == "Ben  cc  requested  not verified  not linked\n")
        for word in ["accept", "decline", "block", "unblock"] {
            #expect(await terminal.run("contact", word, "ben").status == 0)
        }
        let checked = await terminal.run("contact", "verify", "ben", "--code", "parley:v1:QUJD")
        #expect(checked.output.hasPrefix("ben, verified\n"))
        #expect(
            terminal.node.calls == [
                "requestContact parley:c1:QUJD", "accept ben", "decline ben", "block ben",
                "unblock ben", "verify ben parley:v1:QUJD",
            ])
    }

    @Test("invites are made for one or many, listed and ended")
    func invites() async {
        let terminal = Terminal()
        let one = await terminal.run("invite")
        #expect(one.output == "parley:invite:48\n")
        #expect(one.talk == "works once, until 14 Nov 2023 23:13\n")
        let many = await terminal.run("invite", "--uses", "5", "--expires", "7d")
        #expect(many.output == "parley:invite:168\n")
        #expect(many.talk == "works 5 times, until 14 Nov 2023 23:13\n")
        let vain = await terminal.run("invite", "--uses", "3")
        #expect(vain.talk.contains("\nwarning: the link has no address of yours, so nobody"))
        #expect(
            await terminal.run("invite", "list").output
                == "0123456789abcdef  2 uses left  until 14 Nov 2023 23:13  ben\n")
        #expect(await terminal.run("invite", "revoke", "0123").status == 0)
        #expect(terminal.node.calls == ["revokeInvite 0123"])
    }

    @Test("groups are shown, changed and joined")
    func groups() async {
        let terminal = Terminal()
        #expect(
            await terminal.run("group", "show", "trip").output == """
                trip  abababab  newcomers see messages of the last 30 days, new keys after 24 hours
                  ada (you)  aaaaaaaa  owner   1 device
                  ben        bbbbbbbb  member  2 devices  verified  linked
                  keys of 14 Nov 2023 23:13, made by ada's device d1 for 3 devices
                  link  cdcdcdcd  by ada  as reader  2 uses left  until 14 Nov 2023 23:13

                """)
        _ = await terminal.run("group", "add", "trip", "ben", "--role", "reader")
        _ = await terminal.run("group", "remove", "trip", "ben")
        _ = await terminal.run("group", "role", "trip", "ben", "admin")
        _ = await terminal.run("group", "leave", "trip")
        _ = await terminal.run("group", "settings", "trip")
        _ = await terminal.run("group", "settings", "trip", "--history", "30d")
        let link = await terminal.run("group", "invite", "trip", "--uses", "3")
        #expect(link.output == "parley:g1:QUJD\n")
        let join = await terminal.run("group", "join", "parley:g1:QUJD")
        #expect(join.output == "trip  abababab  waits for ben  until 14 Nov 2023 23:13\n")
        #expect(
            terminal.node.calls == [
                "add ben as reader", "remove ben", "role ben admin", "leave", "settings 30d -",
                "invite member 3 168", "join parley:g1:QUJD",
            ])
        #expect(
            await terminal.run("why", "1").output == """
                #1 counts
                  ben, d2  read  its person said so in a receipt  14 Nov 2023 23:13

                """)
    }

    @Test("who came and went stands between the messages")
    func membership() async {
        let node = FakeNode()
        let time: UInt64 = 1_700_000_000_000
        let events = [
            FakeNode.event("added", "ben", by: "ada", at: time, holds: true),
            FakeNode.event("left", "ben", by: nil, at: time + 60_000, holds: true),
            FakeNode.event("removed", "ben", by: "ada", at: time, holds: false),
        ]
        node.state.withLock { $0.messages = [FakeNode.message(1, "hi")] }
        node.state.withLock { $0.events = events }
        #expect(
            await Terminal(node: node).run("read", "home").output == """
                Tue 14 Nov 2023
                  #1  23:13  ada  hi  ✓
                      23:13  – ada added ben
                      23:14  – ben left

                """)
    }

    @Test(
        "whoever may write nothing reads all the same; a disk that fails is told",
        arguments: [
            ("not-a-member", 0, ""), ("revoked", 0, ""), ("storage", 1, "error: no"),
            ("disk-full", 0, "not marked as read: the disk is full"),
            ("read-only", 0, "not marked as read: this home is read-only"),
        ])
    func reading(code: String, status: Int32, talk: String) async {
        let terminal = Terminal()
        terminal.node.state.withLock {
            $0.messages = [FakeNode.message(1, "hi", author: "ben", isOwn: false)]
            $0.marksRefused = NodeError(code, "no")
        }
        let result = await terminal.run("read", "home")
        #expect(result.output.contains("hi") && result.status == status)
        #expect(talk.isEmpty ? result.talk.isEmpty : result.talk.contains(talk))
    }

    @Test("status says everything in aligned lines")
    func status() async {
        let output = await Terminal().run("status").output
        #expect(output.contains("listens  [::]:7447\n"))
        #expect(output.contains("link     ben at 192.0.2.1:7447\n"))
        #expect(output.contains("holds    1 conversation, 3 operations, 4.1 kB on disk\n"))
        #expect(output.contains("traffic  1.5 kB sent, 20 B received\n"))
        #expect(output.contains("refused  badSignature: 2\n"))
        #expect(output.contains("keys     in a file that only you can read"))
    }

    @Test("doctor fails where a check fails")
    func doctor() async {
        let result = await Terminal().run("doctor")
        #expect(result.status == 1)
        #expect(result.output.contains("✗  Views follow from the log."))
        #expect(result.talk.contains("Something that is stored is wrong or damaged"))
    }

    @Test("follow shows what comes, in one conversation or all, and says when the node stops")
    func follow() async {
        let terminal = Terminal()
        async let result = terminal.run("follow", "home", "--json")
        while terminal.node.state.withLock({ $0.watchers.isEmpty }) { await Task.yield() }
        terminal.node.tell(.of(FakeNode.message(1, "hi")))
        terminal.node.stopTelling()
        let found = await result
        let lines = found.output.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.first == #"{"cursor":"0","kind":"start"}"#)
        #expect(lines.last?.contains(#""cursor":"1""#) == true)
        #expect(lines.last?.contains(#""text":"hi""#) == true)
        #expect(found.talk.contains("parley follow --after 1"))
        #expect(found.status == 1)
        let alone = await Terminal(isRunning: false).run("follow")
        #expect(alone.talk.contains("The node is not running"))
    }

    @Test("follow goes on after a cursor, and shows what came meanwhile")
    func followAfter() async {
        let terminal = Terminal()
        for number in 1...3 {
            terminal.node.tell(.of(FakeNode.message(Int64(number), "m\(number)")))
        }
        async let result = terminal.run("follow", "--json", "--after", "1")
        while terminal.node.state.withLock({ $0.watchers.isEmpty }) { await Task.yield() }
        terminal.node.stopTelling()
        let found = await result
        #expect(found.output.split(separator: "\n").count == 2)
        #expect(!found.output.contains(#""text":"m1""#))
        #expect(found.output.contains(#""text":"m2""#))
        #expect(found.talk.contains("parley follow --after 3"))
        let wrong = await Terminal().run("follow", "--json", "--after", "x")
        #expect(wrong.talk.contains(#""code":"bad-cursor""#))
        #expect(wrong.status == 1)
    }

    /// Once the first message of a stream stopped the program: no column had a width yet.
    @Test("follow shows messages as they come, each with the name of its conversation")
    func followForPeople() async {
        let terminal = Terminal()
        async let result = terminal.run("follow")
        while terminal.node.state.withLock({ $0.watchers.isEmpty }) { await Task.yield() }
        terminal.node.tell(.of(FakeNode.message(9, "hi", author: "ada")))
        terminal.node.tell(.of(FakeNode.message(10, "hello", author: "benjamin", isOwn: false)))
        terminal.node.stopTelling()
        #expect(
            await result.output == """
                home: Tue 14 Nov 2023
                home:   #9  23:13  ada  hi  ✓
                home:   #10  23:13  benjamin  hello

                """)
    }
}
