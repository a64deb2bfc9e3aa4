import ParleyLedger
import ParleyWire

/// Invitations that were withdrawn before they were answered, and are watched until no more of
/// their control logs arrives: the last part may restore one.
///
/// Owns how much of each control log was held when the watch began; each space is watched once.
struct WithdrawnInvitations: Sendable {
    private var byteCounts: [SpaceNumber: UInt64] = [:]

    /// Begins to watch an invitation, of whose control log so many bytes are held.
    mutating func watch(_ space: SpaceNumber, holding byteCount: UInt64) {
        byteCounts[space] = byteCount
    }

    /// Ends a watch.
    ///
    /// - Returns: how many bytes were held when it began; nil where nothing was watched.
    mutating func endWatch(of space: SpaceNumber) -> UInt64? {
        byteCounts.removeValue(forKey: space)
    }
}
