import ParleyLedger
import ParleySealing
import ParleyWire

/// What this device keeps in mind about people and its own card.
struct People: Sendable {
    /// The accepted contacts by their root keys; nil until it is needed.
    var contactRoots: [Digest: PersonID]?
    /// When the own card last went into each space, on the monotonic clock.
    var cardsShared: [SpaceNumber: UInt64] = [:]
    /// The greatest version that a part of the card of this device is known to have had. A store that was
    /// set back may know an older part alone, and others keep the newer one.
    var cardVersionMin: CardVersion
    /// Invitations that were withdrawn and may hold after all.
    var withdrawnInvitations = WithdrawnInvitations()
}
