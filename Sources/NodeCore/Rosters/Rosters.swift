import ParleyConversation
import ParleyLedger

/// Who is in which space, as far as it was worked out.
struct Rosters: Sendable {
    /// The results of the control operations of spaces, for as many spaces as are in use.
    var judges: [SpaceNumber: Judge] = [:]
    /// Which of these were asked for last.
    var judgeUses = JudgeUses()
    /// Logs that something was applied without, of which nothing is known or less than was named.
    var awaited: [SpaceNumber: [AwaitedLog: AwaitedPlace]] = [:]
}
