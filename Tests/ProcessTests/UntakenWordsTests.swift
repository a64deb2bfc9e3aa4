import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// Ben writes in a group without knowing that ann has removed him, or made him a reader.
@Suite("Words that nobody took", .serialized, .timeLimit(.minutes(4)))
struct UntakenWordsTests {
    /// Ben has written two lines that nobody takes, and knows it.
    private func lose(_ all: Neighbours) async throws {
        try await all.gather(in: "club", saying: "welcome")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        #expect(try await all.ben.run("offline", "on").status == 0)
        try await ann.perform(RemoveGroupMember(conversation: "club", person: "ben"))
        for text in ["an hour of work", "and a last word"] {
            #expect(try await all.ben.run("send", "club", text).status == 0)
        }
        #expect(try await all.ben.run("offline", "off").status == 0)
        try await eventually("ben hears of it", on: [all.ben]) {
            try await ben.perform(ListMembershipEvents(conversation: "club")).contains {
                $0.change == "removed"
            }
        }
    }

    /// Ben is in again, and both have what was said to it.
    private func comeBack(_ all: Neighbours) async throws {
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        try await ann.perform(
            AddGroupMember(conversation: "club", person: "ben", role: .member))
        try await eventually("ben may come back", on: [all.ben]) {
            let group = try await ben.perform(GetGroup(conversation: "club"))
            if let own = group.members.first(where: \.isSelf) { return !own.isInvited }
            let waiting = try await ben.perform(ListInvitations()).waiting
            guard waiting.contains(where: { $0.id == group.id }) else { return false }
            try await ben.perform(AnswerInvitation(conversation: group.id, accepting: true))
            return false
        }
        try await ann.perform(
            SendMessages(conversation: "club", texts: ["good that you are back", "so?"]))
        try await eventually("ben has it", on: [all.ben]) {
            try await all.texts("club", of: all.ben).contains("so?")
        }
    }

