import ParleyConversation
import ParleyLedger
import ParleyWire

/// Names, and what else was read before, for the length of one reading of the store.
final class NameCache {
    var known: [PersonID: String] = [:]
    /// The same as they are shown.
    var shown: [PersonID: String] = [:]
    var lookalikes: Lookalikes?
    /// Whether what a person says in groups is not shown.
    var hidden: [PersonID: Bool] = [:]
    /// Changes that nobody takes, by space and message.
    var untaken: [SpaceNumber: [OperationReference: [UntakenChange]]] = [:]
    /// Own messages that nobody takes, by space.
    var untakenMessages: [SpaceNumber: [UntakenMessage]] = [:]
    /// Whether others are told what the person has read, by space.
    var tellsReading: [SpaceNumber: Bool] = [:]
    /// Whether anybody else came into a group more than once, by space.
    var returns: [SpaceNumber: Bool] = [:]
    /// Undelivered operations of lane 4, by space.
    var undelivered: [SpaceNumber: [UndeliveredWord]] = [:]
    /// Groups that this device left: whether nobody else can know it yet.
    var leavings: [SpaceNumber: Bool] = [:]
    /// The roster of a space by lane 0: reading it verifies everybody's signatures.
    var judges: [SpaceNumber: Judge] = [:]
    /// The pins, by space.
    var pins: [SpaceNumber: Set<OperationReference>] = [:]
}

/// Everybody with a known name, by what it looks like.
struct Lookalikes {
    /// What tells whether it is still valid: how often cards were written, and how much the own
    /// space holds.
    struct Stand: Equatable {
        var cardChangeCount: Int
        var ownEnd: UInt64
    }

    var stand: Stand
    /// Ascending by person.
    var persons: [String: [PersonID]] = [:]
    /// This person, and present and future contacts.
    var contacts: Set<PersonID> = []
}
