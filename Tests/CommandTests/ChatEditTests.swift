import Testing

@testable import LocalAPITests
@testable import Parley
@testable import parley

@Suite("What a chat keeps while one is elsewhere, and what it says")
struct ChatEditTests {
    private static let id = FakeNode.id

    private func chat(_ columns: Int = 60, _ rows: Int = 16) -> Chat {
        let chat = Chat(columns, rows, count: 4)
        var other = ConversationView.group("barn")
        other.id = String(repeating: "cd", count: 32)
        _ = chat.screen.take(.list([.group("hut"), other]))
        return chat
    }

    private func visitOther(_ chat: Chat) -> [ChatRequest] {
        let requests = chat.press(.control("k"), .text("barn"), .enter)
        #expect(chat.screen.composer.editor.isEmpty && chat.screen.composer.purpose == .message)
        chat.press(.control("k"), .text("hut"), .enter)
        chat.take(Chat.messages(1...4))
        return requests
    }

    /// Once the text of the edit was gone.
    @Test("an edit waits while another conversation is open, and the draft beside it is stored")
    func edit() {
        let chat = chat()
        chat.press(.text("half a thought"), .up, .text("e"), .text(" more"))
        let requests = visitOther(chat)
        #expect(requests.contains(.keepDraft(Self.id, text: "half a thought")))
        #expect(chat.has("editing #4") && chat.has("message 4 more"))
        #expect(chat.press(.enter) == [.edit(4, text: "message 4 more")])
        #expect(chat.screen.composer.editor.text == "half a thought")
    }

    @Test("a reply answers the same message once one is back", arguments: ["", "yes"])
    func reply(text: String) {
        let chat = chat()
        chat.press(.up, .up, .text("r"))
        if !text.isEmpty { chat.press(.text(text)) }
        _ = visitOther(chat)
        #expect(chat.has("↳ ben: message 3") && chat.screen.composer.editor.text == text)
    }

    @Test("whoever leaves is asked about edits that are not saved, here or elsewhere")
    func quitting() {
        let chat = chat()
        chat.press(.up, .text("e"))
        #expect(chat.press(.control("q")).contains(.quit), "nothing was changed")
        chat.press(.text("!"))
        #expect(chat.press(.control("q")).isEmpty)
        #expect(chat.has("Quit and drop your edit of #4? y/n"))
        #expect(chat.press(.text("n")).isEmpty && chat.has("message 4!"))
        chat.press(.control("k"), .text("barn"), .enter)
        #expect(chat.press(.control("q")).isEmpty && chat.has("your edit of #4"))
        #expect(chat.press(.text("y")).contains(.quit))
        let other = self.chat()
        other.press(.up, .text("e"), .text("!"))
        #expect(other.press(.control("q"), .control("q")).contains(.quit))
    }

    @Test("a message that was refused waits beside an edit")
    func refused() {
        let chat = chat()
        chat.press(.text("hello"), .enter)
        chat.press(.up, .text("e"))
        let sent = ChatMessage(conversation: Self.id, text: "hello")
        _ = chat.screen.take(.failed(.send(sent), NodeError("full", "The disk is full.")))
        #expect(chat.screen.composer.editor.text == "message 4")
        chat.press(.escape)
        #expect(chat.screen.composer.editor.text == "hello")
    }

    @Test("a deleted message is neither edited nor deleted again")
    func deleted() {
        let chat = chat()
        var messages = Chat.messages(1...4)
        (messages[3].isDeleted, messages[3].text) = (true, nil)
        chat.take(messages, at: .newest)
        chat.press(.up)
        #expect(chat.has("r reply") && !chat.has("e edit") && !chat.has("d delete"))
        for key in ["e", "d"] {
            #expect(chat.press(.text(key)).isEmpty && chat.has("That message was deleted."))
            #expect(chat.screen.mode == .plain)
        }
        chat.press(.up, .up)
        #expect(chat.has("e edit") && chat.has("d delete"))
    }

    @Test("a long notice is shown whole, and the messages make room")
    func notices() {
        let chat = chat()
        let words = (1...24).map { "word\($0)" }
        let error = NodeError("refused", words.joined(separator: " "))
        _ = chat.screen.take(.failed(.list, error))
        for word in words { #expect(chat.has(word), "\(word)") }
        #expect(chat.lines.count == 16 && chat.has("message 4"))
        #expect(chat.screen.frame().cursor?.row == 14)
        chat.press(.text("x"))
        #expect(!chat.has("word1") && chat.screen.frame().cursor?.row == 14)
    }

    @Test("help scrolls where it is longer than the window", arguments: [20, 50])
    func help(rows: Int) {
        let chat = chat(60, rows)
        chat.press(.help)
        let isShort = rows == 20
        #expect(chat.has("everywhere") && chat.has("as in Emacs") == !isShort)
        #expect(chat.has("↑↓ scroll") == isShort)
        chat.press(.down)
        #expect(chat.screen.mode == (isShort ? .help(from: 1) : .plain))
        guard isShort else { return }
        chat.press(.pageDown, .pageDown)
        #expect(chat.has("as in Emacs") && !chat.has("everywhere"))
        chat.press(.pageUp, .up)
        #expect(chat.has("everywhere"))
        chat.press(.escape)
        #expect(chat.screen.mode == .plain)
    }
}
