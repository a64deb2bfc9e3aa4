import ParleyLedger
import ParleyWire
import Testing

@testable import ParleyConversation

/// Source: Protocol/05-identity.md, "Reminders".
@Suite("What a reminder says")
struct ReminderCodecTests {
    private let operation = OperationReference(
        tag: LogTag(7), sequence: 8, check: Check(high: 9, low: 10))
    private let device = DeviceID { $0[0] = 3 }

    @Test("comes back from its bytes")
    func codec() {
        let space = SpaceID { $0[0] = 4 }
        var whole = Reminder(
            Reminder.ID(1 << 63), at: Limits.wallClockMax - 1, on: device,
            about: .init(space: space, operation: operation),
            text: String(repeating: "x", count: Limits.reminderByteCountMax))
        for state in Reminder.State.allCases {
            whole.state = state
            #expect(Reminder(whole.preference) == whole)
        }
        whole.text = ""
        #expect(Reminder(whole.preference) == whole)
        let bytes = Reminder(Reminder.ID(2), at: 5, on: device, text: "hi").preference.value
        #expect(
            bytes == [1, 1, 0, 0, 0, 0, 0, 0, 0, 5, 3] + [UInt8](repeating: 0, count: 31)
                + [0, 104, 105])
    }

    @Test("Attack 209: says nothing where it breaks a bound")
    func bounds() {
        let whole = Reminder(
            Reminder.ID(2), at: 5, on: device,
            about: .init(space: SpaceID { _ in }, operation: operation),
            text: "hi")
        func isRead(_ change: (inout Preference) -> Void) -> Bool {
            var said = whole.preference
            change(&said)
            return Reminder(said) != nil
        }
        #expect(isRead { _ in })
        #expect(!isRead { $0.value[0] = 2 })
        #expect(!isRead { $0.value[1] = 0 })
        #expect(!isRead { $0.value[1] = 4 })
        #expect(!isRead { $0.value[2] = 255 })
        #expect(!isRead { $0.value[42] = 2 })
        #expect(!isRead { $0.value[43 + 32 + 8] = 255 })
        #expect(!isRead { $0.value.append(0xff) })
        #expect(!isRead { $0.value += [UInt8](repeating: 120, count: 1_024) })
        #expect(!isRead { $0.value.removeLast($0.value.count - 60) })
        #expect(!isRead { $0.topic.append(0) })
        #expect(!isRead { $0.topic = [] })
        let empty = Reminder(Reminder.ID(2), at: 5, on: device, text: "")
        #expect(Reminder(empty.preference) == nil)
        #expect(Reminder(Reminder.removal(of: whole.id)) == nil)
    }
}
