import Parley
import ParleyLocalAPI
import Testing

@Suite("What people do together and has not arrived", .serialized, .timeLimit(.minutes(3)))
struct UndeliveredTests {
    private func run(_ words: String..., at node: NodeProcess) async throws -> String {
        let program = try Program(words + ["--home", node.home])
        #expect(try await program.ended() == 0, "\(words): \(program.output)")
        return program.output
    }

    /// Ben is in a group of ann's: a poll and something to be done of his are with both.
    private func gathered() async throws -> (all: Neighbours, poll: PollView, item: ItemView) {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "welcome")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        let poll = try await ben.perform(
            AskPoll(conversation: "club", question: "when?", options: ["Friday", "Saturday"]))
        let item = try await ben.perform(CreateItem(conversation: "club", title: "pack"))
        try await eventually("ann has both", on: [all.ann]) {
            let polls = try await ann.perform(ListPolls())
            let items = try await ann.perform(ListItems())
            return polls.count == 1 && items.count == 1
        }
        return (all, poll, item)
    }

    @Test("says so, is counted, and does so no more once another person has it")
    func waiting() async throws {
        let (all, poll, item) = try await gathered()
        let ann = try await all.client(all.ann)
        let known = try #require(try await ann.perform(ListPolls()).first)
        let task = try #require(try await ann.perform(ListItems()).first)
        #expect(known.id == poll.id && known.waiting.isEmpty && task.waiting.isEmpty)
        try await eventually("nothing waits", on: [all.ann, all.ben]) {
            let own = try await ann.perform(ListOutbox())
            let others = try await all.client(all.ben).perform(ListOutbox())
            return own.isEmpty && others.isEmpty
        }
        _ = try await run("offline", "on", at: all.ann)
        let voted = try await run("poll", "vote", poll.id, "2", at: all.ann)
        #expect(voted.contains("(one answer)  (your answer not yet delivered)"), "\(voted)")
        let asked = try await run("poll", "new", "club", "where?", "here", "there", at: all.ann)
        #expect(asked.contains("where?  (one answer)  (not yet delivered)"), "\(asked)")
        let done = try await run("action", "done", item.id, at: all.ann)
        #expect(done.contains("(changed, not yet delivered)"), "\(done)")
        _ = try await run("group", "describe", "club", "a club", at: all.ann)
        let group = try await run("group", "show", "club", at: all.ann)
        #expect(group.contains("(description not yet delivered)"), "\(group)")
        let message = try #require(
            try await ann.perform(ReadMessages(conversation: "club", limit: 1)).messages.last)
        _ = try await run("pin", message.id, at: all.ann)
        let read = try await run("read", "club", "--newest", at: all.ann)
        #expect(read.contains("(pin not yet delivered)"), "\(read)")
        #expect(read.contains("0 answered)  (not yet delivered)"), "\(read)")

        let outbox = try await run("outbox", at: all.ann)
        #expect(outbox.contains("5 changed"), "\(outbox)")
        #expect(try await ann.perform(GetStatus()).pendingCount == 5)
        let why = try await run("why", poll.id, at: all.ann)
        #expect(why.contains("counts: ben could write it"), "\(why)")
        #expect(why.contains("vote") && why.contains("saved on this device alone"), "\(why)")
        #expect(try await run("why", item.id, at: all.ann).contains("change"))

        _ = try await run("offline", "off", at: all.ann)
        try await eventually("nothing waits any more", on: [all.ann]) {
            try await ann.perform(ListOutbox()).isEmpty
        }
        for words in [["poll", "list"], ["action", "list", "--all"], ["group", "show", "club"]] {
            let program = try Program(words + ["--home", all.ann.home])
            #expect(try await program.ended() == 0)
            #expect(!program.output.contains("delivered"), "\(program.output)")
        }
        try await all.end()
    }

    /// Once nothing waited, by the outbox, while notes and decisions did.
    @Test("says so of notes, their edits, decisions and approvals as well")
    func writtenTogether() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "welcome")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        let shared = try await ben.perform(
            CreateNote(conversation: "club", title: "to bring", text: "a stove\n"))
        let proposed = try await ben.perform(
            ProposeDecision(conversation: "club", title: "we take the train"))
        try await eventually("ann has both, and nothing waits", on: [all.ann, all.ben]) {
            let notes = try await ann.perform(ListNotes())
            let decisions = try await ann.perform(ListDecisions()).decisions
            let waiting = try await ben.perform(ListOutbox())
            return notes.first?.editCount == 1 && decisions.count == 1 && waiting.isEmpty
        }
        _ = try await run("offline", "on", at: all.ann)
        let begun = try await run("note", "new", "club", "menu", "soup", at: all.ann)
        #expect(begun.contains(")  (not yet delivered)") && !begun.contains("edited"), "\(begun)")
        let edited = try await run("note", "write", shared.id, "a tent", "--append", at: all.ann)
        #expect(edited.contains("(edited, not yet delivered)"), "\(edited)")
        let solo = try await run("decision", "propose", "club", "we stay", at: all.ann)
        #expect(solo.contains("we stay  (proposed)  (not yet delivered)"), "\(solo)")
        let approved = try await run("decision", "approve", proposed.id, at: all.ann)
        #expect(approved.contains("(your approval not yet delivered)"), "\(approved)")
        let settled = try await run("decision", "accept", proposed.id, at: all.ann)
        #expect(settled.contains("(its state not yet delivered)"), "\(settled)")
        let read = try await run("read", "club", "--newest", at: all.ann)
        #expect(read.contains("0 approve)  (not yet delivered)"), "\(read)")

        #expect(try await run("outbox", at: all.ann).contains("6 changed"))
        #expect(try await ann.perform(GetStatus()).pendingCount == 6)
        for (name, deed) in [(shared.id, "edit"), (proposed.id, "approval")] {
            let why = try await run("why", name, at: all.ann)
            #expect(why.contains("counts: ben could write it"), "\(why)")
            #expect(why.contains(deed) && why.contains("saved on this device alone"), "\(why)")
        }
        let told = try await ann.perform(ListUndelivered(conversation: "club"))
        #expect(
            told.map { "\($0.change): \($0.text)" } == [
                "note: menu", "edit: soup\n", "edit: a tent\n", "decision: we stay",
                "approval: approved",
                "settling: accepted",
            ])

        _ = try await run("offline", "off", at: all.ann)
        try await eventually("nothing waits any more", on: [all.ann]) {
            try await ann.perform(ListOutbox()).isEmpty
        }
        for words in [["note", "list"], ["decision", "list"]] {
            let program = try Program(words + ["--home", all.ann.home])
            #expect(try await program.ended() == 0)
            #expect(!program.output.contains("delivered"), "\(program.output)")
        }
        try await all.end()
    }

    /// Who lets somebody in names the group again, and once read that its name had not arrived.
    @Test("says so of a name that is new, and of none that was said again for who came")
    func namedAgain() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "welcome")
        try await all.meet(all.ann, all.cara, named: "cara")
        let ann = try await all.client(all.ann)
        try await ann.perform(DescribeGroup(conversation: "club", text: "a club"))
        try await eventually("nothing waits", on: [all.ann]) {
            try await ann.perform(ListOutbox()).isEmpty
        }
        _ = try await run("offline", "on", at: all.ann)
        _ = try await run("group", "add", "club", "cara", at: all.ann)
        let told = try await ann.perform(ListUndelivered(conversation: "club")).map(\.change)
        #expect(told.contains("name") && told.contains("description"), "\(told)")
        let added = try await run("group", "show", "club", at: all.ann)
        #expect(added.contains("(addition not yet delivered)"), "\(added)")
        #expect(!added.contains("(name not") && !added.contains("(description not"), "\(added)")
        _ = try await run("group", "rename", "club", "the club", at: all.ann)
        let renamed = try await run("group", "show", "the club", at: all.ann)
        #expect(renamed.contains("(name not yet delivered)"), "\(renamed)")
        #expect(!renamed.contains("(description not yet delivered)"), "\(renamed)")
        try await all.end()
    }

    /// Once own polls, answers and changes were gone from the screen of who was removed, without a word.
    @Test("stays with who was removed before it arrived, and says that nobody takes it")
    func untaken() async throws {
        let (all, poll, item) = try await gathered()
        let ben = try await all.client(all.ben)
        _ = try await run("offline", "on", at: all.ben)
        _ = try await run("poll", "vote", poll.id, "2", at: all.ben)
        _ = try await run("action", "edit", item.id, "--title", "pack all", at: all.ben)
        let late = try await ben.perform(
            AskPoll(conversation: "club", question: "late?", options: ["yes", "no"]))
        let task = try await ben.perform(CreateItem(conversation: "club", title: "late task"))
        try await all.client(all.ann).perform(
            RemoveGroupMember(conversation: "club", person: "ben"))
        _ = try await run("offline", "off", at: all.ben)
        try await eventually("ben hears of it", on: [all.ben]) {
            try await ben.perform(ListMembershipEvents(conversation: "club")).contains {
                $0.change == "removed"
            }
        }
        let why = "not taken: whoever removed you did not have it)"
        let voted = try await run("poll", "show", poll.id, at: all.ben)
        #expect(voted.contains("(your answer \(why)"), "\(voted)")
        let asked = try await run("poll", "show", late.id, at: all.ben)
        #expect(asked.contains("late?  (nobody accepts it)  (\(why)"), "\(asked)")
        let items = try await run("action", "list", at: all.ben)
        #expect(items.contains("pack  (change \(why)"), "\(items)")
        #expect(items.contains("late task  (\(why)"), "\(items)")
        let kept = try await ben.perform(GetItem(item: MessageReference(task.id)))
        #expect(kept.title == "late task" && kept.waiting.map(\.state) == ["removed"])
        let read = try await run("read", "club", "--newest", at: all.ben)
        #expect(read.contains("you ask: late?") && read.contains(why), "\(read)")
        // Who is out is asked nothing.
        #expect(try await ben.perform(ListPolls(toAnswer: true)).isEmpty)
        let refused = try await Program.run("poll", "vote", poll.id, "1", "--home", all.ben.home)
        #expect(refused.status == 1, "\(refused)")
        #expect(try await all.client(all.ann).perform(ListPolls()).map(\.voterCount) == [0])
        try await all.end()
    }

    /// Once nothing waited, by the outbox, while the others went on writing to who had been removed.
    @Test("is counted and marked where somebody is removed, a role is given or a setting changes")
    func control() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "welcome")
        try await all.meet(all.ann, all.cara, named: "cara")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        try await eventually("nothing waits", on: [all.ann]) {
            try await ann.perform(ListOutbox()).isEmpty
        }
        _ = try await run("offline", "on", at: all.ann)
        #expect(try await run("outbox", at: all.ann).contains("Nothing waits"))
        _ = try await run("group", "role", "club", "ben", "admin", at: all.ann)
        #expect(try await run("outbox", at: all.ann).contains("1 changed"))
        _ = try await run("group", "settings", "club", "--history", "all", at: all.ann)
        _ = try await run("conversations", "disappear", "club", "1h", at: all.ann)
        let shown = try await run("group", "show", "club", at: all.ann)
        for mark in ["role", "settings", "how long messages stay:"] {
            #expect(shown.contains("(\(mark) not yet delivered)"), "\(mark): \(shown)")
        }
        #expect(try await run("outbox", at: all.ann).contains("3 changed"))
        #expect(try await run("outbox", "--json", at: all.ann).contains("\"changeCount\":3"))
        #expect(try await ann.perform(GetStatus()).pendingCount == 3)
        _ = try await run("offline", "off", at: all.ann)
        try await eventually("all of it has come", on: [all.ann, all.ben]) {
            let members = try await ben.perform(GetGroup(conversation: "club")).members
            guard members.contains(where: { $0.isSelf && $0.role == "admin" }) else { return false }
            return try await ann.perform(ListOutbox()).isEmpty
        }
        let after = try await run("group", "show", "club", at: all.ann)
        #expect(!after.contains("delivered"), "\(after)")

        // Cara's own device does nothing by her removal: ben has to know it.
        _ = try await run("group", "add", "club", "cara", at: all.ann)
        try await eventually("ben knows that cara is asked", on: [all.ann, all.ben]) {
            let members = try await ben.perform(GetGroup(conversation: "club")).members
            guard members.count == 3 else { return false }
            return try await ann.perform(ListOutbox()).isEmpty
        }
        #expect(try await all.ben.stop() == 0)
        _ = try await run("group", "remove", "club", "cara", at: all.ann)
        #expect(try await run("outbox", at: all.ann).contains("1 changed"))
        let removed = try await run("group", "show", "club", at: all.ann)
        #expect(removed.contains("(removal not yet delivered)"), "\(removed)")
        #expect(try await ann.perform(GetStatus()).pendingCount == 1)
        _ = try await all.ben.start()
        try await eventually("ben knows it", on: [all.ann, all.ben]) {
            try await ann.perform(ListOutbox()).isEmpty
        }
        try await all.end()
    }

    /// A group of which nobody knew was in no list of what waits.
    @Test("is counted where a group was begun of which nobody has heard")
    func begun() async throws {
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        try await ben.perform(SetAdditionPolicy(policy: .nobody))
        _ = try await run("offline", "on", at: all.ann)
        _ = try await run("group", "create", "hidden", "ben", at: all.ann)
        let outbox = try await run("outbox", at: all.ann)
        #expect(outbox.contains("hidden  0 saved here  0 on a relay  1 changed\n"), "\(outbox)")
        #expect(outbox.contains("this node is offline"), "\(outbox)")
        #expect(try await ann.perform(GetStatus()).pendingCount == 1)
        _ = try await run("offline", "off", at: all.ann)
        try await eventually("ben is asked, and nothing waits", on: [all.ann, all.ben]) {
            let asked = try await !ben.perform(ListInvitations()).waiting.isEmpty
            guard asked else { return false }
            return try await ann.perform(ListOutbox()).isEmpty
        }
        // Who leaves a group that nobody is in yet loses nothing.
        _ = try await run("offline", "on", at: all.ann)
        _ = try await run("group", "create", "quiet", "ben", at: all.ann)
        let left = try await Program.run("group", "leave", "quiet", "--home", all.ann.home)
        #expect(!left.output.contains("change of yours"), "\(left)")
        try await all.end()
    }
}
