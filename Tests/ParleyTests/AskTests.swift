import Foundation
import ParleySearch
import Testing

@testable import Parley

@Suite("A question")
struct AskTests {
    /// A node with these messages in a conversation, and others in a second one.
    private func withMessages(
        _ texts: [String], elsewhere: [String] = [],
        _ body: @Sendable (Node, [MessageView]) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let (node, _) = try await Node.create(
            NodeSettings(home: folder.home("ann"), models: "/nowhere"), name: "ann")
        for name in ["hut", "farm"] {
            try await node.perform(CreateConversation(name: name, members: []))
        }
        let sent = try await node.perform(SendMessages(conversation: "hut", texts: texts))
        if !elsewhere.isEmpty {
            try await node.perform(SendMessages(conversation: "farm", texts: elsewhere))
        }
        try await body(node, sent)
        await node.shutdown()
    }

    private func answers(_ node: Node, _ request: AskQuestion) async throws -> [String] {
        try await node.perform(request).passages.map(\.text)
    }

    @Test("is answered by the most relevant passages, not the newest, each with its source")
    func relevance() async throws {
        let texts = [
            "The key of the cellar hangs behind the door.",
            "The key of my car is somewhere, and the cellar is cold, and I do not know where "
                + "anything of all that is at this time of the year.",
            "Snow again.", "What a cellar!",
        ]
        try await withMessages(texts, elsewhere: ["Nothing of it."]) { node, sent in
            let reply = try await node.perform(AskQuestion("where is the key of the cellar?"))
            #expect(reply.passages.map(\.text).prefix(2) == texts.prefix(2))
            let first = try #require(reply.passages.first)
            #expect(first.id == sent[0].id && first.number == sent[0].number)
            #expect(first.title == "hut" && first.author == "ann" && first.isOwn)
            #expect(first.time == sent[0].time && first.reason == "word" && !first.isCut)
            #expect(first.pieces.filter(\.isMatch).map(\.text) == ["key", "cellar"])
            #expect(reply.semantic == "unavailable")
            let page = try await node.perform(
                ReadMessages(conversation: "hut", before: first.cursor, limit: 1))
            #expect(page.messages.map(\.id) == [sent[0].id])
        }
    }

