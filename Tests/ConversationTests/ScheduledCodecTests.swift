import ParleyLedger
import ParleyWire
import Testing

@testable import ParleyConversation

/// Source: Protocol/05-identity.md, "Scheduled messages".
@Suite("What a message to be sent later says")
struct ScheduledCodecTests {
    private let device = DeviceID { $0[0] = 3 }
    private let space = SpaceID { $0[0] = 4 }

    @Test("comes back from its bytes, with whom it mentions")
    func codec() {
        let person = PersonID { $0[0] = 9 }
        let message = TextMessage(
            text: "@ben hi", mentions: Mentions([.init(person, at: 0..<4)]))
        var whole = ScheduledMessage(
            .init(1 << 63), at: Limits.wallClockMax - 1, on: device, to: space, message)
        for state in ScheduledMessage.State.allCases {
            whole.state = state
            #expect(ScheduledMessage(whole.preference) == whole)
        }
        let head = ScheduledMessage(.init(2), at: 5, on: device, to: space, TextMessage(text: "hi"))
            .preference.value.prefix(74)
        let zeros = [UInt8](repeating: 0, count: 31)
        #expect(Array(head) == [1, 1, 0, 0, 0, 0, 0, 0, 0, 5, 3] + zeros + [4] + zeros)
    }

    @Test("says nothing where it breaks a bound")
    func bounds() {
        let whole = ScheduledMessage(
            .init(2), at: 5, on: device, to: space, TextMessage(text: "hi"))
        func isRead(_ change: (inout Preference) -> Void) -> Bool {
            var said = whole.preference
            change(&said)
            return ScheduledMessage(said) != nil
        }
        #expect(isRead { _ in })
        #expect(!isRead { $0.value[0] = 2 })
        #expect(!isRead { $0.value[1] = 0 })
        #expect(!isRead { $0.value[1] = 3 })
        #expect(!isRead { $0.value[2] = 255 })
        #expect(!isRead { $0.value.removeLast($0.value.count - 60) })
        #expect(!isRead { $0.value.append(0xff) })
        #expect(!isRead { $0.topic = [] })
        #expect(ScheduledMessage(ScheduledMessage.removal(of: whole.id)) == nil)
        let most = ScheduledMessage.messageByteCountMax - 8
        let long = TextMessage(text: String(repeating: "x", count: most))
        let said = ScheduledMessage(.init(2), at: 5, on: device, to: space, long).preference
        #expect(said.value.count <= Preference.valueByteCountMax)
    }
}
