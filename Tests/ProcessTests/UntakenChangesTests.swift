import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// Ben does things in a group without knowing that ann has made him a reader, and a member again.
@Suite("Changes that nobody took", .serialized, .timeLimit(.minutes(4)))
struct UntakenChangesTests {
    private func run(_ words: String..., at node: NodeProcess) async throws -> String {
        let program = try Program(words + ["--home", node.home])
        #expect(try await program.ended() == 0, "\(words): \(program.output)")
        return program.output
    }

    /// Ann takes ben's right to write and gives it back while he is away and does this.
    private func apart(_ all: Neighbours, _ body: () async throws -> Void) async throws {
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        _ = try await run("offline", "on", at: all.ben)
        try await body()
        try await ann.perform(SetMemberRole(conversation: "club", person: "ben", role: .reader))
        try await ann.perform(SetMemberRole(conversation: "club", person: "ben", role: .member))
        _ = try await run("offline", "off", at: all.ben)
        try await eventually("ben hears of it", on: [all.ben]) {
            try await ben.perform(ListMembershipEvents(conversation: "club")).contains {
                $0.change == "role" && $0.role == "member"
            }
        }
    }

    /// Once the outbox was silent about all of it, and `--stranded` found nothing.
    @Test("are counted and listed where no message is among them")
    func counted() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "welcome")
        let ben = try await all.client(all.ben)
        let page = try await ben.perform(ReadMessages(conversation: "club", limit: 1))
        let first = try #require(page.messages.first).id
        try await apart(all) {
            try await ben.perform(
                CreateNote(conversation: "club", title: "essay", text: "a long text\n"))
            try await ben.perform(ProposeDecision(conversation: "club", title: "we sing"))
            _ = try await run("react", first, "👍", at: all.ben)
        }
        let outbox = try await run("outbox", at: all.ben)
        #expect(outbox.contains("changes of yours in “club”"), "\(outbox)")
        let shown = try await Advised.first("outbox --stranded", in: outbox)
            .run(in: all.folder.path)
        for line in ["note: essay", "decision: we sing", "reaction: yours to “welcome”"] {
            #expect(shown.output.contains(line), "\(shown.output)")
        }
        #expect(shown.output.contains("have to be made again by hand"), "\(shown.output)")
        let view = try #require(try await ben.perform(ListOutbox()).first)
        let lines = shown.output.split(separator: "\n").count { $0.hasPrefix("  ") }
        #expect(view.untakenChangeCount == lines && view.untakenCount == 0, "\(shown.output)")
        #expect(!view.isWaiting && outbox.contains("Nothing waits."), "\(outbox)")
        try await all.end()
    }

    /// Once it was said that there is no such poll, which stood on the screen.
    @Test("are polls and action items that their author is told to be nobody's to change")
    func refused() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "welcome")
        let ben = try await all.client(all.ben)
        var (poll, item) = ("", "")
        try await apart(all) {
            poll = try await ben.perform(
                AskPoll(conversation: "club", question: "late?", options: ["yes", "no"])
            ).id
            item = try await ben.perform(CreateItem(conversation: "club", title: "late task")).id
        }
        for (what, show, words) in [
            ("poll", "poll show", ["poll", "vote", poll, "1"]),
            ("poll", "poll show", ["poll", "close", poll]),
            ("poll", "poll show", ["poll", "delete", poll]),
            ("action item", "action show", ["action", "done", item]),
            ("action item", "action show", ["action", "edit", item, "--title", "more"]),
            ("action item", "action show", ["action", "delete", item]),
        ] {
            let program = try Program(words + ["--home", all.ben.home])
            #expect(try await program.ended() == 1, "\(words): \(program.output)")
            #expect(
                program.output.contains("Nobody accepts this \(what): whoever"),
                "\(words): \(program.output)")
            let told = try await Advised.first(show, in: program.output).run(in: all.folder.path)
            #expect(told.status == 0 && told.output.contains("late"), "\(told.output)")
        }
        // Of one that is nowhere, that is said.
        let none = try await all.ben.run("poll", "vote", "999999", "1")
        #expect(none.status == 1 && none.output.contains("There is no such poll"), "\(none)")
        try await all.end()
    }

    /// Once both were gone without a word.
    @Test("say whom a message mentions no more, and that its preview is gone, when sent again")
    func mentions() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "welcome")
        try await all.meet(all.ann, all.cara, named: "cara")
        try await all.client(all.ann).perform(
            AddGroupMember(conversation: "club", person: "cara", role: .member))
        try await eventually("ben knows cara", on: [all.ben]) {
            try await all.members(of: "club", on: all.ben) == ["ann", "ben", "cara"]
        }
        try await apart(all) {
            _ = try await run("send", "club", "hi @cara, see https://a.example/x", at: all.ben)
            try await all.client(all.ann).perform(
                RemoveGroupMember(conversation: "club", person: "cara"))
        }
        let json = try await run("outbox", "--stranded", "--json", at: all.ben)
        let line = try #require(json.split(separator: "\n").first { $0.hasPrefix("[{") })
        #expect(line.contains(#""mentions":["#), "\(line)")
        // As of a message that had a preview: nothing is fetched here.
        let with = line.replacing(
            #""mentions":["#, with: #""link":"https://a.example/x","mentions":["#)
        let said = all.folder.path + "/said.json"
        try Data(with.utf8).write(to: URL(filePath: said))
        let sent = try await run("send", "club", "--stranded", said, at: all.ben)
        #expect(sent.contains(" no more, who is not in “club”"), "\(sent)")
        #expect(sent.contains("goes without its preview of https://a.example/x"), "\(sent)")
        let copy = try await all.client(all.ben).perform(
            ReadMessages(conversation: "club", limit: 1)
        ).messages.first
        #expect(copy?.text == "hi @cara, see https://a.example/x" && copy?.mentions == [])
        try await all.end()
    }
}
