import ParleyLedger

/// What is on its way into the store.
struct Intake: Sendable {
    /// Runs that wait for their causes.
    var waiting = WaitingRoom()
    /// The link that is asked for what a space lacks.
    var sources: [SpaceNumber: SpaceSource] = [:]
    /// When missing payloads are requested, and from whom.
    var bodyRequests = BodyRequests()
    /// Spaces in which something was received that a receipt does not cover yet.
    var unreceipted: Set<SpaceNumber> = []
}
