import Testing

@testable import Parley

@Suite("Where a conversation stands among others")
struct ListTimeTests {
    private let hour: UInt64 = 3_600_000

    @Test("is by its newest message, whose clock was behind or ahead")
    func listTime() {
        let now = 500_000 * hour
        func time(stand: UInt64, written: UInt64) -> UInt64? {
            Views.listTime(stand: stand << 16, written: written, latest: now)
        }
        #expect(time(stand: now - hour, written: now - hour) == now - hour)
        // What is answered was written by a clock that is further than this one.
        #expect(time(stand: now - hour, written: now - 2 * hour) == now - hour)
        // The clock was a year behind before, and so are the stands of all that was said there.
        #expect(time(stand: now - 8_000 * hour, written: now - hour) == now - hour)
        // Something said there before stands in the future.
        #expect(time(stand: now + hour, written: now - hour) == now - hour)
        #expect(time(stand: now - hour, written: now + hour) == now - hour)
        #expect(time(stand: now + hour, written: now + hour) == nil)
    }
}
