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
                && ended.hint?.hasSuffix("parley chat \(Self.id.prefix(8))") == true)
        chat.press(.text("half a sentence"))
        #expect(chat.screen.nodeEnded.message.contains("“half a sentence”"))
    }
}
