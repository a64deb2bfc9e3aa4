import ParleyWire

/// What goes to others and comes from them through relays.
struct Courier: Sendable {
    /// Connections to relays, and pending requests.
    var lines: [NoiseKey: RelayLine] = [:]
    /// What is due about relays.
    var relayUpkeep = RelayUpkeep()
    /// Spaces of which something may have to go to relays.
    var outbox = OutboxQueue()
    /// Signals through relays, which are stored nowhere.
    var passing = Passing()
    /// What seems to be missing of spaces that are being read at a relay.
    var suspectedGaps = SuspectedGaps()
    /// What spaces lack and is requested through relays.
    var repairs = Repairs()
    /// When devices without a link are reminded of what was put for them.
    var reminders = Reminders()
    /// Which letters arrived, and how many more may.
    var letters = LetterBook()
    /// The prekeys, while letters are read.
    var letterKeys: LetterKeys?
    /// Units of work that mailboxes have cost in this step.
    var workOfStep: UInt64 = 0
}
