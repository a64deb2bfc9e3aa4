import ParleyLedger
import ParleyWire

/// What peers have shown of their holdings since the start.
///
/// A whole store may have been rolled back. Then new operations would begin a second history, and
/// only a peer can tell. A person's message is written all the same. What nobody requested waits
/// until a peer has confirmed its space: receipts, cards, new keys and notes of what was seen.
///
/// A space that is confirmed stays so until it is forgotten.
struct Confirmations: Sendable {
    private var confirmed: Set<SpaceNumber> = []
    /// Devices that claimed more of own logs than they proved.
    private var unprovenClaimants: Set<DeviceID> = []
    private var awaitsEqualPeer = false

    /// Spaces that are confirmed, ascending.
    var spaces: [SpaceNumber] { confirmed.sorted() }

    /// Whether a peer has shown what it holds of a space.
    func isConfirmed(_ space: SpaceNumber) -> Bool { confirmed.contains(space) }

    /// Notes that a peer has shown what it holds of a space, or that nobody can hold more.
    ///
    /// - Returns: whether the space was not confirmed before.
    @discardableResult
    mutating func confirm(_ space: SpaceNumber) -> Bool { confirmed.insert(space).inserted }

    /// Notes a device that claimed more of own logs than it proved.
    ///
    /// - Returns: whether that is the first time: it may say so as often as it likes.
    mutating func noteUnprovenClaim(by device: DeviceID) -> Bool {
        unprovenClaimants.insert(device).inserted
    }

    /// Notes that a revoked device stays in a space until a peer shows that it holds the same.
    mutating func awaitEqualPeer() { awaitsEqualPeer = true }

    /// Notes that a peer holds the same of a space.
    ///
    /// - Returns: whether that was waited for.
    mutating func meetEqualPeer() -> Bool {
        defer { awaitsEqualPeer = false }
        return awaitsEqualPeer
    }

    /// Forgets a space that is gone from the store.
    mutating func forget(_ space: SpaceNumber) { confirmed.remove(space) }
}
