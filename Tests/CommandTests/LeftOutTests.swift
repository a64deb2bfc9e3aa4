import Synchronization
import Testing

@testable import LocalAPITests
@testable import Parley
@testable import parley

@Suite("What a command leaves out")
struct LeftOutTests {
    @Test("is told of a search that found as much as it may show")
    func search() async {
        let node = FakeNode()
        node.answer(SearchMessages.self) { _, request in
            var reply = SearchReply(hits: [], semantic: "unavailable", notes: [], milliseconds: 1)
            reply.mayHaveMore = request.limit < 200
            return reply
        }
        let few = await Terminal(node: node).run("search", "milk")
        #expect(few.talk.contains("there may be more: --limit 100 shows them"), "\(few.talk)")
        let all = await Terminal(node: node).run("search", "milk", "--limit", "200")
        #expect(!all.talk.contains("there may be more"), "\(all.talk)")
    }

    @Test("is told of a page around a message, above and below")
    func around() async {
        let node = FakeNode()
        node.answer(GetContext.self) { _, _ in
            let page = MessagePage(
                messages: [FakeNode.message(7, "milk"), FakeNode.message(8, "bread")],
                cursor: "c", aboveCount: 3, belowCount: 4, last: 8)
            return ContextView(message: 7, page: page, thread: [])
        }
        let read = await Terminal(node: node).run("read", "home", "--around", "7")
        #expect(read.talk.contains("3 above: parley read home --before c"), "\(read.talk)")
        #expect(read.talk.contains("4 below: parley read home --around 8"), "\(read.talk)")
    }

    @Test("is told of marks that are not on this device, and of lists after a repair")
    func lists() async {
        let node = FakeNode()
        node.answer(ListStars.self) { _, _ in StarPage(stars: [], absentCount: 2) }
        let marked = await Terminal(node: node).run("stars")
        #expect(marked.talk.contains("2 starred messages are not on this device"))
        #expect(!marked.talk.contains("no message is starred"), "\(marked.talk)")
        node.answer(ListLosses.self) { _, _ in LossesView(losses: [], areSettingsLost: true) }
        for words in [["contacts"], ["contacts", "--json"], ["stars"]] {
            let told = await Terminal(node: node).run(list: words)
            #expect(told.status == 0 && told.talk.contains("may be missing here"), "\(told.talk)")
        }
    }

    @Test("is explained by a repair where a name is unknown, not where it is a former one")
    func names() async {
        let node = FakeNode()
        node.answer(ListLosses.self) { _, _ in LossesView(losses: [], areSettingsLost: true) }
        node.answer(ReadUnread.self) { _, request in
            throw request.conversation == "club"
                ? NodeError("club", isCalledNow: ["our club"])
                : NodeError("unknown-conversation", "There is no such conversation.")
        }
        let former = await Terminal(node: node).run("read", "club")
        #expect(former.talk.contains("“club” is called “our club” now."), "\(former.talk)")
        #expect(!former.talk.contains("repair"), "\(former.talk)")
        let unknown = await Terminal(node: node).run("read", "hut")
        #expect(unknown.talk.contains("A repair of the database lost"), "\(unknown.talk)")
    }

    @Test("is what waits beside an invitation that was answered")
    func invitations() async {
        for (word, past) in [("accept", "accepted"), ("decline", "declined")] {
            let told = await Terminal().run("invitations", word, "trip")
            #expect(told.output.hasPrefix("\(past)  “trip”  abababab  by ben"), "\(told.output)")
        }
    }

    @Test("is a change that shows nothing new, where a person follows")
    func follow() async {
        let terminal = Terminal()
        async let result = terminal.run("follow")
        while terminal.node.state.withLock({ $0.watchers.isEmpty }) { await Task.yield() }
        for _ in 0..<3 { terminal.node.tell(.of(FakeNode.message(9, "hi"))) }
        terminal.node.tell(.of(FakeNode.message(9, "ho")))
        terminal.node.stopTelling()
        let lines = await result.output.split(separator: "\n")
        #expect(lines.count == 3 && lines[1].contains("hi") && lines[2].contains("ho"))
    }

    @Test("may be a subcommand, and its help says so")
    func usage() async {
        for command in ["invite", "conversations", "relays"] {
            let help = await Terminal().run(command, "--help")
            #expect(help.output.contains("[<subcommand>]"), "\(help.output)")
        }
        let needed = await Terminal().run("contact", "--help")
        #expect(needed.output.contains("contact <subcommand>"), "\(needed.output)")
    }

    @Test("is no bound of how long an invite works", arguments: ["31d", "0h", "721h", "7", "d"])
    func lifetime(text: String) async {
        for words in [["invite"], ["group", "invite", "trip"]] {
            let refused = await Terminal().run(list: words + ["--expires", text])
            #expect(refused.status == 64)
            #expect(refused.talk.contains("from 1h to 720h"), "\(refused.talk)")
        }
    }

    @Test("is what to do with a relay in whose place another one answers")
    func relays() async {
        let node = FakeNode()
        node.answer(ListRelays.self) { _, _ in
            [RelayView(relay: "abcdef", addresses: ["r:1"], state: "mistaken", until: nil)]
        }
        let told = await Terminal(node: node).run("relays")
        #expect(told.output.contains("answers without its key"), "\(told.output)")
        #expect(told.talk.contains("parley relays move abcdef TEXT"), "\(told.talk)")
    }

    @Test("is which relay had no more room for what waits")
    func fullRelay() async {
        let node = FakeNode()
        node.answer(ListOutbox.self) { _, _ in
            [
                OutboxView(
                    conversation: "ab", name: "home", savedCount: 1, relayedCount: 0,
                    changeCount: 0, fullRelays: ["abcdef"], fullRelayNames: ["r:1 (abcdef)"])
            ]
        }
        let told = await Terminal(node: node).run("outbox")
        #expect(
            told.talk.contains("the relay r:1 (abcdef) had no more room for “home”"),
            "\(told.talk)")
    }
}
