import ParleyLedger
import ParleyWire

/// What this device knows about own operations that its store lacks, and so where it may write.
///
/// Owns two things. What the shell found out about the whole store concerns all spaces: nothing is
/// written until it is recovered. What a peer proved with this device's own signature concerns one
/// space: a gap there is open until its logs are held up to the proven places. A space whose gap
/// was closed is handed out once.
/// Source: `Protocol/06-sync.md`, "Claims about one's own logs".
struct OwnHistory: Sendable {
    /// What the shell found out about the store being behind, until everything is recovered.
    private(set) var found: Rejoin?
    /// True if every own operation missing from the store belongs to a space this device was removed
    /// from. No peer will serve them, so they must not block writing.
    private var isUnrecoverable = false
    /// The places after the last that own logs are proven to have had, where they end before here.
    private var openGaps: [SpaceNumber: [LogTag: UInt64]] = [:]
    /// Spaces whose gap was closed and which were not handed out yet.
    private var closedGaps: Set<SpaceNumber> = []

    /// The history of a device whose store is whole as far as the shell knows, or lacks this.
    init(_ found: Rejoin? = nil) { self.found = found }

    /// What must be recovered before anything may be written; nil where nothing must.
    var rejoin: Rejoin? { isUnrecoverable ? nil : found }

    /// Whether something that this device wrote is missing here, even if no peer will bring it.
    var isBehind: Bool { found != nil || !openGaps.isEmpty }

    // MARK: Gaps

    /// Open gaps, by spaces that ascend.
    var gaps: [(space: SpaceNumber, ends: [LogTag: UInt64])] {
        openGaps.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The places up to which own logs of a space are to be held; nil where it has no gap.
    func gap(in space: SpaceNumber) -> [LogTag: UInt64]? { openGaps[space] }

    /// Whether nothing may be written in a space.
    func hasGap(in space: SpaceNumber) -> Bool { openGaps[space] != nil }

    /// Opens a gap, or extends it.
    ///
    /// - Parameter ends: the places after the last that own logs are proven to have had.
    /// - Returns: whether more is missing than was known.
    mutating func extendGap(in space: SpaceNumber, to ends: [LogTag: UInt64]) -> Bool {
        let known = openGaps[space] ?? [:]
        let all = known.merging(ends, uniquingKeysWith: max)
        guard all != known else { return false }
        openGaps[space] = all
        return true
    }

    /// Closes the gap of a space whose own logs are held up to it.
    mutating func closeGap(in space: SpaceNumber) {
        precondition(openGaps[space] != nil, "a gap that is closed was open")
        openGaps[space] = nil
        closedGaps.insert(space)
    }

    /// Hands out the spaces, ascending, whose gaps were closed since the last time.
    mutating func takeClosedGaps() -> [SpaceNumber] {
        defer { closedGaps = [] }
        return closedGaps.sorted()
    }

    /// Forgets a space that is gone from the store.
    mutating func forget(_ space: SpaceNumber) {
        openGaps[space] = nil
        closedGaps.remove(space)
    }

    // MARK: Recovery of the store as a whole

    /// Notes that a peer has shown everything it holds: it does not have what it did not list.
    ///
    /// - Returns: whether that was waited for.
    mutating func noteAnswer() -> Bool {
        guard found?.needsPeer == true else { return false }
        found?.needsPeer = false
        return true
    }

    /// Counts everything missing as recoverable until it is judged again.
    ///
    /// - Returns: whether it was judged unrecoverable.
    mutating func reopenRecovery() -> Bool {
        defer { isUnrecoverable = false }
        return isUnrecoverable
    }

    /// The logs that end before where they are known to have ended; nil while that is not known.
    ///
    /// - Parameter ends: the places after the last that own logs have here.
    func missingLogs(holding ends: [LogTag: UInt64]) -> Set<LogTag>? {
        guard let found, !found.needsPeer else { return nil }
        return Set(found.ends.filter { ends[$0.key] ?? 0 < $0.value }.keys)
    }

    /// Judges what is missing.
    ///
    /// - Parameters:
    ///   - isComplete: whether everything known to exist is here.
    ///   - isUnrecoverable: whether all that is missing is where no peer will serve it.
    mutating func judgeRecovery(isComplete: Bool, isUnrecoverable: Bool) {
        self.isUnrecoverable = isUnrecoverable
        if isComplete { found = nil }
    }
}
