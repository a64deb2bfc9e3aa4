import ParleyWire

/// The state of reaching devices, and when each is dialled again.
///
/// Owns one attempt for each device that is looked for: whose device it is, whether it is being dialled,
/// and how often in a row that was in vain. Where a device can be reached stands on its person's card.
/// Source: `Protocol/04-links.md`, "Neighbours".
struct Dialer: Sendable {
    /// 1 s, 2 s, 4 s … 5 min between attempts.
    static let backoff = Backoff(first: 1_000, max: 300_000)
    /// A device moves at most so often, in milliseconds.
    static let moveInterval: UInt64 = 60_000

    /// What can become of an attempt.
    enum Event: Sendable {
        /// Its addresses are being called.
        case begun
        /// None of its addresses answered.
        case failed
        /// A link was established. One that ends before the peer has greeted counts as a failure,
        /// or a stranger would be dialled every second forever.
        case linked
        /// The peer takes this node in.
        case welcomed
        /// The link lasts.
        case settled
        /// The link ended because there was nothing to say, or because the peer broke the protocol or sent
        /// too much: it would else be dialled every other second for ever.
        case turnedAway
        /// The dialled link is not needed, or has ended.
        case lost
    }

    private struct Attempt {
        let person: PersonID
        var failureCount: UInt64 = 0
        /// What it was when the link began that is there now.
        var failureCountBefore: UInt64 = 0
        var isUnderway = false
        /// When it last began again because the device said it is elsewhere, on the monotonic clock.
        var movedAt: UInt64?
    }

    private var attempts: [DeviceID: Attempt] = [:]

    /// Devices that are looked for, ascending.
    var devices: [DeviceID] { attempts.keys.sorted() }

    /// How many devices are being dialled.
    var underwayCount: Int { attempts.values.count { $0.isUnderway } }

    /// Whose device is looked for; nil where it is not.
    func person(of device: DeviceID) -> PersonID? { attempts[device]?.person }

    /// Whether a device is being dialled.
    func isUnderway(_ device: DeviceID) -> Bool { attempts[device]?.isUnderway == true }

    /// Looks for a device as if for the first time.
    mutating func restart(_ device: DeviceID, of person: PersonID) {
        attempts[device] = Attempt(person: person)
    }

    /// Notes what became of an attempt; of a device that is not looked for nothing is noted.
    mutating func note(_ event: Event, of device: DeviceID) {
        guard var attempt = attempts[device] else { return }
        switch event {
        case .begun:
            precondition(!attempt.isUnderway, "a device is dialled once at a time")
            attempt.isUnderway = true
        case .failed, .linked:
            attempt.isUnderway = false
            attempt.failureCount += 1
        case .welcomed:
            attempt.failureCountBefore = attempt.failureCount
            attempt.failureCount = 0
        case .settled: attempt.failureCountBefore = 0
        case .turnedAway:
            attempt.failureCount = max(attempt.failureCount, attempt.failureCountBefore)
        case .lost: attempt.isUnderway = false
        }
        attempts[device] = attempt
    }

    /// Notes that a device says it is elsewhere: how often it was not found says nothing any more.
    ///
    /// - Returns: whether that is believed: otherwise a peer could have any address dialled all the
    ///   time.
    mutating func move(_ device: DeviceID, at now: UInt64) -> Bool {
        guard let attempt = attempts[device] else { return false }
        if let movedAt = attempt.movedAt, now < movedAt + Self.moveInterval { return false }
        attempts[device]?.movedAt = now
        attempts[device]?.failureCount = 0
        return true
    }

    /// Looks for a device no more.
    mutating func drop(_ device: DeviceID) { attempts[device] = nil }

    /// Looks for no device of a person any more.
    mutating func dropDevices(of person: PersonID) {
        attempts = attempts.filter { $0.value.person != person }
    }

    /// How long to wait before a device is dialled again, in milliseconds, and up to a quarter longer, so
    /// that two nodes do not keep step; nil where it is not looked for.
    func delay(
        before device: DeviceID, using random: inout some RandomNumberGenerator
    ) -> UInt64? {
        guard let attempt = attempts[device] else { return nil }
        let delay = Self.backoff.delay(after: attempt.failureCount)
        return delay + random.next() % (delay / 4)
    }
}
