import Synchronization
import Testing

@testable import LocalAPITests
@testable import Parley
@testable import parley

@Suite("What stands between messages in a chat, and its end")
struct ChatEventTests {
    private static let id = FakeNode.id

    @Test("what comes below an event is shown below it, before it is known anew where that stands")
    func belowAnEvent() {
        let chat = Chat(60, 30, count: 3)
        _ = chat.screen.take(.notes(Self.id, [MessageLines.Note(0, nil, "", "ben voted")]))
        var page = ChatPage()
        page.messages = Chat.messages(1...4)
        let answer = ChatAnswer.page(Self.id, .refresh, page, unreadID: nil)
        #expect(chat.screen.take(answer) == [.notes(Self.id)])
        let texts = ["message 3", "ben voted", "message 4"]
        #expect(chat.lines.compactMap { line in texts.first { line.contains($0) } } == texts)
    }

    @Test("one's own words come below an event that stood below messages not loaded yet")
    func belowUnloaded() {
        let chat = Chat(60, 30)
        var page = ChatPage()
        page.messages = Chat.messages(1...3)
        page.belowCount = 2
        _ = chat.screen.take(.page(Self.id, .unread, page, unreadID: page.messages[1].id))
        _ = chat.screen.take(.notes(Self.id, [MessageLines.Note(0, nil, "", "ben voted")]))
        var newest = ChatPage()
        newest.messages = Chat.messages(4...6)
        newest.aboveCount = 3
        let answer = ChatAnswer.page(Self.id, .newest, newest, unreadID: nil)
        #expect(chat.screen.take(answer) == [.notes(Self.id)])
        let texts = ["message 5", "ben voted", "message 6"]
        #expect(chat.lines.compactMap { line in texts.first { line.contains($0) } } == texts)
    }

    @Test("the first message of all is shown below the event that was there before it")
    func firstBelowAnEvent() {
        let chat = Chat(60, 30)
        chat.take([], at: .newest)
        _ = chat.screen.take(.notes(Self.id, [MessageLines.Note(0, nil, "", "ben voted")]))
        var page = ChatPage()
        page.messages = Chat.messages(1...1)
        let answer = ChatAnswer.page(Self.id, .refresh, page, unreadID: nil)
        #expect(chat.screen.take(answer) == [.notes(Self.id)])
        let texts = ["ben voted", "message 1"]
        #expect(chat.lines.compactMap { line in texts.first { line.contains($0) } } == texts)
    }

