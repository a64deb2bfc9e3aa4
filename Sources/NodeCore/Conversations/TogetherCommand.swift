public import ParleyConversation
public import ParleyLedger
public import ParleyWire

/// What the members of a conversation do together, beside talking.
public enum TogetherCommand: Equatable, Sendable {
    /// Asks something, with answers to choose from.
    case ask(SpaceID, PollQuestion)
    /// Chooses answers of a poll; nothing takes back an earlier choice.
    case vote(OperationNumber, PollChoices)
    /// Ends a poll.
    case close(OperationNumber)
    /// Begins something to be done, from a message or of itself.
    case begin(SpaceID, ItemBeginning, from: OperationNumber?)
    /// Changes things about it.
    case change(OperationNumber, [ItemChange])
    /// Begins a note, with a text.
    case note(SpaceID, title: NoteTitle, text: String)
    /// Edits the text that a note has in a version; nil for the one that it has now.
    case edit(OperationNumber, NoteEdits, at: [OperationReference]?)
    /// Makes of the text that a note has in a version another one.
    case write(OperationNumber, String, at: [OperationReference]?)
    /// Calls a note otherwise.
    case retitle(OperationNumber, NoteTitle)
    /// Proposes something to be decided, from a message, from a poll that was closed or of itself.
    case propose(SpaceID, DecisionProposal, from: OperationNumber?)
    /// Approves of a decision, or takes that back.
    case approve(OperationNumber, Bool)
    /// Says how a decision stands, and where another one takes its place, which.
    case settle(OperationNumber, DecisionState, by: OperationNumber? = nil)
    /// Withdraws for everyone what was asked, begun or proposed.
    case withdraw(OperationNumber)

    /// Why that was not done. Nothing changed.
    public enum Objection: Error, Equatable, Sendable {
        /// There is no such poll here.
        case unknownPoll
        /// There is no such thing to be done here.
        case unknownItem
        /// There is no such note here.
        case unknownNote
        /// There is no such version of the note here, or a position lies beyond its text.
        case noSuchPlace
        /// What the edits of a note inserted comes to so many scalars, or there are so many operations.
        case noteFull(limit: Int)
        /// There is no such decision here.
        case unknownDecision
        /// The poll is open, so that it has no result yet.
        case open
        /// By way of others, the decision would take its own place.
        case circle
        /// A decision has at most so many tags.
        case tooManyTags(limit: Int)
        /// There is no such reminder.
        case unknownReminder
        /// A person has so many reminders, those that have rung included.
        case tooManyReminders(limit: Int)
        /// There is no such message to be sent later.
        case unknownScheduled
        /// A person has so many messages to be sent later.
        case tooManyScheduled(limit: Int)
        /// At most so many persons do one thing.
        case tooManyAssignees(limit: Int)
        /// There is no such day.
        case badDay
        /// A poll has from 2 to so many options, each another.
        case badOptions(limit: Int)
        /// The poll has no such option.
        case noSuchOption(count: Int)
        /// One answer can be chosen in this poll.
        case oneAnswer
        /// The poll was closed, or the time until which it asked is over.
        case closed
        /// This device has chosen so many times in this poll, and no more count.
        case tooManyVotes(limit: Int)
        /// The time until which it would ask is over.
        case alreadyOver
    }
}
