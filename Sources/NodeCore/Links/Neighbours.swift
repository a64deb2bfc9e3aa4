import ParleyWire

/// Where devices were seen on the local network.
///
/// Owns the last address of each, and whether it was dialled there. Bounded: announcements must not
/// fill the memory of others.
/// Source: `Protocol/04-links.md`, "Neighbours".
struct Neighbours: Sendable {
    /// How long the observed address of a device is valid, in milliseconds.
    static let lifetime: UInt64 = 600_000
    /// Devices that are known to be near.
    static let countMax = 256

    private struct Place {
        let address: String
        /// On the monotonic clock.
        let seenAt: UInt64
        /// Whether it was not dialled there yet.
        var isUntried: Bool
    }

    private var places: [DeviceID: Place] = [:]

    /// Notes where a device was seen.
    ///
    /// - Returns: whether it was not dialled there yet; nil where there is no room for it.
    mutating func note(_ device: DeviceID, at address: String, _ now: UInt64) -> Bool? {
        let known = places[device]
        guard known != nil || places.count < Self.countMax else { return nil }
        let isUntried = known.map { $0.isUntried || $0.address != address } ?? true
        places[device] = Place(address: address, seenAt: now, isUntried: isUntried)
        return isUntried
    }

    /// Notes that a device is dialled wherever it was seen.
    mutating func noteTry(of device: DeviceID) { places[device]?.isUntried = false }

    /// Forgets all places: this device is in another network.
    mutating func forgetAll() { places = [:] }

    /// Whether a device was seen since this one is in its network.
    func wasSeen(_ device: DeviceID) -> Bool { places[device] != nil }

    /// Whether a device was seen where it was not dialled yet.
    func isUntried(_ device: DeviceID) -> Bool { places[device]?.isUntried == true }

    /// Where a device was seen a short while ago.
    ///
    /// - Parameter now: on the monotonic clock, in milliseconds.
    func address(of device: DeviceID, at now: UInt64) -> String? {
        guard let place = places[device], now < place.seenAt + Self.lifetime else { return nil }
        return place.address
    }
}
