import Foundation
@testable import Parley
@testable import ParleySearch
import Testing

@Suite("A search")
struct SearchTests {
    /// A node that knows a person, with these messages in the conversation with her.
    private func withMessages(
        _ texts: [String], models: String = "/nowhere",
        _ body: @Sendable (Node, [MessageView]) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let (node, _) = try await Node.create(
            NodeSettings(home: folder.home("ann"), models: models), name: "ann")
        let group = try await node.perform(CreateConversation(name: "hut", members: []))
        let sent = try await node.perform(SendMessages(conversation: group.id, texts: texts))
        try await body(node, sent)
        await node.shutdown()
    }

    private func found(_ node: Node, _ text: String) async throws -> [String] {
        try await node.perform(SearchMessages(text)).hits.map { $0.message.text ?? "" }
    }

    @Test("finds by words, the newest first, and says that it is by words alone")
    func words() async throws {
        let texts = ["the key hangs at the farm", "snow again", "who has the keys?"]
        try await withMessages(texts) { node, _ in
            let reply = try await node.perform(SearchMessages("key", isExplained: true))
            #expect(reply.hits.map(\.message.text) == [texts[2], texts[0]])
            #expect(reply.semantic == "unavailable")
            #expect(reply.notes.contains { $0.contains("only by words") })
            #expect(reply.hits[1].pieces.filter(\.isMatch).map(\.text) == ["key"])
            #expect(reply.hits.allSatisfy { $0.reason == "word" && $0.conversation == "hut" })
            #expect(reply.hits[0].explanation?.wordRank == 1)
            #expect(try await found(node, "\"at the farm\"") == [texts[0]])
            #expect(try await found(node, "key -farm") == [texts[2]])
            #expect(
                try await found(node, "key from:ann in:hut after:today") == [texts[2], texts[0]])
            #expect(try await found(node, "key from:nobody").isEmpty)
            #expect(try await found(node, "key before:2020").isEmpty)
            #expect(try await found(node, "after:today").count == 3)
        }
    }

    @Test("takes an identifier for whom it names, and never for a name")
    func authors() async throws {
        let texts = ["the key hangs at the farm", "who has the keys?"]
        try await withMessages(texts) { node, sent in
            let person = try #require(sent.first).person
            for author in [person, String(person.prefix(8)), person.prefix(12).uppercased()] {
                #expect(try await found(node, "key from:\(author)") == texts.reversed())
            }
            let other = (person.hasPrefix("0") ? "1" : "0") + person.dropFirst()
            let error = await #expect(throws: NodeError.self) {
                try await found(node, "key from:\(other)")
            }
            #expect(error?.code == "unknown-person")
        }
    }

    @Test("finds what is typed so far")
    func typing() async throws {
        try await withMessages(["databases everywhere", "nothing"]) { node, _ in
            let reply = try await node.perform(SearchMessages("datab", isTyping: true))
            #expect(reply.hits.count == 1)
            #expect(try await found(node, "datab").isEmpty)
            // Also where a letter or two were typed.
            for text in ["da", "d", "databases ev", "databases e"] {
                let reply = try await node.perform(SearchMessages(text, isTyping: true))
                #expect(reply.hits.count == 1, "\(text)")
            }
        }
    }

    @Test("finds a message by its newest text, and a deleted one never again")
    func changes() async throws {
        try await withMessages(["meet at the mill", "the mill is closed"]) { node, sent in
            #expect(try await found(node, "mill").count == 2)
            try await node.perform(
                EditMessage(message: MessageReference(sent[0].number), text: "meet at the bridge"))
            #expect(try await found(node, "mill") == ["the mill is closed"])
            #expect(try await found(node, "bridge") == ["meet at the bridge"])
            try await node.perform(DeleteMessage(message: MessageReference(sent[0].number)))
            #expect(try await found(node, "bridge").isEmpty)
            #expect(try await found(node, "meet").isEmpty)
            let broken = try await node.perform(CheckSearch()).checks.filter { !$0.isFine }
            #expect(broken.isEmpty)
        }
    }

    @Test("leads to where the message stands, and to its thread")
    func context() async throws {
        try await withMessages((0..<30).map { "line \($0)" }) { node, sent in
            let answers = try await node.perform(
                SendMessages(
                    conversation: "hut", texts: ["an answer"],
                    replyTo: MessageReference(sent[10].number)))
            let context = try await node.perform(
                GetContext(message: MessageReference(sent[10].number), limit: 10))
            #expect(context.page.messages.contains { $0.number == sent[10].number })
            #expect(context.page.messages.first?.number == sent[6].number)
            let thread = try await node.perform(
                GetContext(message: MessageReference(answers[0].number), limit: 4)
            ).thread
            #expect(thread.map(\.number) == [sent[10].number, answers[0].number])
            let hit = try #require(try await node.perform(SearchMessages("answer")).hits.first)
            let page = try await node.perform(
                ReadMessages(conversation: "hut", before: hit.cursor, limit: 5))
            #expect(page.messages.last?.number == hit.message.number)
        }
    }

    @Test("asks about more than the text: answers, changes, reactions, links")
    func messages() async throws {
        let texts = ["the mill burns", "no mill is here", "see https://example.org mill"]
        try await withMessages(texts) { node, sent in
            let answers = try await node.perform(
                SendMessages(
                    conversation: "hut", texts: ["which mill?"],
                    replyTo: MessageReference(sent[0].number)))
            try await node.perform(
                EditMessage(message: MessageReference(sent[1].number), text: "the old mill"))
            try await node.perform(
                ReactToMessage(message: MessageReference(sent[2].number), emoji: "🔥", on: true))
            #expect(try await found(node, "mill is:reply") == ["which mill?"])
            #expect(try await found(node, "is:reply") == ["which mill?"])
            #expect(try await found(node, "mill is:edited") == ["the old mill"])
            #expect(try await found(node, "has:reaction") == [texts[2]])
            #expect(try await found(node, "has:link") == [texts[2]])
            #expect(try await found(node, "is:reply has:reaction").isEmpty)
            try await node.perform(
                EditMessage(message: MessageReference(answers[0].number), text: "which one?"))
            #expect(try await found(node, "is:reply") == ["which one?"])
        }
    }

    @Test("shows the newest first, or the most telling")
    func order() async throws {
        let long = "the mill " + String(repeating: "and so on ", count: 20)
        try await withMessages(["mill, mill, mill!", "an old mill", long]) { node, _ in
            let newest = try await found(node, "mill")
            #expect(newest.first?.hasPrefix("the mill and") == true)
            let best = try await node.perform(SearchMessages("mill", order: .relevance))
            #expect(best.hits.first?.message.text == "mill, mill, mill!")
            #expect(best.hits.last?.message.text == newest.first)
        }
    }

    @Test("finds what was written since the last one, and letters of scripts without blanks")
    func growing() async throws {
        try await withMessages(["一緒に京都へ行きましょう", "我们明天见"]) { node, _ in
            #expect(try await found(node, "京都") == ["一緒に京都へ行きましょう"])
            #expect(try await found(node, "都京").isEmpty)
            for turn in 0..<5 {
                try await node.perform(SendMessages(conversation: "hut", texts: ["京都 \(turn)"]))
                #expect(try await found(node, "京都").first == "京都 \(turn)")
                #expect(try await found(node, "京都 after:today").count == turn + 2)
            }
        }
    }

    @Test("can be turned off, made anew, and tells what it costs")
    func care() async throws {
        try await withMessages(["one fish", "two fish"]) { node, _ in
            #expect(try await found(node, "fish").count == 2)
            try await node.perform(SetWordIndex(on: false))
            let reply = try await node.perform(SearchMessages("fish"))
            #expect(reply.hits.isEmpty && reply.notes.contains { $0.contains("off") })
            try await node.perform(SetWordIndex(on: true))
            #expect(try await found(node, "fish").count == 2)
            try await node.perform(RebuildSearch())
            #expect(try await found(node, "fish").count == 2)
            let words = try #require(try await node.perform(GetSearchStats()).indexes.first)
            #expect(words.state == "on" && words.byteCount > 0)
            #expect(words.indexed == words.held)
        }
    }

    @Test("tells how far it is while it compares the indexes with what is held")
    func progress() async throws {
        try await withMessages(["one fish", "two fish"]) { node, _ in
            #expect(try await found(node, "fish").count == 2)
            let changes = try await node.changes()
            try await node.perform(CheckSearch())
            // The newest step replaces those that nobody has read: whichever it was, it was told.
            for await change in changes {
                guard let work = change.search else { continue }
                #expect((0...work.count).contains(work.done) && work.count > 0)
                break
            }
        }
    }

    @Test("that cannot be read is refused with a hint")
    func refusals() async throws {
        try await withMessages(["one"]) { node, sent in
            for text in [
                "", "\"\"", "key from:", "before:soon", "has:hope", "is:late", "in:nowhere",
                String(repeating: "a", count: 2000),
            ] {
                await #expect(throws: NodeError.self) { try await found(node, text) }
            }
            let error = await #expect(throws: NodeError.self) {
                try await node.perform(
                    FindSimilar(message: MessageReference(sent[0].number), limit: 3))
            }
            #expect(error?.code == "no-model")
        }
    }

    @Test("a model whose files were changed is named, and words are found all the same")
    func damagedModel() async throws {
        let folder = try TemporaryFolder()
        let models = ModelFolder(folder.home("models"))
        let place = URL(filePath: models.folder(of: ModelPackage.miniLM))
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        try Data(models.markText(ModelPackage.miniLM).utf8).write(
            to: place.appending(path: "verified"))
        try await withMessages(["my cat is ill", "buy bread"], models: models.path) { node, _ in
            for _ in 0..<2 {
                let reply = try await node.perform(SearchMessages("cat"))
                #expect(reply.hits.map(\.message.text) == ["my cat is ill"])
                #expect(reply.semantic == "damaged")
                let note = try #require(reply.notes.first { $0.contains("minilm") })
                #expect(note.contains("`parley model install minilm`"), "\(note)")
            }
        }
    }

    private static let models = ModelFolder.usual(ProcessInfo.processInfo.environment)
    private static let hasModel = ModelFolder(models).isInstalled(ModelPackage.useM3)

    @Test(
        "finds by meaning where a model is, in other words and other languages, never what is gone",
        .enabled(if: hasModel, "the model is not installed"))
    func meaning() async throws {
        let texts = [
            "the meeting is moved to tomorrow at three", "my cat is ill", "buy bread and milk",
            "the server is down again", "who wants to go swimming?",
        ]
        try await withMessages(texts, models: Self.models) { node, sent in
            try await node.indexer.followMeaning()
            let reply = try await node.perform(SearchMessages("¿cuándo es la reunión?"))
            #expect(reply.semantic == "available")
            #expect(reply.hits.first?.message.text == texts[0])
            #expect(reply.hits.first?.reason == "meaning")
            try await node.perform(DeleteMessage(message: MessageReference(sent[0].number)))
            let after = try await node.perform(SearchMessages("¿cuándo es la reunión?"))
            #expect(after.hits.allSatisfy { $0.message.number != sent[0].number })
            #expect(
                try await node.perform(GetSearchStats()).indexes.dropFirst()
                    .filter { $0.state == "on" }.allSatisfy { $0.rows == 4 })
        }
    }

    @Test(
        "a word that nobody wrote and no model knows finds nothing, and neither does what is far off",
        .enabled(if: hasModel, "the model is not installed"))
    func unheardOf() async throws {
        let texts = [
            "hrm", "lol", "docs for the webhook signature are wrong", "my cat is ill", "hbnt",
            "the asdfqwerty again", "the server is down again", "who wants to go swimming?",
        ]
        try await withMessages(texts, models: Self.models) { node, sent in
            try await node.indexer.followMeaning()
            let reply = try await node.perform(SearchMessages("xyzzyqwert"))
            #expect(reply.hits.isEmpty && reply.semantic == "available")
            #expect(reply.notes.contains { $0.hasPrefix("Nobody wrote “xyzzyqwert”") })
            #expect(
                try await node.perform(SearchMessages("what is the capital of Peru?")).hits.isEmpty)
            // What somebody wrote is looked for, whatever a model knows of it.
            let written = try await node.perform(SearchMessages("asdfqwerty"))
            #expect(written.hits.first?.reason == "both" && written.notes.isEmpty)
            // Nor does one such word silence others.
            let ill = try await node.perform(SearchMessages("xyzzyqwert sick pet"))
            #expect(ill.hits.first?.message.text == "my cat is ill")
        }
    }

    @Test(
        "somebody who types is answered at once, and by meaning once that is in memory",
        .enabled(if: hasModel, "the model is not installed"))
    func loading() async throws {
        try await withMessages(["my cat is ill", "buy bread"], models: Self.models) { node, _ in
            try await node.indexer.followMeaning()
            for _ in 0..<2 {
                let first = try await node.perform(SearchMessages("cat", isTyping: true))
                #expect(first.semantic == "loading" && first.hits.map(\.reason) == ["word"])
                #expect(first.notes.contains { $0.contains("read into memory") })
                // Who has finished waits for what was begun.
                #expect(try await node.perform(SearchMessages("cat")).semantic == "available")
                let last = try await node.perform(SearchMessages("cat", isTyping: true))
                #expect(last.semantic == "available" && last.hits.first?.reason == "both")
                await node.desk.forget()
            }
        }
    }

    @Test(
        "no model is in memory where nothing has to be indexed",
        .enabled(if: hasModel, "the model is not installed"))
    func idle() async throws {
        try await withMessages(["my cat is ill"], models: Self.models) { node, sent in
            try await node.indexer.followMeaning()
            #expect(await node.indexer.workerCount > 0)
            await node.indexer.letGo()
            try await node.indexer.followMeaning()
            // Nor for what is no text.
            try await node.perform(
                ReactToMessage(message: MessageReference(sent[0].number), emoji: "🔥", on: true))
            try await node.indexer.followMeaning()
            #expect(await node.indexer.workerCount == 0)
            let indexes = try await node.perform(GetSearchStats()).indexes
            #expect(indexes.allSatisfy { $0.indexed == $0.held || $0.name == "words" })
        }
    }
}
