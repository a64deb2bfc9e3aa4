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
    @Test("is the minute in which it came, of what came late or from a clock that is behind")
    func received() {
        func place(_ written: UInt64, _ received: UInt64?) -> Views.ListPlace {
            Views.ListPlace(written: written, received: received)
        }
        let now = 500_000 * hour + 30_000
        // A clock that is five hours behind, beside a message of an hour ago that came at once.
        #expect(place(now - 5 * hour, now) > place(now - hour, now - hour))
        // It does not stand above what was just written.
        #expect(place(now - 5 * hour, now) < place(now, now + 1))
        // A device that was away three days receives two messages in the wrong order.
        #expect(place(now - 60 * hour, now + 2) < place(now - 50 * hour, now + 1))
        // A clock that was two hours ahead lifts nothing once its time has come.
        #expect(place(now + 2 * hour, now) < place(now + 2 * hour, now + 2 * hour))
        // What one wrote oneself, and what no receipt tells of.
        #expect(place(now, nil) > place(now - 1, nil))
    }
}
