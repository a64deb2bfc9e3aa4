import ParleyLedger
import ParleyWire
import Testing

@testable import ParleyNodeCore

@Suite("When devices are reminded")
struct RemindersTests {
    private static let space = SpaceNumber(1)

    private static func device(_ byte: UInt8) throws -> DeviceID {
        try #require(DeviceID(Array(repeating: byte, count: 32)))
    }

    private static func reminders(count: UInt64?) -> Reminders {
        var reminders = Reminders()
        _ = reminders.setCount(count, of: space)
        return reminders
    }

    @Test("a count that changes is stored, one that does not is not")
    func stores() {
        var reminders = Reminders()
        let counts: [UInt64?] = [nil, 0, 0, 1, nil]
        let hasChanged = counts.map { reminders.setCount($0, of: Self.space) }
        #expect(hasChanged == [false, true, false, true, true])
        #expect(reminders.count(of: Self.space) == nil)
    }

    @Test(
        "the first comes after ten minutes, then 8 and 64 times as late, then once a day",
        arguments: zip([0, 1, 2, 3, 4, 29] as [UInt64], [1, 8, 64, 144, 144, 144] as [UInt64]))
    func delays(count: UInt64, times: UInt64) throws {
        let delay = try #require(
            Self.reminders(count: count).delay(of: Self.space, by: Self.device(0)))
        let whole = Reminders.delayMin * times
        #expect(times == 144 ? delay == Reminders.delayMax : whole..<whole * 5 / 4 ~= delay)
    }

    @Test("neither all spaces nor all devices have theirs at once")
    func spread() throws {
        var reminders = Self.reminders(count: 0)
        _ = reminders.setCount(0, of: SpaceNumber(2))
        let delays = [
            reminders.delay(of: Self.space, by: try Self.device(1)),
            reminders.delay(of: SpaceNumber(2), by: try Self.device(1)),
            reminders.delay(of: Self.space, by: try Self.device(2)),
        ]
        #expect(Set(delays).count == 3)
        #expect(reminders.delay(of: SpaceNumber(3), by: try Self.device(1)) == nil)
    }

    @Test("after so many times it is enough")
    func enough() {
        #expect(Self.reminders(count: 0).nextCount(of: Self.space) == 1)
        #expect(Self.reminders(count: 28).nextCount(of: Self.space) == 29)
        #expect(Self.reminders(count: 29).nextCount(of: Self.space) == nil)
        #expect(Self.reminders(count: nil).nextCount(of: Self.space) == nil)
    }

    private static func due(
        _ count: UInt64?, behind: [Int] = [], others: [Int] = []
    ) throws -> [Int] {
        try reminders(count: count)
            .due(behind: behind, others: others, of: space, by: device(0))
    }

    @Test("what others wrote is compared four times")
    func comparisons() throws {
        let due = try (0..<6).filter { try !Self.due($0, others: [7]).isEmpty }
        #expect(due == [0, 1, 2, 3])
        #expect(try Self.due(nil, behind: [1], others: [7]).isEmpty)
    }

    @Test("who never acknowledges keeps nobody from comparing")
    func comparisonsBesideReminders() throws {
        #expect(try Self.due(0, behind: [1], others: [7, 8, 9]) == [1, 7, 8])
        #expect(try Self.due(1, behind: [1, 2, 3, 4], others: [7, 8]).suffix(1) == [8])
        #expect(try Self.due(1, behind: [1, 2, 3, 4], others: [7, 8]).count == 4)
        #expect(try Self.due(4, behind: [1], others: [7, 8, 9]) == [1])
    }

    @Test("three devices are reminded at a time, the next three after them")
    func turns() throws {
        let all = Array(0..<5)
        #expect(try Self.due(0, behind: all) == [0, 1, 2])
        #expect(try Self.due(1, behind: all) == [3, 4, 0])
        #expect(try Self.due(0, behind: [7]) == [7])
        #expect(try Self.due(0).isEmpty)
    }

    @Test("a space that is forgotten is reminded of nothing")
    func forgets() {
        var reminders = Self.reminders(count: 3)
        reminders.forget(Self.space)
        #expect(reminders.count(of: Self.space) == nil)
    }
}
