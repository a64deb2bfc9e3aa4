import Parley
import ParleyLocalAPI
import Testing

/// What a command refuses, and why.
@Suite("Commands say the true reason", .timeLimit(.minutes(3)))
struct TrueReasonTests {
    private let folder: TemporaryFolder
    private let home: String

    init() async throws {
        folder = try TemporaryFolder()
        home = folder.home("ann")
        _ = try await NodeProcess(home: home, name: "ann", port: 1)
        _ = try await run("group", "create", "club")
    }

    private func run(_ words: String..., status: Int32 = 0) async throws -> String {
        try await run(words, status: status)
    }

    private func run(_ words: [String], status: Int32) async throws -> String {
        let program = try Program(words + ["--home", home])
        #expect(try await program.ended() == status, "\(words): \(program.output)")
        return program.output
    }

    /// Once a message was said to need a text, and what could not be seen was sent.
    @Test("what is empty, or cannot be seen, is named")
    func empty() async throws {
        let cases = [
            (["action", "new", "club", ""], "The title is empty."),
            (["poll", "new", "club", " ", "a", "b"], "The question is empty."),
            (["poll", "new", "club", "when?", "", "b"], "An answer is empty."),
            (["note", "new", "club", "\u{200B}"], "The title is empty."),
            (["decision", "propose", "club", "\u{2060}"], "The title is empty."),
            (["decision", "propose", "club", "tea", "--tag", ""], "The tag is empty."),
            (["remind", " ", "--at", "2h"], "The text is empty."),
            (["send", "club", "\u{200B}\u{FEFF} \u{AD}"], "The message is empty."),
            (["edit", "1", "\u{200D}"], "The message is empty."),
            (["group", "describe", "club", "\u{3164}"], "The description is empty."),
        ]
        for (words, reason) in cases {
            let told = try await run(words, status: 64)
            #expect(told.contains(reason), "\(words): \(told)")
        }
        _ = try await run("send", "club", "👋")
        #expect(try await run("read", "club").contains("👋"))
    }

    @Test("a text that cannot be seen is refused whoever sends it")
    func unseen() async throws {
        let node = NodeProcess(home: home, address: "127.0.0.1:1")
        let client = try await node.start(isHidden: true)
        let sent = try await client.perform(SendMessages(conversation: "club", texts: ["tea"]))
        let number = MessageReference(try #require(sent.first).number)
        for blank in ["\u{200B}", " \u{2060}\u{FE0F}", "\u{115F}\n"] {
            let error = await #expect(throws: NodeError.self) {
                try await client.perform(SendMessages(conversation: "club", texts: [blank]))
            }
            #expect(error?.code == "empty")
            let change = await #expect(throws: NodeError.self) {
                try await client.perform(EditMessage(message: number, text: blank))
            }
            #expect(change?.code == "empty")
        }
        #expect(try await node.stop() == 0)
    }

    @Test("reminders: what is no identifier, and what is no time")
    func reminders() async throws {
        for word in ["zz", "12", "12345g"] {
            let told = try await run("reminders", "done", word, status: 1)
            #expect(told.contains("“\(word)” is no identifier of a reminder"), "\(told)")
        }
        let absent = try await run("reminders", "done", "1a2b3c4d", status: 1)
        #expect(absent.contains("There is no such reminder.") && !absent.contains("several"))
        for time in ["9999-01-01 09:00", "2026-02-30 09:00"] {
            let told = try await run("remind", "tea", "--at", time, status: 64)
            #expect(told.contains("A day must be one of the calendar"), "\(told)")
        }
        let far = try await run("remind", "tea", "--at", "9999d", status: 64)
        #expect(far.contains("1m to 366d"), "\(far)")
        let other = try await run("remind", "tea", "--at", "soon", status: 64)
        #expect(other.contains("A time is written as"), "\(other)")
    }

    @Test("a poll says which answers there are, and that a closed one cannot be closed")
    func poll() async throws {
        _ = try await run("poll", "new", "club", "when?", "Friday", "Saturday")
        let list = try await run("poll", "list", "--json")
        let number = try #require(list.firstMatch(of: #/"number":([0-9]+)/#)).output.1
        #expect(list.contains(#""mayClose":true"#))
        for answer in ["3", "99"] {
            let told = try await run("poll", "vote", String(number), answer, status: 1)
            #expect(told.contains("That poll has the answers 1 to 2."), "\(told)")
            #expect(told.contains("1 Friday; 2 Saturday"), "\(told)")
        }
        _ = try await run("poll", "close", String(number))
        #expect(try await run("poll", "list", "--all", "--json").contains(#""mayClose":false"#))
    }

    @Test("of somebody who was only invited, why says that, and names the group as it is called")
    func invited() async throws {
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        try await ben.perform(SetAdditionPolicy(policy: .nobody))
        try await ann.perform(CreateConversation(name: "choir", members: ["ben"]))
        try await eventually("ben is asked", on: [all.ben]) {
            try await ben.perform(ListInvitations()).waiting.count == 1
        }
        let told = try await all.ann.run("why", "ben").output
        #expect(told.contains("invited as member, and has not answered"), "\(told)")
        #expect(told.contains("invited from the beginning"), "\(told)")
        #expect(!told.contains("in it from the beginning"), "\(told)")
        let id = try #require(try await ben.perform(ListInvitations()).waiting.first).id
        let group = try await all.ben.run("why", id).output
        #expect(group.contains("choir, ") && !group.contains("ann, "), "\(group)")
        try await all.end()
    }
}
