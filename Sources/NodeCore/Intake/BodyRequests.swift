import ParleyWire

/// When missing payloads are requested, and whose turn it is to be asked.
///
/// The store records which payloads are missing, as
/// ``MissingBodies``. This value owns what is in flight: the next round, how many rounds in a row
/// brought nothing, and the place at which it asks. A round is scheduled only while something is
/// missing, and the earliest requested moment counts.
/// Source: `Protocol/06-sync.md`, "Missing payloads".
struct BodyRequests: Sendable {
    /// 2 s … 128 s between rounds.
    static let backoff = Backoff(first: 2_000, max: 128_000)
    /// Of so many rounds without a payload one asks by letter, in the end: about once an hour.
    static let letterInterval: UInt64 = 32

    /// After so many rounds in vain, and one for each link, words that disappear are asked for no more: they are
    /// gone everywhere, most likely. A new peer is asked again.
    static let passingRoundCountMax: UInt64 = 8

    /// Whether operations are known whose payload did not come along.
    private(set) var hasMissing = false
    /// Whether nobody is asked until somebody new is there: all that is missing are words that disappear.
    private var isResting = false
    /// Rounds since a payload came, or since somebody new was there to be asked.
    private var fruitlessRoundCount: UInt64 = 0
    /// When the next round begins, on the monotonic clock.
    private var due: UInt64?
    /// Where the next round begins to ask.
    private(set) var cursor = Cursor()
    /// How many rounds have asked from there.
    private var attemptCount: UInt64 = 0

    /// A place of a log whose payloads are missing.
    struct Cursor: Equatable, Sendable {
        /// The store's key of the log.
        var key: [UInt8] = []
        var place: UInt64 = 0
    }

    /// How many places a round may ask for: fewer where several have brought nothing, since what nobody
    /// has may be asked for as long as there are people to ask.
    var placeCountMax: UInt64 { fruitlessRoundCount < 4 ? 128 : 32 }

    /// Notes whether payloads are missing.
    mutating func setMissing(_ isMissing: Bool) { hasMissing = isMissing }

    /// Notes that a payload arrived, or that a peer is connected that was not asked yet: the next
    /// rounds follow each other quickly again.
    mutating func resetBackoff() { (fruitlessRoundCount, isResting) = (0, false) }

    /// How many rounds ask for words that disappear, beside one for each link.
    var passingRoundCount: Int {
        Int(Self.passingRoundCountMax) - Int(clamping: fruitlessRoundCount)
    }

    /// Schedules the next round.
    ///
    /// - Parameter now: on the monotonic clock, in milliseconds.
    /// - Returns: when it begins, where that is earlier than was known.
    mutating func scheduleRound(at now: UInt64) -> UInt64? {
        guard hasMissing, !isResting else { return nil }
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

    /// Notes how far a round asked. The next one asks for the same places again until every link
    /// was asked, and then for those behind them, so that a payload that nobody has does not block
    /// the others.
    ///
    /// - Parameter isLast: whether nobody is asked any more until somebody new is there.
    mutating func noteRound(to next: Cursor, linkCount: Int, isLast: Bool = false) {
        isResting = isLast
        attemptCount += 1
        guard attemptCount >= linkCount else { return }
        cursor = next
        attemptCount = 0
    }

    /// Ends a round, which is fruitless until a payload comes.
    ///
    /// - Returns: when the next one begins, where something is still missing.
    mutating func endRound(at now: UInt64) -> UInt64? {
        defer { fruitlessRoundCount += 1 }
        return scheduleRound(at: now)
    }

    /// What is known about logs, from the one at which the round begins.
    ///
    /// - Parameter logs: by the store's keys, ascending.
    func inTurn(
        _ logs: [(key: [UInt8], value: [UInt8])]
    ) -> [(key: [UInt8], value: [UInt8])] {
        let earlier = logs.prefix { $0.key.lexicographicallyPrecedes(cursor.key) }
        return Array(logs.dropFirst(earlier.count) + earlier)
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
