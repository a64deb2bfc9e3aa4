import ParleyLedger
import ParleySealing
import ParleyWire
import Testing

@testable import ParleyNodeCore

@Suite("Requests for missing payloads")
struct BodyRequestsTests {
    private static let links = (1...3).map { LinkID($0) }

    /// Requests of which so many rounds in a row brought nothing.
    private static func requests(fruitlessRounds count: Int) -> BodyRequests {
        var requests = BodyRequests()
        var now: UInt64 = 0
        for _ in 0..<count {
            requests.setMissing(true)
            now = requests.scheduleRound(at: now) ?? now
            _ = requests.beginRound(at: now)
            requests.setMissing(true)
            now = requests.endRound(at: now) ?? now
        }
        return requests
    }

    @Test("nothing is scheduled while nothing is missing")
    func nothing() {
        var requests = BodyRequests()
        let none = requests.scheduleRound(at: 1_000)
        let hasBegun = requests.beginRound(at: 9_000)
        #expect(none == nil && !hasBegun)
        requests.setMissing(true)
        let round = requests.scheduleRound(at: 1_000)
        #expect(round == 3_000)
    }

    @Test("the earliest round counts, and begins once")
    func earliest() {
        var requests = BodyRequests()
        requests.setMissing(true)
        let rounds = [5_000, 9_000, 2_000].map { requests.scheduleRound(at: $0) }
        #expect(rounds == [7_000, nil, 4_000])
        let hasBegun = [3_999, 4_000, 30_000].map { requests.beginRound(at: $0) }
        #expect(hasBegun == [false, true, false])
    }

    @Test(
        "rounds that bring nothing follow each other more and more slowly",
        arguments: [(0, 2_000), (1, 4_000), (5, 64_000), (6, 128_000), (7, 128_000), (90, 128_000)])
    func backoff(count: Int, delay: Int) {
        var requests = Self.requests(fruitlessRounds: count)
        _ = requests.beginRound(at: .max)
        requests.setMissing(true)
        let round = requests.scheduleRound(at: 10)
        #expect(round == UInt64(10 + delay))
    }

    @Test("a round that finds everything is the last one")
    func found() {
        var requests = Self.requests(fruitlessRounds: 1)
        let hasBegun = requests.beginRound(at: .max)
        let next = requests.endRound(at: .max)
        #expect(hasBegun && next == nil && !requests.hasMissing)
    }

    @Test("each round asks another link, and letters go out once all of them were asked")
    func turns() {
        let asked = (0..<4).map { Self.requests(fruitlessRounds: $0).link(among: Self.links) }
        #expect(asked == [1, 2, 3, 1].map { LinkID($0) })
        #expect(BodyRequests().link(among: []) == nil)

        let byLetter = (0..<100).filter {
            Self.requests(fruitlessRounds: $0).asksByLetter(besides: 3)
        }
        #expect(byLetter == [4, 8, 16, 32, 64, 96])
        #expect(BodyRequests().asksByLetter(besides: 0))
        #expect(!BodyRequests().asksByLetter(besides: 1))
    }

    @Test("each letter goes to another device")
    func devices() {
        let known = (1...7).compactMap { DeviceID(Array(repeating: UInt8($0), count: 32)) }
        #expect(known.count == 7)
        let asked = [0, 1, 2, 4, 8, 16].map {
            Self.requests(fruitlessRounds: $0).device(among: known)
        }
        #expect(asked == Array(known.prefix(6)))
        #expect(BodyRequests().device(among: []) == nil)
    }

    @Test("a round begins where the one before ended, and goes around")
    func walk() {
        let logs = [[1], [2], [2, 0], [3]].map { (key: $0 as [UInt8], value: [] as [UInt8]) }
        var requests = BodyRequests()
        #expect(requests.inTurn(logs).map(\.key) == logs.map(\.key))
        requests.noteRound(to: .init(key: [2, 0], place: 7), linkCount: 0)
        #expect(requests.inTurn(logs).map(\.key) == [[2, 0], [3], [1], [2]])
        requests.noteRound(to: .init(key: [4]), linkCount: 1)
        #expect(requests.inTurn(logs).map(\.key) == logs.map(\.key))
    }

    @Test("the same is asked for until every link was asked")
    func attempts() {
        var requests = BodyRequests()
        let next = BodyRequests.Cursor(key: [2], place: 7)
        let cursors = (0..<3).map { _ in
            requests.noteRound(to: next, linkCount: 3)
            return requests.cursor
        }
        #expect(cursors == [.init(), .init(), next])
    }

    @Test("less is asked for where several rounds brought nothing")
    func less() {
        let counts = [0, 3, 4, 90].map { Self.requests(fruitlessRounds: $0).placeCountMax }
        #expect(counts == [128, 128, 32, 32])
    }
}

@Suite("Backoff")
struct BackoffTests {
    @Test(
        "doubles up to its limit, however often something fails",
        arguments: [(0, 1), (1, 2), (2, 4), (3, 8), (4, 10), (63, 10), (64, 10)])
    func doubles(count: UInt64, delay: UInt64) {
        #expect(Backoff(first: 1, max: 10).delay(after: count) == delay)
    }

    @Test("never comes out short of its limit")
    func large() {
        let backoff = Backoff(first: 3, max: .max)
        #expect(backoff.delay(after: 62) == 3 << 62)
        #expect(backoff.delay(after: .max) == 3 << 62)
    }
}
