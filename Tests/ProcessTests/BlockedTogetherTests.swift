import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// What somebody does in a group who is blocked by ann, and reaches her through cara.
@Suite("What a blocked person begins in groups", .serialized, .timeLimit(.minutes(5)))
struct BlockedTogetherTests {
    private static let mark = "(hidden: you blocked them)"

    /// All three know each other and are in a group, and ann has blocked ben.
    private func club() async throws -> Neighbours {
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        try await all.meet(all.ann, all.cara, named: "cara")
        try await all.meet(all.cara, all.ben, named: "ben")
        let ann = try await all.client(all.ann)
        try await ann.perform(CreateConversation(name: "club", members: ["ben", "cara"]))
        try await eventually("all take part", on: [all.ann]) {
            let members = try await ann.perform(GetGroup(conversation: "club")).members
            return members.count == 3 && members.allSatisfy { !$0.isInvited }
        }
        try await ann.perform(SetAdditionPolicy(policy: .nobody))
        try await ann.perform(AnswerContact(person: "ben", decision: .block))
        return all
    }

    /// Ben begins something of each kind; ann has all of it.
    private func begin(_ all: Neighbours) async throws {
        let ben = try await all.client(all.ben)
        try await ben.perform(CreateConversation(name: "secret group", members: ["ann", "cara"]))
        try await ben.perform(
            AskPoll(conversation: "club", question: "secret poll?", options: ["secret a", "b"]))
        try await ben.perform(
            CreateItem(conversation: "club", title: "secret item", assignees: ["ann"]))
        try await ben.perform(
            CreateNote(conversation: "club", title: "secret note", text: "secret text"))
        try await ben.perform(
            ProposeDecision(conversation: "club", title: "secret decision", text: "secret why"))
        try await ben.perform(SendMessages(conversation: "club", texts: ["secret words"]))
        let (ann, cara) = (try await all.client(all.ann), try await all.client(all.cara))
        try await eventually("ann has all of it through cara", on: [all.ann, all.cara]) {
            let isIn = try await cara.perform(ListConversations()).contains {
                $0.name == "secret group"
            }
            let counts = [
                try await ann.perform(ListPolls(conversation: "club")).count,
                try await ann.perform(ListItems(conversation: "club")).count,
                try await ann.perform(ListNotes(conversation: "club")).count,
                try await ann.perform(ListDecisions(conversation: "club", limit: 9)).decisions
                    .count,
                try await ann.perform(ReadMessages(conversation: "club", limit: 9)).messages.count,
            ]
            return isIn && counts == [1, 1, 1, 1, 1]
        }
    }

    /// What a command at ann's says, which must tell nothing of it.
    private func said(_ words: [String], _ all: Neighbours, status: Int32 = 0) async throws
        -> String
    {
        let command = try Program(words + ["--home", all.ann.home])
        #expect(try await command.ended() == status, "\(words): \(command.output)")
        #expect(!command.output.contains("secret"), "\(words): \(command.output)")
        return command.output
    }

    @Test("is hidden like what they say, and asks for nothing, until they are unblocked")
    func hidden() async throws {
        let all = try await club()
        let ann = try await all.client(all.ann)
        let cursor = try await ann.perform(ReadChanges(limit: 1)).cursor
        try await begin(all)
        for words in [
            ["poll", "list", "club"], ["action", "list", "club"], ["note", "list", "club"],
            ["decision", "list", "club"], ["read", "club", "--newest"],
        ] {
            #expect(try await said(words, all).contains(Self.mark), "\(words)")
        }
        _ = try await said(["action", "list", "--mine"], all)
        #expect(try await ann.perform(ListItems(mine: true)).isEmpty)
        #expect(try await ann.perform(ListPolls(toAnswer: true)).isEmpty)
        _ = try await said(["invitations"], all)
        #expect(try await ann.perform(ListInvitations()).waiting.isEmpty)
        #expect(try await ann.perform(GetStatus()).invitationCount == 0)
        // Nor is anything of it told.
        let changes = try await ann.perform(ReadChanges(after: cursor, limit: 200)).changes
        let told = String(decoding: try JSONEncoder().encode(changes), as: UTF8.self)
        #expect(told.contains("\"poll\"") && !told.contains("secret"), "\(told)")
        #expect(!changes.contains { $0.kind == "invitation" })
        try await lookCloser(all)
        // The others see all of it, and so does she once she unblocks him.
        try await ann.perform(AnswerContact(person: "ben", decision: .unblock))
        for node in [try await all.client(all.cara), ann] {
            #expect(try await node.perform(ListPolls()).map(\.question) == ["secret poll?"])
            #expect(try await node.perform(ListItems()).map(\.title) == ["secret item"])
            #expect(try await node.perform(ListNotes()).map(\.title) == ["secret note"])
            let decisions = try await node.perform(ListDecisions(limit: 9)).decisions
            #expect(decisions.map(\.title) == ["secret decision"])
        }
        let waiting = try await ann.perform(ListInvitations()).waiting.map(\.name)
        #expect(waiting == ["secret group"])
        try await all.end()
    }

