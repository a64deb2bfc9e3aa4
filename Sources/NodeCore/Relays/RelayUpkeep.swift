import ParleyLedger

/// What is due about relays once a step has done everything else.
///
/// Owns only notes: a change notes what follows from it, and the end of the step takes each note
/// once, however often it was made.
struct RelayUpkeep: Sendable {
    /// Something that is due for all relays together.
    enum Chore: Hashable, Sendable {
        /// Which relays are needed may have changed.
        case findRelays
        /// Somebody was blocked, and holds a right to write into this device's inboxes.
        case retireWriters
        /// Connected relays are to be told who may write into this device's inboxes.
        case renewWriters
        /// The own card changed, an invite was opened, or a mailbox for a card was.
        case showInviteCards
    }

    private var chores: Set<Chore> = []
    /// Spaces in which epochs came whose mailboxes are to be read.
    private var mailboxes: Set<SpaceNumber> = []

    /// Notes something that is due.
    mutating func note(_ chore: Chore) { chores.insert(chore) }

    /// Takes something that may be due.
    ///
    /// - Returns: whether it was.
    mutating func take(_ chore: Chore) -> Bool { chores.remove(chore) != nil }

    /// Notes a space whose mailboxes are to be read.
    mutating func noteMailboxes(of space: SpaceNumber) { mailboxes.insert(space) }

    /// Takes the spaces whose mailboxes are to be read.
    mutating func takeMailboxes() -> Set<SpaceNumber> {
        defer { mailboxes = [] }
        return mailboxes
    }

    /// Forgets a space that is gone from the store.
    mutating func forget(_ space: SpaceNumber) { mailboxes.remove(space) }
}
