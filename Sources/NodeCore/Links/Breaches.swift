import ParleyWire

/// Which devices break the protocol again and again, each on a link that it opened itself. Those that
/// this node calls are put off by the ``Dialer``.
///
/// Source: `Protocol/06-sync.md`, "What a peer may cost".
struct Breaches: Sendable {
    /// So many links of a device may end so at once, and one more each so many milliseconds.
    static let rate: (burst: UInt64, interval: UInt64) = (8, 60_000)
    private static let deviceCountMax = 1_024

    private var limits = RateLimits<DeviceID>(
        RateLimit(burst: rate.burst, interval: rate.interval), nameCountMax: deviceCountMax)

    /// Notes that a link of a device ended so.
    mutating func note(_ device: DeviceID, at now: UInt64) { _ = limits.take(device, at: now) }

    /// Whether no link is taken from a device for now.
    func isPutOff(_ device: DeviceID, at now: UInt64) -> Bool { limits.isSpent(device, at: now) }
}
