import ParleyLedger

/// What is on its way into the store.
struct Intake: Sendable {
    /// Runs that wait for their causes.
    var waiting = WaitingRoom()
    /// The link that is asked for what a space lacks.
    var sources: [SpaceNumber: SpaceSource] = [:]
    /// When missing payloads are requested, and from whom.
    var bodyRequests = BodyRequests()
    /// What came of the operations that are being taken in.
    var yield = Yield()
    /// Spaces in which something was received that a receipt does not cover yet.
    var unreceipted: Set<SpaceNumber> = []
    /// The messages that disappear.
    var disappearing = DisappearanceDesk()
}

/// What came of operations that somebody brings: for what is new others pay.
struct Yield: Sendable {
    /// Operations that are new here, and what they change.
    var newsCount = 0
    /// Operations that were hashed, and are proven by nothing.
    var vainCount = 0
}
