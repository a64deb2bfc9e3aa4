import ParleySealing
import ParleyWire

/// So many at once, and one more each so many milliseconds.
struct RateLimit: Sendable {
    /// How many may come at once.
    let burst: UInt64
    /// After how many milliseconds one more may.
    let interval: UInt64
    private var spent: UInt64 = 0
    private var since: UInt64 = 0

    init(burst: UInt64, interval: UInt64) {
        self.burst = burst
        self.interval = interval
    }

    /// Takes one into account. Returns whether it may come.
    ///
    /// - Parameter now: on the monotonic clock.
    mutating func take(at now: UInt64) -> Bool {
        let passed = now - min(now, since)
        if spent == 0 || passed / interval >= spent {
            spent = 0
            since = now
        } else {
            spent -= passed / interval
            since += passed / interval * interval
        }
        guard spent < burst else { return false }
        spent += 1
        return true
    }

    /// Whether none may come.
    func isSpent(at now: UInt64) -> Bool {
        var limit = self
        return !limit.take(at: now)
    }
}

/// What is remembered of each of many names. Where there are too many, what was last used longest ago is
/// forgotten, and of what is as old the first name.
struct NameBook<Name: Hashable & Comparable & Sendable, Value: Sendable>: Sendable {
    private let countMax: Int
    private var entries: [Name: (value: Value, used: UInt64)] = [:]

    init(countMax: Int) { self.countMax = countMax }

    subscript(name: Name) -> Value? { entries[name]?.value }

    /// Remembers something, at this time on the monotonic clock.
    mutating func set(_ value: Value, of name: Name, at now: UInt64) {
        if entries[name] == nil, entries.count >= countMax,
            let oldest = entries.min(by: { ($0.value.used, $0.key) < ($1.value.used, $1.key) })
        {
            entries[oldest.key] = nil
        }
        entries[name] = (value, now)
    }
}

/// A separate limit for each of many names.
struct RateLimits<Name: Hashable & Comparable & Sendable>: Sendable {
    private let each: RateLimit
    private var limits: NameBook<Name, RateLimit>

    init(_ each: RateLimit, nameCountMax: Int) {
        self.each = each
        limits = NameBook(countMax: nameCountMax)
    }

    /// Takes one of this name into account. Returns whether it may come.
    mutating func take(_ name: Name, at now: UInt64) -> Bool {
        var limit = limits[name] ?? each
        defer { limits.set(limit, of: name, at: now) }
        return limit.take(at: now)
    }

    /// Whether none of this name may come.
    func isSpent(_ name: Name, at now: UInt64) -> Bool {
        limits[name]?.isSpent(at: now) ?? false
    }
}

/// What a node remembers about letters while it runs; all of it is bounded.
struct LetterBook: Sendable {
    /// Letters that are known again.
    static let recentCountMax = 4_096
    /// Devices and relays of which something is remembered.
    private static let nameCountMax = 1_024
    /// What shows something that is not proven yet costs up to 300 signatures: so many letters at
    /// once, of all relays together and of each.
    private static let unprovenBurst: (all: UInt64, relay: UInt64) = (16, 8)
    private static let unprovenInterval: UInt64 = 1_000
    /// The same of strangers who ask to be contacts, of all of them: as many at once as may wait.
    static let requestBurst = UInt64(Limits.pendingContactCountMax)
    static let requestInterval: UInt64 = 10_000
    private static let partBurst: UInt64 = 8
    /// Envelopes whose key is many steps away, per device: a removed member can still forge them.
    private static let walk: (burst: UInt64, interval: UInt64) = (8, 60_000)
    /// How often what a person cannot pay for holds up what lies behind it, at once and in time.
    static let putOff: (burst: UInt64, interval: UInt64) = (16, 60_000)
    /// Steps that may be walked for nothing.
    static let freeStepCount: UInt32 = 256