    @Test("Attack 314: no file of a blocked person is given out, nor its preview")
    func files() async throws {
        let all = try await club()
        let path = all.folder.home("secret.txt")
        try "secret".write(toFile: path, atomically: true, encoding: .utf8)
        let sent = try Program(["send", "club", "look", "--file", path, "--home", all.ben.home])
        #expect(try await sent.ended() == 0, "\(sent.output)")
        let (ann, cara) = (try await all.client(all.ann), try await all.client(all.cara))
        try await eventually("ann has it through cara", on: [all.ann, all.cara]) {
            try await ann.perform(ReadMessages(conversation: "club", limit: 9)).messages.count == 1
        }
        let page = try await ann.perform(ReadMessages(conversation: "club", limit: 1))
        let message = MessageReference(try #require(page.messages.first).number)
        func code(_ ask: () async throws -> Void) async throws -> String? {
            do { try await ask() } catch let error as NodeError { return error.code }
            return nil
        }
        let read = ReadFile(message: message, offset: 0, count: 9)
        #expect(try await code { _ = try await ann.perform(read) } == "hidden")
        let preview = ReadPreview(message: message, number: 1)
        #expect(try await code { _ = try await ann.perform(preview) } == "hidden")
        try await ann.perform(AnswerContact(person: "ben", decision: .unblock))
        #expect(try await code { _ = try await ann.perform(read) } == nil)
        let theirs = try await cara.perform(ReadMessages(conversation: "club", limit: 1))
        #expect(theirs.messages.first?.files.first?.name == "secret.txt")
        try await all.end()
    }

    /// One thing at a time, by its number.
    private func lookCloser(_ all: Neighbours) async throws {
        let ann = try await all.client(all.ann)
        let note = try #require(try await ann.perform(ListNotes()).first)
        for words in [["note", "show"], ["note", "history"]] {
            let told = try await said(words + ["\(note.number)"], all, status: 1)
            #expect(told.contains("you have blocked its author"), "\(told)")
        }
        let poll = try #require(try await ann.perform(ListPolls()).first)
        #expect(poll.isHidden && poll.options.isEmpty)
        _ = try await said(["poll", "show", "\(poll.number)"], all)
        let page = try await ann.perform(ReadMessages(conversation: "club", limit: 1))
        let message = try #require(page.messages.first)
        for words in [["edits", "\(message.number)"], ["forward", "\(message.number)", "cara"]] {
            let told = try await said(words, all, status: 1)
            #expect(told.contains("you have blocked its author"), "\(told)")
        }
        for id in [message.id, poll.id] {
            let kind = id == poll.id ? "--item" : "--message"
            let told = try await said(["remind", kind, id, "--at", "2h"], all)
            #expect(told.contains(Self.mark), "\(told)")
        }
    }

    @Test("does not bring a group back from the archive, nor is it its newest message")
    func archived() async throws {
        let all = try await club()
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        try await ann.perform(SendMessages(conversation: "club", texts: ["by ann"]))
        try await ann.perform(ArchiveConversation(conversation: "club", on: true))
        try await eventually("ben has it", on: [all.ben]) {
            try await all.texts("club", of: all.ben) == ["by ann"]
        }
        try await ben.perform(SendMessages(conversation: "club", texts: ["secret words"]))
        try await eventually("ann has what ben says", on: [all.ann]) {
            try await ann.perform(ReadMessages(conversation: "club", limit: 9)).messages.count == 2
        }
        let club = try await ann.perform(GetConversation(conversation: "club"))
        #expect(club.isArchived && club.unread == 0 && club.last?.text == "by ann")
        try await ann.perform(AnswerContact(person: "ben", decision: .unblock))
        let after = try await ann.perform(GetConversation(conversation: "club"))
        #expect(!after.isArchived && after.unread == 1 && after.last?.text == "secret words")
        try await all.end()
    }

    @Test("what waits for them says so, and can be taken back")
    func takenBack() async throws {
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        let (ann, ben) = (try await all.client(all.ann), all.ben)
        #expect(try await ben.stop() == 0)
        let sent = try await ann.perform(
            SendMessages(conversation: "ben", texts: ["take it back", "and keep it"]))
        try await ann.perform(AnswerContact(person: "ben", decision: .block))
        let words = "until you unblock ben"
        let number = "\(try #require(sent.first).number)"
        for command in [["outbox"], ["status"], ["why", number]] {
            let shown = try Program(command + ["--home", all.ann.home])
            #expect(try await shown.ended() == 0)
            #expect(shown.output.contains(words), "\(shown.output)")
        }
        #expect(try await all.ann.run("edit", number, "other words").status == 1)
        #expect(try await all.ann.run("delete", number).status == 0)
        try await ben.start()
        try await ann.perform(AnswerContact(person: "ben", decision: .unblock))
        try await eventually("ben has what was kept", on: [ben]) {
            try await all.texts("ann", of: ben).contains("and keep it")
        }
        #expect(try await all.texts("ann", of: ben) == ["and keep it"])
        try await all.end()
    }
}
