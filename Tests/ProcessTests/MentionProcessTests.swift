import Parley
import ParleyLocalAPI
import Testing

@Suite("Mentions at the command line", .serialized, .timeLimit(.minutes(3)))
struct MentionProcessTests {
    private func run(_ words: String..., at node: NodeProcess) async throws -> String {
        let program = try Program(words + ["--home", node.home])
        #expect(try await program.ended() == 0, "\(words): \(program.output)")
        return program.output
    }

    @Test("who is mentioned finds it, new first, until it is read, and the name is that of now")
    func mentioned() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "the rules")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        _ = try await run("contact", "alias", "ben", "the captain", at: all.ann)
        let sent = try await run("send", "club", "ask @The Captain, or @nobody", at: all.ann)
        #expect(sent.contains("ask @the captain, or @nobody"), "\(sent)")
        try await eventually("it comes", on: [all.ben]) {
            try await ben.perform(ListMentions(limit: 5)).mentions.count == 1
        }
        // What Ann calls Ben is her own business.
        let page = try await ben.perform(ListMentions(limit: 5))
        #expect(page.mentions[0].message.text == "ask @ben, or @nobody")
        #expect(page.mentions[0].isUnread && page.unreadCount == 1)
        let listed = try await run("conversations", at: all.ben)
        #expect(listed.contains("1 mentions you"), "\(listed)")
        let told = try await run("mentions", at: all.ben)
        #expect(told.contains("club  new") && told.contains("(mentions you)"), "\(told)")
        _ = try await run("read", "club", at: all.ben)
        let after = try await ben.perform(ListMentions(limit: 5))
        #expect(after.unreadCount == 0 && after.mentions.map(\.isUnread) == [false])
        #expect(try await !run("conversations", at: all.ben).contains("mentions you"))
        // An edit that newly mentions somebody rings, and is unread though the message was read.
        let rules = try #require(
            try await ann.perform(ReadMessages(conversation: "club", limit: 5)).messages.first)
        _ = try await run("edit", rules.id, "the rules, @everyone", at: all.ann)
        try await eventually("the edit comes", on: [all.ben]) {
            try await ben.perform(ListMentions(limit: 5)).unreadCount == 1
        }
        _ = try await run("edit", rules.id, "the rules", at: all.ann)
        try await eventually("it mentions nobody any more", on: [all.ben]) {
            try await ben.perform(ListMentions(limit: 5)).unreadCount == 0
        }
        let plain = try await run("send", "club", "@everyone", "--no-mentions", at: all.ann)
        #expect(plain.contains("@everyone"))
        try await eventually("it comes as it is", on: [all.ben]) {
            try await all.texts("club", of: all.ben).last == "@everyone"
        }
        #expect(try await ben.perform(ListMentions(limit: 5)).unreadCount == 0)
        try await all.end()
    }

    @Test("followers are told, pages go on, and what is deleted is no mention")
    func pages() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "hello")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        let start = try await ben.perform(ReadChanges(limit: 1)).cursor
        let texts = (0..<5).map { "@ben \($0)" }
        let sent = try await ann.perform(SendMessages(conversation: "ben", texts: texts))
        try await eventually("all come", on: [all.ben]) {
            try await ben.perform(ListMentions(limit: 5)).unreadCount == 5
        }
        let changes = try await ben.perform(ReadChanges(after: start, limit: 100)).changes
        let mentions = changes.filter { $0.kind == "mention" }
        #expect(mentions.compactMap(\.message?.text) == texts)
        let oldest = try #require(try await ben.perform(ListMentions(limit: 5)).mentions.last)
        _ = try await ben.perform(
            MarkRead(conversation: "ann", messages: [MessageReference(oldest.message.id)]))
        var shown: [String] = []
        var next: String?
        repeat {
            let page = try await ben.perform(ListMentions(limit: 2, from: next))
            shown += page.mentions.compactMap(\.message.text)
            next = page.next
        } while next != nil
        #expect(shown == ["@ben 4", "@ben 3", "@ben 2", "@ben 1", "@ben 0"])
        try await ann.perform(DeleteMessage(message: MessageReference(sent[4].id)))
        try await eventually("it is gone", on: [all.ben]) {
            try await ben.perform(ListMentions(limit: 5)).mentions.map(\.message.text)
                == ["@ben 3", "@ben 2", "@ben 1", "@ben 0"]
        }
        try await all.end()
    }

    /// Day 27: a conversation in which a clock had once been ahead came first for as long as that.
    @Test("the newest come first, also where a clock was ahead in one conversation before")
    func ahead() async throws {
        let clock = try SetClock()
        let all = try await Neighbours(ofBen: clock)
        try await all.gather(in: "club", saying: "hello")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        try clock.set(ahead: 7_200)
        try await ben.perform(SendMessages(conversation: "club", texts: ["ahead"]))
        try clock.set(ahead: 0)
        for (place, text) in [("club", "@ann one"), ("ann", "@ann two")] {
            try await ben.perform(SendMessages(conversation: place, texts: [text]))
            try await eventually("ann has it", on: [all.ann]) {
                try await ann.perform(ListMentions(limit: 5)).mentions.contains {
                    $0.message.text == text
                }
            }
        }
        let shown = try await ann.perform(ListMentions(limit: 5)).mentions.map(\.message.text)
        #expect(shown == ["@ann two", "@ann one"])
        try await all.end()
    }
}