    @Test("is answered where a word of it is missing, and not where the telling one is")
    func covering() async throws {
        let texts = [
            "The train goes at nine.", "Leave the keys.", "the keys, the keys", "Leave me.",
        ]
        try await withMessages(texts) { node, _ in
            #expect(
                try await answers(node, AskQuestion("when does the train leave?")) == [texts[0]])
            let none = try await node.perform(AskQuestion("when does the zeppelin leave?"))
            #expect(none.passages.isEmpty)
            #expect(try await answers(node, AskQuestion("\"the train\" zeppelin")) == [])
            #expect(try await answers(node, AskQuestion("train -nine leave")).isEmpty)
        }
    }

    @Test("is answered by whom, where and when it says")
    func filters() async throws {
        let row = ImportMessages.Row(
            line: 1, author: "bob", time: 1_700_000_000_000, text: "The lantern is in the barn.",
            isAction: false)
        try await withMessages(["The lantern burns."], elsewhere: ["A lantern, too."]) { node, _ in
            _ = try await node.perform(
                ImportMessages(
                    conversation: "farm", fileHash: String(repeating: "a", count: 64),
                    throughLine: 1, rows: [row]))
            func asked(_ change: (inout AskQuestion) -> Void) async throws -> [String] {
                var request = AskQuestion("where is the lantern?", limit: 9)
                change(&request)
                return try await answers(node, request)
            }
            #expect(try await asked { _ in }.count == 3)
            #expect(try await asked { $0.conversation = "hut" } == ["The lantern burns."])
            #expect(try await asked { $0.person = "bob" } == [row.text])
            #expect(try await asked { $0.person = "me" }.count == 2)
            #expect(try await asked { $0.until = 1_700_000_000_001 } == [row.text])
            #expect(try await asked { $0.since = 1_700_000_000_001 }.count == 2)
            #expect(try await asked { $0.limit = 1 }.count == 1)
            // What the request says holds in place of what the question says.
            let other = AskQuestion("lantern in:farm", conversation: "hut", limit: 9)
            #expect(try await answers(node, other) == ["The lantern burns."])
            for (request, code) in [
                (AskQuestion(" "), "bad-search"), (AskQuestion("in:hut"), "bad-question"),
                (AskQuestion("a", limit: 0), "bad-limit"),
                (AskQuestion("a", limit: 21), "bad-limit"),
                (AskQuestion("a", person: String(repeating: "a", count: 70_000)), "bad-search"),
                (AskQuestion("a", conversation: "nowhere"), "unknown-conversation"),
                (AskQuestion(String(repeating: "a", count: 2_000)), "bad-search"),
            ] {
                let error = await #expect(throws: NodeError.self) {
                    try await node.perform(request)
                }
                #expect(error?.code == code, "\(request.question.prefix(9))")
            }
        }
    }

    @Test(
        "is answered by the part of a long message that says it, and by no deleted or former text")
    func passages() async throws {
        let padding = String(repeating: "Nothing of note was said about the weather. ", count: 40)
        let long = padding + "The ladder leans at the old mill. " + padding
        try await withMessages([long, "Ladder, ladder."]) { node, sent in
            let reply = try await node.perform(AskQuestion("where does the ladder lean?"))
            let first = try #require(reply.passages.first)
            #expect(first.text.contains("leans at the old mill") && first.isCut)
            #expect(first.text.utf8.count <= Passage.byteCountMax)
            #expect(first.pieces.map(\.text).joined() == first.text)
            try await node.perform(
                EditMessage(message: MessageReference(sent[0].number), text: "Never mind."))
            #expect(try await answers(node, AskQuestion("where does the ladder lean?")) == [])
            try await node.perform(DeleteMessage(message: MessageReference(sent[1].number)))
            #expect(try await answers(node, AskQuestion("ladder")) == [])
        }
    }

    @Test("Attack 360: thousands of messages with a word of a question hide no answer to it")
    func flood() async throws {
        try await withMessages(["The generator runs on diesel."]) { node, _ in
            for part in 0..<3 {
                let noise = (0..<500).map { "Generator \(part)-\($0), generator, generator." }
                try await node.perform(SendMessages(conversation: "farm", texts: noise))
            }
            let found = try await answers(
                node, AskQuestion("what does the generator run on, diesel?"))
            #expect(found.first == "The generator runs on diesel.")
        }
    }
}

@Suite("A passage")
struct PassageTests {
    private static func piece(_ text: String, _ isMatch: Bool = false) -> SearchHit.Piece {
        SearchHit.Piece(text: text, isMatch: isMatch)
    }

    @Test("is all of a short message, and within its bound of any other, in whole letters")
    func bounds() {
        let short = Passage([Self.piece("the "), Self.piece("key", true)])
        #expect(short.text == "the key" && !short.isCut && short.pieces.count == 2)
        for filler in ["ä", "😀", "a. ", "\n", "word "] {
            for count in [199, 700, 5_000] {
                let text = String(repeating: filler, count: count)
                let passage = Passage([Self.piece(text), Self.piece("key", true), Self.piece(text)])
                #expect(passage.text.utf8.count <= max(Passage.byteCountMax, 603))
                #expect(!passage.text.contains("\u{FFFD}"), "\(filler)")
                #expect(passage.pieces.map(\.text).joined() == passage.text)
                guard passage.isCut, filler != "\n" else { continue }
                #expect(passage.pieces.filter(\.isMatch).map(\.text) == ["key"], "\(filler)")
            }
        }
        #expect(Passage([]).text.isEmpty)
    }
}
