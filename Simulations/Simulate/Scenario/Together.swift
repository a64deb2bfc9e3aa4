/// What somebody does together with the others of a conversation. `poll`, `item` and `note` count back from the newest
/// one there, which is 0, and begin anew behind the last.
public enum Together: Codable, Equatable, Sendable {
    /// Asks something, for some minutes or until it is closed.
    case ask(question: String, options: Int, isMultiple: Bool, minutes: UInt64?)
    /// Chooses answers, or takes back what was chosen.
    case vote(poll: Int, choices: [Int])
    /// Closes a poll.
    case close(poll: Int)
    /// Takes a poll back.
    case withdraw(poll: Int)
    /// Notes something to be done, from a message or of itself.
    case begin(title: String, message: Int?)
    /// Changes something about it: what to is told by a number.
    case change(item: Int, field: Field, value: UInt64)
    /// Takes it back.
    case drop(item: Int)
    /// Begins a note.
    case note(title: String, text: String)
    /// Edits one: `at` and `deleted` count within its text. With `edits` above 0 the text is the one of so many
    /// edits ago, as in an editor that was open meanwhile.
    case edit(note: Int, at: Int, deleted: Int, text: String, edits: Int)
    /// Makes another text of what a note says.
    case write(note: Int, text: String)
    /// Calls a note otherwise.
    case retitle(note: Int, title: String)
    /// Takes a note back.
    case tear(note: Int)

    /// What is changed of something to be done.
    public enum Field: String, Codable, Equatable, Sendable {
        /// Its title.
        case title
        /// Its notes.
        case notes
        /// Its day.
        case due
        /// Whether it is done.
        case done
        /// Whether somebody is to do it.
        case assignee
    }
}
