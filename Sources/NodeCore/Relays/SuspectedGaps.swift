import ParleyLedger
import ParleyWire

/// What seems to be missing of spaces that are being read at a relay: it may come with the rest.
///
/// Owns one suspicion for each space, with the device that was last seen to hold more.
struct SuspectedGaps: Sendable {
    /// What showed that something may be missing.
    struct Suspicion: Equatable, Sendable {
        /// The holder.
        let holder: DeviceID
        /// Whether what arrived did not join what is held: then it is missing, whatever is held
        /// since.
        let isDisconnected: Bool
    }

    private var suspicions: [SpaceNumber: Suspicion] = [:]

    /// Notes that something of a space may be missing. Once disconnected, it stays so.
    mutating func note(in space: SpaceNumber, reportedBy holder: DeviceID, isDisconnected: Bool) {
        let was = suspicions[space]?.isDisconnected == true
        suspicions[space] = Suspicion(holder: holder, isDisconnected: isDisconnected || was)
    }

    /// Takes the suspicion about a space.
    mutating func take(_ space: SpaceNumber) -> Suspicion? { suspicions.removeValue(forKey: space) }

    /// Forgets a space that is gone from the store, or is read no more.
    mutating func forget(_ space: SpaceNumber) { suspicions[space] = nil }
}
