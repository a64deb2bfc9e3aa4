import ParleyLedger

/// Spaces of which something may have to go to relays.
///
/// Owns two sets: spaces that are due, in which this device wrote or somebody went away since
/// envelopes were last made; and spaces in which linked devices have yet to acknowledge something,
/// which are due only where they do not.
struct OutboxQueue: Sendable {
    private var due = DueSpaces()
    private var unacknowledged: Set<SpaceNumber> = []

    /// Whether no space is due.
    var isEmpty: Bool { due.isEmpty }

    /// Notes that a space is due.
    mutating func note(_ space: SpaceNumber) { due.insert(space) }

    /// Notes that some spaces are due.
    mutating func note(all spaces: some Sequence<SpaceNumber>) { due.formUnion(spaces) }

    /// Notes that every space is due; they are come to some at a time.
    mutating func noteAll() { due.insertAll() }

    /// Lets some more of all spaces be taken.
    mutating func continueAll() { due.goOn() }

    /// Takes the lowest spaces that are due, so many at most as one step looks at.
    ///
    /// - Parameter spaces: all there are, ascending.
    mutating func takePortion(of spaces: [SpaceRecord]) -> [SpaceNumber] {
        due.take(SpaceWalks.portionCountMax, of: spaces)
    }

    /// Empties the queue: there is no relay.
    mutating func removeAll() { due = DueSpaces() }

    /// Notes a space in which linked devices have yet to acknowledge something.
    mutating func awaitAcknowledgement(in space: SpaceNumber) { unacknowledged.insert(space) }

    /// Takes the spaces, ascending, in which linked devices had time enough to acknowledge.
    mutating func takeUnacknowledged() -> [SpaceNumber] {
        defer { unacknowledged = [] }
        return unacknowledged.sorted()
    }

    /// Forgets a space that is gone from the store.
    mutating func forget(_ space: SpaceNumber) {
        due.remove(space)
        unacknowledged.remove(space)
    }
}
