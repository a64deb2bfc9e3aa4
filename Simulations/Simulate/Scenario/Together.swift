/// What somebody does together with the others of a conversation. `poll` counts back from the newest one
/// there, which is 0, and begins anew behind the last.
public enum Together: Codable, Equatable, Sendable {
    /// Asks something, for some minutes or until it is closed.
    case ask(question: String, options: Int, isMultiple: Bool, minutes: UInt64?)
    /// Chooses answers, or takes back what was chosen.
    case vote(poll: Int, choices: [Int])
    /// Closes a poll.
    case close(poll: Int)
    /// Takes a poll back.
    case withdraw(poll: Int)
}
