import Foundation
import Parley
import ParleyLocalAPI
import Testing

@Suite("The assistant over real nodes", .serialized, .timeLimit(.minutes(3)))
struct AssistantProcessTests {
    private func run(_ words: String..., at node: NodeProcess) async throws -> String {
        let program = try Program(words + ["--home", node.home])
        #expect(try await program.ended() == 0, "\(words): \(program.output)")
        return program.output
    }

    private static let talk = [
        "We decided to take the night train to the mountains.",
        "I'll book the beds on the night train for everybody by 2099-01-05.",
        "@ann, do you still have the big tent from last summer?",
    ]

    @Test("it cites what was said, takes and dismisses suggestions, and forgets what is deleted")
    func whole() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "welcome")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        let sent = try await ben.perform(SendMessages(conversation: "club", texts: Self.talk))
        let ids = sent.map(\.id)
        try await eventually("ann has all", on: [all.ann]) {
            try await ann.perform(ReadMessages(conversation: "club", limit: 9)).messages.count == 4
        }
        let summary = try await ann.perform(Summarize(conversation: "club", count: 3))
        #expect(summary.points.map(\.id) == ids && summary.points.map(\.text) == Self.talk)
        #expect(summary.looked.messageCount == 4 && !summary.looked.hasMore)
        let missed = try await ann.perform(CatchUp())
        #expect(missed.parts.map(\.title) == ["club"])
        #expect(missed.parts.first?.urgent.map(\.line.id) == [ids[2]])
        #expect(missed.parts.first?.urgent.map(\.reason) == ["mention"])
        #expect(missed.parts.first?.decisions.map(\.id) == [ids[0]])
        let open = try await ann.perform(ListOpenQuestions(conversation: "club"))
        #expect(open.questions.map(\.line.id) == [ids[2]] && open.questions[0].isToMe)
        let tasks = try await ann.perform(SuggestItems(conversation: "club"))
        #expect(tasks.suggestions.map(\.line.id) == [ids[1]])
        #expect(tasks.suggestions.map(\.assigneeName) == ["ben"])
        #expect(tasks.suggestions.map(\.due) == ["2099-01-05"])

        let number = try #require(tasks.suggestions.first?.line.number)
        let taken = try await run("action", "suggest", "club", "--take", "\(number)", at: all.ann)
        #expect(taken.contains("☐ I'll book the beds"), "\(taken)")
        #expect(taken.contains("ben, due 2099-01-05"), "\(taken)")
        #expect(try await ann.perform(ListItems()).map(\.source) == [ids[1]])
        try await eventually("ben is not told to make it again", on: [all.ben]) {
            try await ben.perform(SuggestItems(conversation: "club")).suggestions.isEmpty
        }
        try await dismissAndDelete(all, ids)
        try await all.end()
    }

    private func dismissAndDelete(_ all: Neighbours, _ ids: [String]) async throws {
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        let decisions = try await ann.perform(SuggestDecisions(conversation: "club"))
        #expect(decisions.suggestions.map(\.line.id) == [ids[0]])
        _ = try await run("decision", "suggest", "club", "--dismiss", ids[0], at: all.ann)
        #expect(try await run("decision", "suggest", "club", at: all.ann).contains("nothing is"))
        // On this device alone, and until the message says something else.
        #expect(
            try await ben.perform(SuggestDecisions(conversation: "club")).suggestions.count == 1)
        try await ben.perform(
            EditMessage(message: MessageReference(ids[0]), text: "We decided to take the bus."))
        try await eventually("it is suggested again", on: [all.ann]) {
            try await ann.perform(SuggestDecisions(conversation: "club")).suggestions
                .map(\.line.text) == ["We decided to take the bus."]
        }
        for id in ids { try await ben.perform(DeleteMessage(message: MessageReference(id))) }
        try await eventually("all is gone for ann", on: [all.ann]) {
            try await ann.perform(ReadMessages(conversation: "club", limit: 9)).messages
                .count(where: \.isDeleted) == 3
        }
        for words in [
            ["summary", "club"], ["catchup"], ["questions", "club"], ["action", "suggest", "club"],
            ["decision", "suggest", "club"], ["ask", "do we take the night train?"],
        ] {
            let program = try Program(words + ["--json", "--home", all.ann.home])
            #expect(try await program.ended() == 0)
            for id in ids { #expect(!program.output.contains(id), "\(words): \(program.output)") }
            #expect(!program.output.contains("night train"), "\(words): \(program.output)")
        }
    }

    @Test("more messages than are looked at, times, threads and zones that are none")
    func bounds() async throws {
        let folder = try TemporaryFolder()
        let made = try await Program.run("init", "--name", "ann", "--home", folder.home("a"))
        #expect(made.status == 0, "\(made.output)")
        let node = try await Node.open(NodeSettings(home: folder.home("a")))
        try await node.perform(CreateConversation(name: "notes", members: []))
        let first = try await node.perform(
            SendMessages(conversation: "notes", texts: ["We decided to go by train this time."]))
        let answer = try await node.perform(
            SendMessages(
                conversation: "notes", texts: ["I'll buy the tickets for the early train."],
                thread: MessageReference(first[0].id)))
        _ = try await node.perform(
            SendMessages(conversation: "notes", texts: ["The cat sleeps on the warm window."]))
        let thread = try await node.perform(
            Summarize(conversation: "notes", thread: MessageReference(answer[0].id), count: 5))
        #expect(thread.points.map(\.id) == [first[0].id, answer[0].id])
        let later = try await node.perform(
            Summarize(conversation: "notes", since: first[0].time + 3_600_000))
        #expect(later.points.isEmpty && later.looked.messageCount == 0)
        let before = try await node.perform(
            Summarize(conversation: "notes", until: first[0].time))
        #expect(before.points.isEmpty)
        let row = ImportMessages.Row(
            line: 1, author: "bob", time: 1_700_000_000_000,
            text: "I'll bring the old lantern tomorrow.", isAction: false)
        _ = try await node.perform(
            ImportMessages(
                conversation: "notes", fileHash: String(repeating: "a", count: 64),
                throughLine: 1, rows: [row]))
        let foreign = try await node.perform(SuggestItems(conversation: "notes", zone: "GMT"))
            .suggestions.filter { $0.line.author == "bob" }
        #expect(foreign.map(\.assignee) == [nil] && foreign.map(\.line.isOwn) == [false])
        #expect(foreign.map(\.due) == ["2023-11-15"])
        await #expect(throws: NodeError.self) {
            try await node.perform(SuggestItems(conversation: "notes", zone: "Moon/Sea"))
        }
        await #expect(throws: NodeError.self) {
            try await node.perform(Summarize(conversation: "notes", count: 51))
        }
        await #expect(throws: NodeError.self) {
            try await node.perform(DismissSuggestion(kind: .item, message: 1, sentence: -1))
        }
        await node.shutdown()
    }
}
