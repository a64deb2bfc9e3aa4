/// How often a peer is asked what it holds of a space.
///
/// A question and its answer are a round. Rounds that bring nothing follow each other ever more
/// slowly: two peers that cannot become equal, for whatever reason, would otherwise keep the link
/// busy forever.
struct RoundPace: Sendable {
    /// So many rounds may follow each other at once.
    static let freeCount: UInt64 = 4
    /// The first delay in milliseconds; each is twice the one before.
    static let delayMin: UInt64 = 250
    /// The longest delay in milliseconds.
    static let delayMax: UInt64 = 600_000
    /// The peer's own claims are no longer news after this many without result.
    private static let newsCountMax = 16

    private var roundCount: UInt64 = 0
    private var newsCount = 0
    private var lastAsked: UInt64 = 0

    /// From when on the next round may begin, on the monotonic clock.
    var due: UInt64 {
        guard roundCount >= Self.freeCount else { return 0 }
        let doublings = min(roundCount - Self.freeCount, 20)
        return lastAsked + min(Self.delayMin << doublings, Self.delayMax)
    }

    /// A round begins.
    mutating func ask(at now: UInt64) {
        roundCount += 1
        lastAsked = now
    }

    /// The peer claims to hold what it did not claim before.
    mutating func hearNews() {
        guard newsCount < Self.newsCountMax else { return }
        newsCount += 1
        roundCount = 0
    }
}
