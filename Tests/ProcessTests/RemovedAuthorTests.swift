import Parley
import ParleyLocalAPI
import Testing

@Suite("Who was removed", .serialized, .timeLimit(.minutes(3)))
struct RemovedAuthorTests {
    @Test("keeps what they wrote before they heard of it, and reads that nobody took it")
    func untaken() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "welcome")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        #expect(try await all.ben.run("offline", "on").status == 0)
        try await ann.perform(RemoveGroupMember(conversation: "club", person: "ben"))
        let read = try await all.ben.run("read", "club", "--keep-unread", "--json").output
        let asked = try #require(read.firstMatch(of: /"number":([0-9]+)/)).1
        let sent = try await all.ben.run("reply", "club", String(asked), "an hour of work")
        #expect(sent.status == 0, "\(sent.output)")
        #expect(try await all.ben.run("offline", "off").status == 0)
        try await eventually("ben hears of it", on: [all.ben]) {
            try await ben.perform(ListMembershipEvents(conversation: "club")).contains {
                $0.change == "removed"
            }
        }
        let page = try await ben.perform(ReadMessages(conversation: "club", limit: 10))
        #expect(page.messages.compactMap(\.text) == ["welcome", "an hour of work"])
        let shown = try await all.ben.run("read", "club").output
        #expect(
            shown.contains(
                "↳ #\(asked) an hour of work  not delivered: you were removed before it arrived"),
            "\(shown)")
        let number = try #require(page.messages.last?.number)
        let why = try await all.ben.run("why", "\(number)")
        #expect(why.output.contains("does not count"), "\(why.output)")
        let passedOn = try await all.ben.run("forward", "\(number)", "ann").output
        #expect(passedOn.contains("an hour of work  (forwarded from ben)"), "\(passedOn)")
        #expect(try await all.texts("club", of: all.ann) == ["welcome"])
        try await all.end()
    }

    /// Once it was gone from every screen without a word, and `why` told of a removal.
    @Test("and who was made a reader keeps it too, and what others had read is told as that")
    func reader() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "welcome")
        try await all.meet(all.ben, all.cara, named: "cara")
        let ann = try await all.client(all.ann)
        try await all.meet(all.ann, all.cara, named: "cara")
        try await ann.perform(
            AddGroupMember(conversation: "club", person: "cara", role: .member))
        let ben = try await all.client(all.ben)
        try await eventually("ben knows cara", on: [all.ben]) {
            // Until she has accepted she is refused.
            let isIn = try? await all.members(of: "club", on: all.cara).count == 3
            let known = try await all.members(of: "club", on: all.ben)
            return isIn == true && known.count == 3
        }
        // Ann is apart: cara alone has it, and reads it.
        #expect(try await all.ann.run("offline", "on").status == 0)
        try await ben.perform(SendMessages(conversation: "club", texts: ["read by one"]))
        try await eventually("cara has it", on: [all.cara]) {
            try await all.texts("club", of: all.cara).last == "read by one"
        }
        #expect(try await all.cara.run("read", "club").status == 0)
        try await eventually("ben hears of that", on: [all.ben]) {
            try await ben.perform(ReadMessages(conversation: "club", limit: 1)).messages.last?.state
                == "read"
        }
        try await ann.perform(
            SetMemberRole(conversation: "club", person: "ben", role: .reader))
        #expect(try await all.ann.run("offline", "off").status == 0)
        try await eventually("ben hears of it", on: [all.ben]) {
            try await ben.perform(ListMembershipEvents(conversation: "club")).contains {
                $0.change == "role" && $0.role == "reader"
            }
        }
        let shown = try await all.ben.run("read", "club", "--newest").output
        #expect(shown.contains("read by one  read before others heard"), "\(shown)")
        let page = try await ben.perform(ReadMessages(conversation: "club", limit: 9))
        let last = try #require(page.messages.last)
        #expect(last.text == "read by one" && !last.id.isEmpty)
        let why = try await all.ben.run("why", "\(last.number)").output
        #expect(
            why.contains("removed or made a reader") && why.contains("its person said so"), "\(why)"
        )
        try await eventually("ann is told that something is hidden", on: [all.ann]) {
            try await ann.perform(ListMembershipEvents(conversation: "club")).contains {
                $0.change == "role" && $0.hiddenCount == 1
            }
        }
        let line = "ann made ben reader: 1 message of theirs is not shown"
        let seen = try await all.cara.run("read", "club", "--newest").output
        #expect(seen.contains(line), "\(seen)")
        try await all.end()
    }

    /// Once it was told as delivered to people who had never been shown it.
    @Test("and of what came when all knew that they were a reader nobody says that they have it")
    func readerApart() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "welcome")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        #expect(try await all.ben.run("offline", "on").status == 0)
        let sent = try Program(["send", "club", "said apart", "--home", all.ben.home])
        #expect(try await sent.ended() == 0, "\(sent.output)")
        try await ann.perform(SetMemberRole(conversation: "club", person: "ben", role: .reader))
        #expect(try await all.ben.run("offline", "off").status == 0)
        try await eventually("ben hears of it", on: [all.ben]) {
            try await ben.perform(ListMembershipEvents(conversation: "club")).contains {
                $0.change == "role" && $0.role == "reader"
            }
        }
        let page = try await ben.perform(ReadMessages(conversation: "club", limit: 9))
        let apart = try #require(page.messages.last)
        #expect(apart.state == "not delivered: you were made a reader before it arrived")
        let line = "has it, and shows it to nobody"
        try await eventually("ann holds it", on: [all.ben]) {
            try await all.ben.run("why", "\(apart.number)").output.contains(line)
        }
        // A receipt of what counts is written after one that would tell of it.
        try await ann.perform(SetMemberRole(conversation: "club", person: "ben", role: .member))
        try await eventually("ben may write again", on: [all.ben]) {
            try await ben.perform(ListMembershipEvents(conversation: "club")).contains {
                $0.change == "role" && $0.role == "member"
            }
        }
        let later = try await ben.perform(
            SendMessages(conversation: "club", texts: ["said later"]))
        let number = try #require(later.first?.number)
        try await eventually("ann says that she has it", on: [all.ben]) {
            try await all.ben.run("why", "\(number)").output.contains("said so in a receipt")
        }
        let why = try await all.ben.run("why", "\(apart.number)").output
        #expect(why.contains(line) && !why.contains("receipt"), "\(why)")
        // What is read of later words is told of nothing before them that was not shown.
        #expect(try await all.ann.run("read", "club").status == 0)
        try await eventually("ben hears that ann read it", on: [all.ben]) {
            try await ben.perform(ReadMessages(conversation: "club", limit: 9)).messages
                .first { $0.text == "said later" }?.state == "read"
        }
        let shown = try await all.ben.run("read", "club", "--newest").output
        let ended = "said apart  not delivered: you were made a reader before it arrived"
        #expect(shown.contains(ended), "\(shown)")
        let still = try await all.ben.run("why", "\(apart.number)").output
        #expect(still.contains(line) && !still.contains("receipt"), "\(still)")
        try await all.end()
    }

    /// Once a text that was deleted then stood there as if it had not come, and as read.
    @Test("reads that no deletion, edit or reaction of theirs arrived, and what they said")
    func untakenChanges() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "welcome")
        let ben = try await all.client(all.ben)
        try await ben.perform(
            SendMessages(conversation: "club", texts: ["my number is 5", "see you at six"]))
        try await eventually("ann has it", on: [all.ann]) {
            try await all.texts("club", of: all.ann).count == 3
        }
        let page = try await ben.perform(ReadMessages(conversation: "club", limit: 10))
        let numbers = page.messages.map { "\($0.number)" }
        #expect(try await all.ben.run("offline", "on").status == 0)
        try await all.client(all.ann).perform(
            RemoveGroupMember(conversation: "club", person: "ben"))
        for words in [
            ["delete", numbers[1]], ["edit", numbers[2], "see you at seven"],
            ["react", numbers[0], "👍"],
        ] {
            let command = try Program(words + ["--home", all.ben.home])
            #expect(try await command.ended() == 0, "\(command.output)")
        }
        let before = try await all.ben.run("read", "club").output
        #expect(before.contains("(deleted)  (deleted, not yet delivered)"), "\(before)")

        #expect(try await all.ben.run("offline", "off").status == 0)
        try await eventually("ben hears of it", on: [all.ben]) {
            try await ben.perform(ListMembershipEvents(conversation: "club")).contains {
                $0.change == "removed"
            }
        }
        let shown = try await all.ben.run("read", "club").output
        let why = "not taken: whoever removed you did not have it)"
        #expect(shown.contains("(deleted here)  (deletion \(why)"), "\(shown)")
        #expect(shown.contains("see you at six  (edit \(why)"), "\(shown)")
        #expect(shown.contains("welcome  (reaction \(why)"), "\(shown)")
        #expect(!shown.contains("not here yet"), "\(shown)")
        let texts = try await all.ben.run("edits", numbers[2]).output
        #expect(texts.contains("see you at six\n"), "\(texts)")
        #expect(texts.contains("see you at seven  not taken"), "\(texts)")
        let erased = try await all.ben.run("edits", numbers[1]).output
        #expect(erased.contains("(deleted here)"), "\(erased)")

        // What nobody has is not given to who comes back either.
        try await all.client(all.ann).perform(
            AddGroupMember(conversation: "club", person: "ben", role: .member))
        try await eventually("ben is in again", on: [all.ben]) {
            try await ben.perform(ListConversations()).contains {
                $0.name == "club" && $0.members.count == 2
            }
        }
        let later = try await all.ben.run("read", "club").output
        #expect(later.contains("(deleted here)") && !later.contains("not here yet"), "\(later)")
        try await all.end()
    }
}
