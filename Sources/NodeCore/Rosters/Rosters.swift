import ParleyConversation
import ParleyLedger
import ParleyRoster

/// Who is in which space, as far as it was worked out.
struct Rosters: Sendable {
    /// Spaces whose control operations are held in memory, of whatever size: made again from the store
    /// when needed.
    static let judgeCountMax = 256
    /// The same while they are small. Whoever shares more spaces with this node than that has all of
    /// them read again by each link.
    static let smallJudgeCountMax = 2_048
    /// The control operations of all together up to which they are small.
    static let judgeOperationCountMax = 16_384
    /// This many are dropped at a time, the least recently used.
    private static let judgeDropCount = 64

    /// The results of the control operations of spaces, for as many spaces as are in use.
    var judges: [SpaceNumber: Judge] = [:]
    /// Which of these were asked for last.
    var judgeUses = JudgeUses()
    /// Logs that something was applied without, of which nothing is known or less than was named.
    var awaited: [SpaceNumber: [AwaitedLog: AwaitedPlace]] = [:]

    /// The control operations of all together, as last counted, and of those that came since.
    private var operationCount = 0
    /// How many come before all are counted again: what is there grows too, and seldom.
    private var untilCounted = 0

    /// Drops what was not asked for lately, where there is no room for one more. The bound is for nodes
    /// with very many spaces: then one is read again now and then.
    ///
    /// - Parameter count: the control operations of the one that comes.
    mutating func makeRoom(
        for space: SpaceNumber, of count: Int,
        operationCountMax: Int = Self.judgeOperationCountMax
    ) {
        guard judges.count >= Self.judgeCountMax else { return }
        if untilCounted == 0 {
            operationCount = judges.values.reduce(0) { $0 + $1.graph.operationCount }
            untilCounted = Self.judgeDropCount
        }
        untilCounted -= 1
        defer { operationCount += count }
        guard judges.count >= Self.smallJudgeCountMax || operationCount >= operationCountMax
        else { return }
        for old in judgeUses.takeOldest(Self.judgeDropCount) where old != space {
            operationCount -= judges[old]?.graph.operationCount ?? 0
            judges[old] = nil
        }
    }
}
