public import ParleyWire

/// Distinguishes signals that may be acted upon from copies and from late ones.
///
/// A relay may hold a signal back and bring it when it hurts, or bring it twice; a link may have
/// stood still while the machine slept. Nothing here survives the process: then age alone judges.
/// Source: `Protocol/11-calls.md`, "Fresh or stale".
public struct Freshness: Equatable, Sendable {
    /// Stamps of one device that are remembered; older ones count as copies.
    public static let stampCountMax = 64
    /// The number of devices that are remembered; the one silent for longest is forgotten.
    public static let deviceCountMax = 1024
    /// How far the clocks of two devices may differ if nothing is known about it, in milliseconds.
    public static let skewMax: UInt64 = 60_000

    /// What became of a signal.
    public enum Verdict: Equatable, Sendable {
        /// It is new.
        case fresh
        /// It came before, or so many came since that nobody can tell.
        case copy
        /// It was sent too long ago, or in the future.
        case stale
    }

    private struct Heard: Equatable, Sendable {
        /// Ascending.
        var stamps: ArraySlice<Stamp> = []
        /// All up to here count as heard.
        var floor = Stamp(0)
        /// When the device was heard last, among all.
        var turn: UInt64 = 0
    }

    private var heard: [DeviceID: Heard] = [:]
    private var turn: UInt64 = 0

    /// Nobody was heard yet.
    public init() {}

    /// Judges a signal, and remembers it where it is fresh.
    ///
    /// - Parameters:
    ///   - wall: now, in Unix milliseconds.
    ///   - offset: how many milliseconds the sender's clock is ahead of this one, where it was
    ///     compared; nil where it was not.
    public mutating func judge(
        _ stamp: Stamp, from device: DeviceID, living lifetime: UInt64, at wall: UInt64,
        offset: Int64?
    ) -> Verdict {
        let skew = offset == nil ? Self.skewMax : Self.comparedSkewMax
        let said = Int64(stamp.wallClock) - max(min(offset ?? 0, Self.offsetMax), -Self.offsetMax)
        let age = Int64(min(wall, Limits.wallClockMax)) - said
        guard age <= Int64(lifetime + skew), age >= -Int64(skew) else { return .stale }
        var known = heard[device] ?? Heard()
        guard stamp > known.floor, !known.stamps.contains(stamp) else { return .copy }
        turn += 1
        known.turn = turn
        known.stamps.insert(
            stamp, at: known.stamps.firstIndex { $0 > stamp } ?? known.stamps.endIndex)
        if known.stamps.count > Self.stampCountMax, let least = known.stamps.popFirst() {
            known.floor = least
        }
        heard[device] = known
        forgetOldest()
        return .fresh
    }

    /// A device shows its clock. If its earlier stamps are ahead of that, its clock was set back:
    /// they are forgotten, or all its signals would count as copies until its clock is there again.
    public mutating func greeted(_ device: DeviceID, by clock: UInt64) {
        guard let last = heard[device]?.stamps.last,
            WallTime(clamping: last.wallClock).excess(over: WallTime(clamping: clock))
                > Self.skewMax
        else { return }
        heard[device] = nil
    }

    /// Half of a round trip over a slow link, and the drift of a clock meanwhile.
    private static let comparedSkewMax: UInt64 = 10_000
    private static let offsetMax = Int64(Limits.wallClockMax)

    private mutating func forgetOldest() {
        guard heard.count > Self.deviceCountMax else { return }
        // The least turn belongs to one device alone: the order of the loop cannot be seen.
        if let oldest = heard.min(by: { $0.value.turn < $1.value.turn }) {
            heard[oldest.key] = nil
        }
    }
}

extension SignalBody {
    /// For how many milliseconds it is of use.
    public var lifetime: UInt64 {
        switch self {
        case .typing, .presence: 10_000
        case .call: 60_000
        }
    }
}
