import ParleyWire

/// When missing payloads are requested, and whose turn it is to be asked.
///
/// Which payloads are missing is in the store, as ``MissingBodies``. This owns what is in flight: the
/// next round, how many rounds in a row brought nothing, and the log that was looked at last. A round
/// is scheduled only while something is missing, and the earliest moment asked for is the one that
/// counts.
/// Source: `Protocol/06-sync.md`, "Missing payloads".
struct BodyRequests: Sendable {
    /// 2 s … 128 s between rounds.
    static let backoff = Backoff(first: 2_000, max: 128_000)
    /// Of so many rounds without a payload one asks by letter, in the end: about once an hour.
    static let letterInterval: UInt64 = 32

    /// Whether operations are known whose payload did not come along.
    private(set) var hasMissing = false
    /// Rounds since a payload came, or since somebody new was there to be asked.
    private var fruitlessRoundCount: UInt64 = 0
    /// When the next round begins, on the monotonic clock.
    private var due: UInt64?
    /// The store's key of the log that was looked at last.
    private var lastKey: [UInt8] = []

    /// Notes whether payloads are missing.
    mutating func setMissing(_ isMissing: Bool) { hasMissing = isMissing }

    /// Notes that a payload came, or that somebody is there who was not asked yet: the next rounds
    /// follow each other quickly again.
    mutating func resetBackoff() { fruitlessRoundCount = 0 }

    /// Schedules the next round.
    ///
    /// - Parameter now: on the monotonic clock, in milliseconds.
    /// - Returns: when it begins, where that is earlier than was known.
    mutating func scheduleRound(at now: UInt64) -> UInt64? {
        guard hasMissing else { return nil }
        let moment = now + Self.backoff.delay(after: fruitlessRoundCount)
        if let due, due <= moment { return nil }
        due = moment
        return moment
    }

    /// Begins a round, in which everything that is still missing is noted again.
    ///
    /// - Returns: whether one is due; an earlier round may have taken its place.
    mutating func beginRound(at now: UInt64) -> Bool {
        guard let due, due <= now else { return false }
        self.due = nil
        hasMissing = false
        return true
    }

    /// Notes a log that was looked at in this round: the next one begins behind it.
    mutating func noteLook(at key: [UInt8]) { lastKey = key }

    /// Ends a round, which is fruitless until a payload comes.
    ///
    /// - Returns: when the next one begins, where something is still missing.
    mutating func endRound(at now: UInt64) -> UInt64? {
        defer { fruitlessRoundCount += 1 }
        return scheduleRound(at: now)
    }

    /// What is known of logs, from behind the log that was looked at last and around.
    ///
    /// - Parameter logs: by the store's keys, ascending.
    func inTurn(
        _ logs: [(key: [UInt8], value: [UInt8])]
    ) -> [(key: [UInt8], value: [UInt8])] {
        let later = logs.filter { lastKey.lexicographicallyPrecedes($0.key) }
        return later + logs.prefix(logs.count - later.count)
    }

    /// The link that is asked in this round, another one in each.
    func link(among links: [LinkID]) -> LinkID? {
        guard !links.isEmpty else { return nil }
        return links[Int(fruitlessRoundCount % UInt64(links.count))]
    }

    /// Whether a device without a link is asked in this round: once all links were, in the first such
    /// round, the second, the fourth … and then in each 32nd.
    func asksByLetter(besides linkCount: Int) -> Bool {
        guard fruitlessRoundCount >= UInt64(linkCount) else { return false }
        return fruitlessRoundCount.nonzeroBitCount <= 1
            || fruitlessRoundCount % Self.letterInterval == 0
    }

    /// The device that is asked by letter in this round, another one in each that asks by letter.
    func device(among devices: [DeviceID]) -> DeviceID? {
        guard !devices.isEmpty else { return nil }
        let count = fruitlessRoundCount
        let letterCount =
            UInt64(count.bitWidth - count.leadingZeroBitCount) + count / Self.letterInterval
        return devices[Int(letterCount % UInt64(devices.count))]
    }
}