    /// Once they stood below all that came later, for good, and `outbox --stranded` said that everything can be
    /// sent.
    @Test("stand where they were written, and can be sent again once their author may write")
    func back() async throws {
        let all = try await Neighbours()
        try await lose(all)
        let out = try await all.ben.run("outbox", "--stranded").output
        #expect(out.contains("club (you are no longer a member: nothing of this can"), "\(out)")
        #expect(out.contains("an hour of work") && out.contains("and a last word"), "\(out)")
        #expect(!out.contains("again") && !out.contains("nothing:"), "\(out)")
        #expect(try await all.ben.run("outbox").output.contains("Nothing waits"))
        try await comeBack(all)
        let ben = try await all.client(all.ben)
        let own = ["an hour of work", "and a last word"]
        let whole = ["welcome"] + own + ["good that you are back", "so?"]
        #expect(try await all.texts("club", of: all.ben) == whole)
        try await pages(ben, whole)

        let outbox = try await all.ben.run("outbox").output
        #expect(outbox.contains("Nothing waits"), "\(outbox)")
        #expect(outbox.contains("nobody took 2 messages of yours in “club”"), "\(outbox)")
        let shown = try await Advised.first("outbox", in: outbox).run(in: all.folder.path)
        #expect(shown.status == 0 && shown.output.contains("club:\n"), "\(shown.output)")
        let kept = try await Advised.first("outbox", in: shown.output).run(in: all.folder.path)
        #expect(kept.status == 0, "\(kept.output)")
        let send = try Advised.first("send", in: shown.output)
        let sent = try await send.run(["CONVERSATION": "club"], in: all.folder.path)
        #expect(sent.status == 0 && sent.output.contains("saved 2 messages"), "\(sent.output)")
        try await eventually("ann has them", on: [all.ann]) {
            try await all.texts("club", of: all.ann)
                == [whole[0]] + whole[3...] + whole[1...2]
        }
        let twice = try await send.run(["CONVERSATION": "club"], in: all.folder.path)
        #expect(twice.status == 1 && twice.output.contains("sent before"), "\(twice.output)")
        let read = try await all.ben.run("read", "club").output
        #expect(
            read.contains("before it arrived; sent again since") && !read.contains("never leaves"),
            "\(read)")
        let after = try await all.ben.run("outbox", "--stranded").output
        #expect(after.contains("no message that was written here has to be sent again"), "\(after)")
        try await all.end()
    }

    /// Every place of the whole shows the same, from whichever side it is asked for.
    private func pages(_ ben: NodeClient, _ whole: [String]) async throws {
        for first in whole.indices {
            let page = try await ben.perform(
                ReadMessages(conversation: "club", from: first, limit: 2))
            let texts = page.messages.compactMap(\.text)
            #expect(page.aboveCount + texts.count + page.belowCount == whole.count)
            #expect(page.aboveCount == first || page.belowCount == 0, "\(first): \(texts)")
            #expect(texts == Array(whole.dropFirst(page.aboveCount).prefix(texts.count)))
        }
        var found: [String] = []
        var before: String?
        repeat {
            let page = try await ben.perform(
                ReadMessages(conversation: "club", before: before, limit: 1))
            found = page.messages.compactMap(\.text) + found
            before = page.cursor
        } while before != nil
        #expect(found == whole)
    }

    @Test("are told to a reader as what a reader cannot send")
    func reader() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "welcome")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        #expect(try await all.ben.run("offline", "on").status == 0)
        #expect(try await all.ben.run("send", "club", "frist").status == 0)
        let number = try #require(
            try await ben.perform(ReadMessages(conversation: "club", limit: 1)).messages.last?
                .number)
        #expect(try await all.ben.run("edit", "\(number)", "first").status == 0)
        try await ann.perform(SetMemberRole(conversation: "club", person: "ben", role: .reader))
        #expect(try await all.ben.run("offline", "off").status == 0)
        try await eventually("ben hears of it", on: [all.ben]) {
            try await ben.perform(ListMembershipEvents(conversation: "club")).contains {
                $0.change == "role" && $0.role == "reader"
            }
        }
        // What they edited is what they had said.
        #expect(try await all.texts("club", of: all.ben) == ["welcome", "first"])
        let shown = try await all.ben.run("outbox", "--stranded").output
        #expect(shown.contains("club (you are a reader there"), "\(shown)")
        #expect(shown.contains("first") && !shown.contains("sent again"), "\(shown)")
        #expect(try await !all.ben.run("outbox").output.contains("nobody took"))
        try await all.end()
    }

    /// Once the removal was forgotten over the role, and both messages were counted with that.
    @Test("are told each by what it was that ended them, and to others where they are hidden")
    func twice() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "welcome")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        #expect(try await all.ben.run("offline", "on").status == 0)
        #expect(try await all.ben.run("send", "club", "first word").status == 0)
        try await ann.perform(RemoveGroupMember(conversation: "club", person: "ben"))
        #expect(try await all.ben.run("offline", "off").status == 0)
        try await eventually("ben hears of it", on: [all.ben]) {
            try await ben.perform(ListMembershipEvents(conversation: "club")).contains {
                $0.change == "removed"
            }
        }
        try await comeBack(all)
        let removal = "first word  not delivered: you were removed before it arrived"
        let back = try await all.ben.run("read", "club", "--newest").output
        #expect(back.contains(removal), "\(back)")
        #expect(try await all.ben.run("offline", "on").status == 0)
        #expect(try await all.ben.run("send", "club", "second word").status == 0)
        let asked = try await all.ben.run("poll", "new", "club", "where?", "here", "there")
        #expect(asked.status == 0, "\(asked.output)")
        try await ann.perform(SetMemberRole(conversation: "club", person: "ben", role: .reader))
        #expect(try await all.ben.run("offline", "off").status == 0)
        try await eventually("ben hears of that", on: [all.ben]) {
            try await ben.perform(ListMembershipEvents(conversation: "club")).contains {
                $0.change == "role" && $0.role == "reader"
            }
        }
        let read = try await all.ben.run("read", "club", "--newest").output
        #expect(read.contains(removal), "\(read)")
        #expect(read.contains("second word  not delivered: you were made a reader"), "\(read)")
        // Whoever did it is told of each what it hid, as far as that is here.
        try await eventually("ann has both, and shows neither", on: [all.ann, all.ben]) {
            let events = try await ann.perform(ListMembershipEvents(conversation: "club"))
            let told = events.filter { $0.hiddenCount != nil }
            return told.map(\.change) == ["removed", "role"] && told.map(\.hiddenCount) == [1, 1]
                && told.map { $0.hiddenChangeCount ?? 0 } == [0, 1]
        }
        let lines = try await all.ann.run("read", "club", "--newest").output
        #expect(lines.contains("1 message and 1 change of theirs are not shown"), "\(lines)")
        try await all.end()
    }
}
