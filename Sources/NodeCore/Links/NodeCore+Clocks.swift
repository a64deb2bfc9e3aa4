import ParleyConversation
import ParleyLedger
import ParleySignalling
public import ParleyWire

/// What is known about a peer's clock on one link.
struct PeerClock: Sendable {
    /// How many milliseconds it was ahead, and how far this device's wall clock was then ahead of its
    /// monotonic one: a wall clock that is set meanwhile moves against that of the peer by as much.
    private var ahead: Int64
    private var base: Int64

    init(ahead: Int64, at now: Instant) {
        self.ahead = ahead
        base = Self.base(of: now)
    }

    /// How many milliseconds it is ahead now.
    func ahead(at now: Instant) -> Int64 { ahead - (Self.base(of: now) - base) }

    /// Records a time that the peer sent: a delayed message makes a clock look late, so the
    /// greatest is the closest.
    mutating func note(_ said: Int64, at now: Instant) {
        if said > ahead(at: now) { self = PeerClock(ahead: said, at: now) }
    }

    /// How far the wall clock is ahead of the monotonic one, in milliseconds.
    static func base(of now: Instant) -> Int64 {
        Int64(WallTime(clamping: now.wall).value) - Int64(clamping: now.monotonic)
    }
}

/// Clocks of peers that differ from this device's, as their owner is told.
struct ClockWatch: Sendable {
    /// Linked devices whose clocks differed when they were last compared, ascending.
    var apart: [DeviceID] = []
    /// This device's clock when that was; see ``PeerClock/base(of:)``.
    var base: Int64?
    /// The same at the last step.
    var last: Int64?
    /// Clocks of devices whose links restart because this device's clock was set, until they greet
    /// again.
    var former: [DeviceID: FormerClock] = [:]

    /// The clock of a device that was linked.
    struct FormerClock {
        var person: PersonID
        var clock: PeerClock
        /// Until when it counts, on the monotonic clock.
        var until: UInt64
    }
}

/// By how much the clock of a linked device differs from this one's.
public struct ClockDifference: Equatable, Sendable {
    /// The device.
    public var device: DeviceID
    /// Whose it is.
    public var person: PersonID
    /// How many milliseconds its clock is ahead; negative where it is behind.
    public var ahead: Int64
    /// Whether that is more than two clocks may differ that are both right.
    public var isApart: Bool { ahead.magnitude > NodeCore.clockToleranceMax }
}

// Clocks that are wrong are shown to their owners, and decide nothing: `Protocol/03-operations.md`,
// "Wrong clocks".
extension NodeCore {
    /// Clocks that differ by no more than this, in milliseconds, are both taken for right.
    public static let clockToleranceMax: UInt64 = 5 * 60_000
    /// A clock that was set by more than this, in milliseconds, is compared again.
    private static let clockStepMin: UInt64 = 60_000
    /// How long the state of a clock is kept after its link was ended for a new comparison, in
    /// milliseconds.
    private static let formerClockTime: UInt64 = 60_000

    /// The clocks of linked devices that have told theirs, ascending by device.
    public func clockDifferences(at now: Instant) -> [ClockDifference] {
        var known: [DeviceID: ClockDifference] = [:]
        for (device, former) in peers.clocks.former where now.monotonic < former.until {
            known[device] = ClockDifference(
                device: device, person: former.person, ahead: former.clock.ahead(at: now))
        }
        for link in peers.links.values where link.session != nil {
            guard let clock = link.clock else { continue }
            known[link.peer.device] = ClockDifference(
                device: link.peer.device, person: link.peer.person, ahead: clock.ahead(at: now))
        }
        return known.values.sorted { $0.device < $1.device }
    }

    /// Records the clock that a peer greets with.
    mutating func compareClock(of hello: Hello, on id: LinkID, _ turn: inout some Turn) {
        guard let peer = peers.links[id]?.peer else { return }
        peers.clocks.former[peer.device] = nil
        peers.links[id]?.clock = PeerClock(ahead: hello.clockOffset(at: turn.now), at: turn.now)
        desk.freshness.greeted(peer.device, by: hello.wallClock.value)
        compareClocks(&turn)
    }

    /// Compares the clocks again after this device's clock was set. Others compare theirs when they
    /// are greeted, so links restart; and signals are stamped by the present clock.
    mutating func watchClock(_ turn: inout some Turn) {
        let now = PeerClock.base(of: turn.now)
        let last = peers.clocks.last ?? now
        peers.clocks.last = now
        guard let base = peers.clocks.base else { return peers.clocks.base = now }
        if (now - base).magnitude > Self.clockStepMin { compareClocks(&turn) }
        // One that only runs too fast or too slow was not set.
        if (now - last).magnitude > Self.clockStepMin { beginAnewWithClock(&turn) }
    }

    private mutating func beginAnewWithClock(_ turn: inout some Turn) {
        desk.restartStamps(at: turn.now.wall)
        peers.clocks.former = [:]
        for id in peers.links.keys.sorted() {
            guard let link = peers.links[id], link.session != nil else { continue }
            if let clock = link.clock {
                peers.clocks.former[link.peer.device] = ClockWatch.FormerClock(
                    person: link.peer.person, clock: clock,
                    until: turn.now.monotonic + Self.formerClockTime)
            }
            hangUp(id, .clockSet, &turn)
        }
    }

    /// Tells that clocks differ, or do no longer.
    mutating func compareClocks(_ turn: inout some Turn) {
        peers.clocks.base = PeerClock.base(of: turn.now)
        let apart = clockDifferences(at: turn.now).filter(\.isApart).map(\.device)
        guard apart != peers.clocks.apart else { return }
        peers.clocks.apart = apart
        turn.emit(.changed([.clocks]))
    }
}
