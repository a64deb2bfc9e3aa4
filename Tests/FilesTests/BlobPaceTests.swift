import Testing

@testable import ParleyFiles

/// A way that takes so long, in milliseconds, and gives pieces one after the other.
private struct Way {
    var delay: UInt64
    /// Microseconds that a piece takes.
    var pieceTime: UInt64
    var pace = BlobPace()
    /// When each piece that is owed comes, in microseconds.
    private var coming: [UInt64] = []
    private var isFreeAt: UInt64 = 0
    private(set) var now: UInt64 = 0
    private(set) var givenCount = 0
    /// The longest that a piece has waited since then, in milliseconds.
    var longestWait: UInt64 = 0

    init(delay: UInt64, pieceTime: UInt64) {
        (self.delay, self.pieceTime) = (delay, pieceTime)
    }

    mutating func run(for milliseconds: UInt64) {
        let end = now + milliseconds * 1_000
        while now < end {
            if coming.count + pace.batchCount <= pace.window { ask() }
            let next = coming.removeFirst()
            now = max(now, next)
            pace.gave(at: now / 1_000)
            givenCount += 1
        }
    }

    private mutating func ask() {
        let count = pace.window - coming.count
        pace.asked(count, besides: coming.count, at: now / 1_000)
        let half = delay * 500
        for _ in 0..<count {
            let start = max(isFreeAt, now + half)
            longestWait = max(longestWait, (start - now - half) / 1_000)
            isFreeAt = start + pieceTime
            coming.append(isFreeAt + half)
        }
    }
}

@Suite("What a peer may owe")
struct BlobPaceTests {
    /// Ways from a slow line to loopback: their delay, and the time of a piece.
    static let ways: [(delay: UInt64, pieceTime: UInt64)] = [
        (0, 400), (1, 600), (5, 1_000), (20, 650), (80, 700), (80, 5_000), (30, 50_000),
        (200, 700),
    ]

    @Test(arguments: ways)
    func `little waits on the way, and the way is not idle`(
        _ case: (delay: UInt64, pieceTime: UInt64)
    ) {
        var way = Way(delay: `case`.delay, pieceTime: `case`.pieceTime)
        way.run(for: 5_000)
        let before = way.givenCount
        way.longestWait = 0
        way.run(for: 5_000)
        // A quarter of the window is asked for at once, and it shows late that some were too many.
        let wait =
            3 * BlobPace.waitMax + UInt64(way.pace.window) * `case`.pieceTime / 4_000
        #expect(way.longestWait <= wait, "\(way.longestWait) ms")
        let most = 5_000_000 / `case`.pieceTime
        let windowLimit = UInt64(BlobPace.windowMax) * 5_000 / max(1, `case`.delay)
        let given = UInt64(way.givenCount - before)
        #expect(given * 10 >= min(most, windowLimit) * 7, "\(given) of \(most)")
    }

    @Test func `a way that becomes longer or slower is learnt anew`() {
        var way = Way(delay: 2, pieceTime: 500)
        way.run(for: 5_000)
        way.delay = 60
        way.run(for: 40_000)
        let before = way.givenCount
        way.run(for: 5_000)
        #expect(way.givenCount - before > 6_000, "\(way.givenCount - before)")
        way.pieceTime = 20_000
        way.run(for: 20_000)
        way.longestWait = 0
        way.run(for: 5_000)
        #expect(way.longestWait <= 100, "\(way.longestWait) ms")
    }

    @Test func `the window stays within its bounds, whatever the clock does`() {
        var pace = BlobPace()
        for moment in [0, 1, 5, .max, 3, 0, 1_000_000, .max, .max] as [UInt64] {
            pace.asked(3, besides: 2, at: moment)
            for _ in 0..<4 { pace.gave(at: moment &+ 7) }
            pace.asked(2, besides: 0, at: moment)
            pace.lost()
            #expect((BlobPace.windowMin...BlobPace.windowMax).contains(pace.window))
            #expect(pace.batchCount >= 1 && pace.batchCount <= pace.window)
        }
    }
}
