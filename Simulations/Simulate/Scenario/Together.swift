/// What somebody does together with the others of a conversation. `poll`, `item`, `note` and `decision` count back
/// from the newest one there, which is 0, and begin anew behind the last.
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
    /// Proposes something to be decided, of itself or from a poll, where that is closed.
    case propose(title: String, poll: Int?)
    /// Says something about a decision.
    case decide(decision: Int, word: Word)

    /// Has one's device remind one of something, which concerns nobody else.
    case remind(text: String, message: Int?, minutes: UInt64)
    /// Is done with a reminder, has it ring here, or ends it.
    case remember(reminder: Int, word: Word)
    /// Has one's device say something later.
    case later(text: String, minutes: UInt64)

    /// What is said about a decision.
    public enum Word: String, CaseIterable, Codable, Equatable, Sendable {
        /// That one approves of it.
        case approve
        /// That one does no longer.
        case retract
        /// That it holds.
        case accept
        /// That it does not.
        case reject
        /// That it is to be taken again.
        case reopen
        /// That the newest but one takes its place.
        case supersede
        /// That it is taken back.
        case withdraw
    }

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