    @Test("what was being written when the node ends is named, with the conversation")
    func written() {
        let chat = Chat(60, 30, count: 1)
        let ended = chat.screen.nodeEnded
        #expect(
            ended.message == "The node has stopped."
                && ended.hint?.hasSuffix("`parley chat \(Self.id.prefix(8))`.") == true)
        chat.press(.text("half a sentence"))
        #expect(chat.screen.nodeEnded.message.contains("“half a sentence”"))
    }

    /// The desk of a chat whose node ends before it answers, once it was told two messages.
    private func lost(_ gone: FakeNode = FakeNode()) async -> ChatDesk {
        gone.answer(SendMessages.self) { state, request in
            state.calls.append(request.once ?? "-")
            throw NodeError("connection-lost", "The node is gone.")
        }
        let desk = ChatDesk(gone) { _ in }
        for text in ["one", "two"] {
            await desk.take(.send(ChatMessage(conversation: Self.id, text: text)))
        }
        await desk.finish()
        return desk
    }

    @Test("what was entered and not answered is asked for again, under the same keys")
    func asksAgain() async throws {
        let (gone, next) = (FakeNode(), FakeNode())
        let desk = await lost(gone)
        next.answer(SendMessages.self) { state, request in
            state.calls.append(request.once ?? "-")
            return []
        }
        let again = ChatDesk(next) { _ in }
        await again.askAgain(await desk.unanswered)
        #expect(await again.unanswered.isEmpty)
        let (first, second) = (gone.state.withLock(\.calls), next.state.withLock(\.calls))
        #expect(first == second && Set(first).count == 2 && !first.contains("-"))
    }

    @Test("a text that no node is there for is named, with its conversation and what to do")
    func unknown() async throws {
        var end = ChatEnd(reason: NodeError("node-stopped", "The node has stopped."))
        end.unanswered = await lost().unanswered
        end.names = [Self.id: "hut"]
        let error = try #require(end.error as? NodeError)
        let place = "in hut (\(Self.id.prefix(8)))"
        #expect(
            error.message == "The node has stopped. It is not known whether this was saved: "
                + "“one” \(place); “two” \(place)")
        #expect(error.hint?.contains("`parley read \(Self.id.prefix(8))` shows") == true)
        #expect(ChatEnd().error == nil)
    }

    @Test("a conversation whose name looks like another's is told apart wherever it is named")
    func alike() {
        let chat = Chat(120, 30, count: 1)
        var (group, other) = (ConversationView.group("hut"), ConversationView.group("hut"))
        other.id = String(group.id.reversed())
        group.resembles = ["hut (\(other.id.prefix(8)))"]
        other.resembles = ["hut (\(group.id.prefix(8)))"]
        _ = chat.screen.take(.list([group, other]))
        let names = [group, other].map { "hut (\($0.id.prefix(8)))" }
        let list = chat.lines.map { $0.dropFirst(2) }
        #expect(names.allSatisfy { name in list.contains { $0.hasPrefix(name) } })
        #expect(chat.has(" \(names[0]) · not \(names[1]), whose name looks the same"))
        chat.press(.control("k"))
        #expect(names.allSatisfy { name in chat.lines.contains { $0.hasSuffix(name) } })
    }

    @Test("a text that may be saved does not stand there again as one that is being written")
    func notGivenBack() {
        let chat = Chat(60, 30, count: 1)
        let sent = ChatMessage(conversation: Self.id, text: "hello")
        _ = chat.screen.take(.failed(.send(sent), NodeError("connection-lost", "It is gone.")))
        #expect(chat.screen.composer.editor.isEmpty)
    }

    @Test("what stands between messages is below the line of its day, also where it is alone")
    func dayOfNote() {
        let chat = Chat(60, 30, count: 1)
        var messages = Chat.messages(1...2)
        messages[1].time += 2 * 86_400_000
        chat.take(messages, at: .newest)
        let (first, second) = (messages[0].time, messages[1].time)
        let notes = [
            MessageLines.Note(first + 1, messages[1].id, "", "ben joined"),
            MessageLines.Note(second - 1, messages[1].id, "", "ben voted"),
        ]
        _ = chat.screen.take(.notes(Self.id, notes))
        let days = [Clock().day(first), Clock().day(second)]
        func shown() -> [String] {
            let texts = days + ["message 1", "ben joined", "ben voted", "message 2"]
            return chat.lines.compactMap { line in texts.first { line.contains($0) } }
        }
        #expect(
            shown() == [days[0], "message 1", "ben joined", days[1], "ben voted", "message 2"])
        chat.take([], at: .newest)
        _ = chat.screen.take(.notes(Self.id, [MessageLines.Note(second, nil, "", "ben voted")]))
        #expect(shown() == [days[1], "ben voted"])
    }

    @Test("a message longer than the screen is read once its beginning and its end were shown")
    func longMessage() {
        let chat = Chat(60, 16, count: 2)
        var long = Chat.messages(3...3)[0]
        long.text = (1...40).map { "line \($0)" }.joined(separator: "\n")
        chat.take(Chat.messages(1...2) + [long])
        func marked() -> [MessageReference] {
            chat.screen.noteShown().flatMap { request -> [MessageReference] in
                if case .markRead(_, let messages, _) = request { messages } else { [] }
            }
        }
        #expect(chat.has("line 40") && !chat.has("line 1 "))
        #expect(!marked().contains(MessageReference(3)))
        chat.press(.pageUp, .pageUp, .pageUp, .pageUp, .pageUp)
        #expect(chat.has("line 1"))
        #expect(!marked().contains(MessageReference(3)))
        chat.press(.end)
        #expect(marked() == [MessageReference(3)])
    }

    @Test("a draft waits for an edit to end, whether it is sent, dropped or refused")
    func editBesideDraft() throws {
        for end in [Key.escape, .enter] {
            let chat = Chat(count: 2)
            chat.press(.text("half a thought"))
            chat.press(.up, .text("e"), .text(" more"))
            #expect(chat.screen.composer.editor.text == "message 2 more")
            let requests = chat.press(end)
            #expect(chat.screen.composer.editor.text == "half a thought")
            guard let edit = requests.first(where: { if case .edit = $0 { true } else { false } })
            else { continue }
            _ = chat.screen.take(.failed(edit, NodeError("full", "The disk is full.")))
            #expect(chat.screen.composer.editor.text == "message 2 more")
            chat.press(.escape)
            #expect(chat.screen.composer.editor.text == "half a thought")
        }
    }

    @Test("what is left half-written and cannot be kept is named when the chat ends")
    func unkeptDraft() throws {
        let inbox = ChatInbox()
        let error = NodeError("too-long", "That is 2500 bytes long.", hint: "Shorten it.")
        inbox.add(.answer(.failed(.keepDraft("0123456789abcdef", text: "a long story"), error)))
        inbox.add(.answer(.failed(.keepDraft("0123456789abcdef", text: ""), error)))
        let end = ChatEnd(refused: inbox.takeRefusals())
        let reason = try #require(end.error as? NodeError)
        #expect(reason.message == "Not sent: “a long story” in 01234567: That is 2500 bytes long.")
        #expect(reason.hint == "Shorten it.")
    }
}
