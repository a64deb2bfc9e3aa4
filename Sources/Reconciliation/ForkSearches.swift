import ParleyLedger
import ParleyWire

/// The searches of one exchange for places where branches part: one at a time, and ever more rarely
/// where they come to nothing.
struct ForkSearches: Sendable {
    /// What a suspicion is based on. False ones of one kind do not delay those of another.
    enum Ground: Sendable {
        /// The peer's own tips, or a signature that it showed.
        case peer
        /// A cause that an operation names, whoever delivered the operation.
        case cause
        /// All tips are equal, and the digests over them differ.
        case digests
    }

    private(set) var current: ForkSearch?
    private var ground = Ground.peer
    private var attempts: [Ground: RareAttempts] = [:]
    /// Logs to be looked at, the last one first.
    private var audits: [ForkSearch] = []
    /// What both showed when all tips were equal and digests differed: here, and at the peer.
    private var unexplained: [FrontierDigests] = []

    var isIdle: Bool { current == nil }
    var isWaiting: Bool { current?.isWaiting == true }

    mutating func begin(_ search: ForkSearch, on ground: Ground) {
        guard current == nil, attempts[ground, default: RareAttempts()].takeOccasion() else {
            return
        }
        current = search
        self.ground = ground
    }

    /// What to ask next, if anything.
    mutating func question() -> Want.Range? {
        if current == nil, let next = audits.popLast() {
            current = next
            ground = .digests
        }
        return current?.question()
    }

    mutating func goOn(_ search: ForkSearch) { current = search }

    mutating func endFruitless() {
        guard current != nil else { return }
        attempts[ground, default: RareAttempts()].fail()
        current = nil
    }

    mutating func succeed() {
        attempts[ground] = nil
        current = nil
    }

    /// A search of which no question is open goes nowhere.
    mutating func forget() { current = nil }

    mutating func noteEqual() {
        audits = []
        unexplained = []
    }

    mutating func noteDifferentTips() { unexplained = [] }

    /// All tips are equal, and the digests differ. Once may be chance, since digests and tips are
    /// sent one after the other.
    ///
    /// - Returns: whether the logs are to be looked at one by one.
    mutating func noteEqualTips(here: FrontierDigests, there: FrontierDigests) -> Bool {
        let seen = [here, there]
        defer { unexplained = seen }
        return unexplained == seen && audits.isEmpty
            && attempts[.digests, default: RareAttempts()].takeOccasion()
    }

    mutating func audit(_ searches: [ForkSearch]) { audits = searches }
}

/// Makes fruitless attempts ever rarer: after one failure at every second occasion, then at every
/// fourth …
private struct RareAttempts: Sendable {
    private var failureCount = 0
    private var skippedCount = 0

    mutating func takeOccasion() -> Bool {
        guard skippedCount + 1 >= 1 << min(failureCount, 16) else {
            skippedCount += 1
            return false
        }
        skippedCount = 0
        return true
    }

    mutating func fail() { failureCount += 1 }
}
