import ParleyConversation
import Testing

@Suite("Message states")
struct MessageStateTests {
    @Test("saved comes before delivered, and that before read")
    func order() {
        #expect(MessageState.saved < .delivered)
        #expect(MessageState.delivered < .read)
        #expect(!(MessageState.read < .saved))
    }
}
