import ParleyLedger
import ParleyReconciliation
import ParleyWire

/// How many frames that cost a look at every log one peer may send in a while.
///
/// A few for each shared space are saved up, and as many come back each second: far more than an
/// honest peer sends, far less than what would keep a node from its work. What is beyond is not
/// looked at; a heartbeat later nothing is missing.
struct Allowance: Sendable {
    private var spent: UInt64 = 0
    private var since: UInt64 = 0

    /// What is saved up at most, and comes back in a second.
    static func ceiling(spaceCount: Int) -> UInt64 { 64 + 8 * UInt64(spaceCount) }

    /// Takes one frame into account. Returns whether it may be looked at.
    mutating func take(at now: UInt64, spaceCount: Int) -> Bool {
        let ceiling = Self.ceiling(spaceCount: spaceCount)
        let back = (now - min(now, since)) * ceiling / 1_000
        if back > 0 {
            spent -= min(spent, back)
            since = now
        }
        guard spent < ceiling else { return false }
        spent += 1
        return true
    }
}

extension NodeCore {
    /// Whether a frame of this peer is looked at: what costs a look at every log is counted.
    mutating func mayCost(
        _ frame: Frame, on id: LinkID, at now: Instant, _ store: some Store
    ) throws(StoreError) -> Bool {
        switch frame {
        case .spaces, .frontier, .fork, .heartbeat: break
        case .hello, .want, .operations, .acknowledge, .credit, .error, .bye, .introduce,
            .signal:
            return true
        }
        let spaceCount = links[id]?.session?.sharedCount ?? 0
        if links[id]?.allowance.take(at: now.monotonic, spaceCount: spaceCount) ?? true {
            return true
        }
        try count(.tooManyFrames, store)
        return false
    }
}