    /// The most recent letters: a relay may deliver one again and again.
    private var recent = RecentSet<UInt64>(limit: recentCountMax)
    private var ofAll = RateLimit(burst: unprovenBurst.all, interval: unprovenInterval)
    private var ofRelays = RateLimits<NoiseKey>(
        RateLimit(burst: unprovenBurst.relay, interval: unprovenInterval),
        nameCountMax: nameCountMax)
    private var ofStrangers = RateLimit(burst: requestBurst, interval: requestInterval)
    private var ofDevices = RateLimits<DeviceID>(
        RateLimit(burst: partBurst, interval: unprovenInterval), nameCountMax: nameCountMax)
    private var walks = RateLimits<DeviceID>(
        RateLimit(burst: walk.burst, interval: walk.interval), nameCountMax: nameCountMax)
    private var putOffs = RateLimits<PersonID>(
        RateLimit(burst: putOff.burst, interval: putOff.interval), nameCountMax: nameCountMax)
    /// When somebody's question was last answered, on the monotonic clock.
    private var answeredAt = NameBook<DeviceID, UInt64>(countMax: nameCountMax)
    /// Since when devices ask with numbers that were answered before.
    private var agedSince = NameBook<DeviceID, UInt64>(countMax: nameCountMax)
    private var toldAt = NameBook<DeviceID, UInt64>(countMax: nameCountMax)

    // What begins with `take` counts one more use, where it is within its limit, and returns whether it is.

    /// Whether a letter with this hash came lately.
    func isKnown(_ hash: Digest) -> Bool { recent.contains(Self.name(hash)) }

    /// Notes a letter by its hash.
    mutating func note(_ hash: Digest) { recent.insert(Self.name(hash)) }

    private static func name(_ hash: Digest) -> UInt64 {
        hash.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Whether others may wait once more until a person can pay for what they wrote.
    mutating func takePutOff(of person: PersonID, at now: UInt64) -> Bool {
        putOffs.take(person, at: now)
    }

    /// Whether the identity in one more letter may be proven that is not known.
    mutating func takeProof(from relay: NoiseKey, at now: UInt64) -> Bool {
        guard ofRelays.take(relay, at: now) else { return false }
        return ofAll.take(at: now)
    }

    /// Whether the contact request of one more stranger may be verified.
    mutating func takeRequestProof(at now: UInt64) -> Bool { ofStrangers.take(at: now) }

    /// Whether one more part of a card may be proven that a known device shows.
    mutating func takePartProof(of device: DeviceID, at now: UInt64) -> Bool {
        ofDevices.take(device, at: now)
    }

    /// Whether the key of an envelope may be worked out that is so many steps away in a device's chain.
    mutating func takeSteps(_ stepCount: UInt32, of device: DeviceID, at now: UInt64) -> Bool {
        stepCount <= Self.freeStepCount || walks.take(device, at: now)
    }

    /// Whether a question of a device may be answered again.
    mutating func takeAnswer(_ device: DeviceID, every interval: UInt64, at now: UInt64) -> Bool {
        if let last = answeredAt[device], now < last + interval { return false }
        answeredAt.set(now, of: device, at: now)
        return true
    }

    /// Whether a device may be told again of devices of its person that it did not show. That stands beside the
    /// answers: it is told in whatever letter it shows too little, and no question waits for that.
    mutating func takeTelling(_ device: DeviceID, every interval: UInt64, at now: UInt64) -> Bool {
        if let last = toldAt[device], now < last + interval { return false }
        toldAt.set(now, of: device, at: now)
        return true
    }

    /// Whether a question is answered that has no number above those of before: a relay may bring an old
    /// one again, or a store with a clock that was ahead was set back, and knows no greater one for years.
    mutating func takeAgedAnswer(_ device: DeviceID, every interval: UInt64, at now: UInt64) -> Bool
    {
        let since = agedSince[device]
        if let since, now < since + interval { return false }
        agedSince.set(now, of: device, at: now)
        return since != nil
    }
}

/// The content of a letter: its number among its sender's letters, and frames in sequence.
///
/// `u64 number ‖ parcel`.
/// Source: `Protocol/06-relay.md`, "What envelopes carry".
struct LetterContent {
    private static let prefixByteCount = 8

    /// Grows from letter to letter of a device.
    let number: LetterNumber
    /// The content, decoded as it is requested.
    var frames: ParcelReader

    /// Decodes the content of a letter; nil if it is invalid.
    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        // Why it does not read helps nobody.
        guard let number: LetterNumber = try? reader.bounded64(),
            let frames = ParcelReader(Array(reader.rest()))
        else { return nil }
        self.number = number
        self.frames = frames
    }

    /// The bytes of a letter with these frames; nil where they do not fit one.
    static func encode(_ frames: [Frame], number: LetterNumber) -> [UInt8]? {
        var parcel = Parcel(byteCountMax: Letter.contentByteCountMax - prefixByteCount)
        for frame in frames {
            guard parcel.add(frame) else { return nil }
        }
        var writer = ByteWriter(capacity: prefixByteCount + parcel.bytes.count)
        writer.uint64(number)
        writer.raw(parcel.bytes)
        return writer.bytes
    }
}
