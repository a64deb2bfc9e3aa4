import ParleyLedger
import ParleyWire

/// What a space lacks, and who has it.
struct Repair: Sendable {
    /// How many devices are asked at a time if nobody is known to hold what is missing.
    static let askedDeviceCountMax = 3
    /// So many holders are known of one space.
    static let holderCountMax = 8
    /// A repair of what nobody brings ends after so many rounds.
    static let roundCountMax: UInt64 = 8
    /// 30 s, 1 min … 1 h between rounds.
    private static let backoff = Backoff(first: 30_000, max: 3_600_000)

    /// Devices that said they hold it, the last one last; empty where everybody is asked.
    private(set) var holders: [DeviceID] = []
    /// The places after the last that they said they hold, of logs that end before here.
    private(set) var ends: [LogTag: UInt64] = [:]
    /// Rounds so far in which devices were asked, or were left to links.
    private(set) var roundCount: UInt64 = 0

    /// How long until the next round, in milliseconds. The first one comes soon.
    var delay: UInt64 {
        roundCount == 0 ? 2_000 : Self.backoff.delay(after: roundCount - 1)
    }

    /// Whether nothing more is to be asked after a round in which somebody was: where nobody is known
    /// to hold more one question is enough, for an answer may bring another.
    var isExhausted: Bool { holders.isEmpty || roundCount > Self.roundCountMax }

    /// Records a device that holds what is missing.
    mutating func addHolder(_ device: DeviceID) {
        holders.removeAll { $0 == device }
        holders = holders.suffix(Self.holderCountMax - 1) + [device]
    }

    /// Takes out holders that are linked: they bring it without being asked.
    mutating func removeHolders(_ linked: Set<DeviceID>) {
        holders.removeAll(where: linked.contains)
    }

    /// Notes how far logs go elsewhere.
    mutating func extend(to ends: [LogTag: UInt64]) {
        self.ends.merge(ends, uniquingKeysWith: max)
    }

    /// Notes that a round is over.
    mutating func endRound() { roundCount += 1 }

    /// Who is asked in this round: known holders, then others in turn, because those asked before
    /// may be gone.
    ///
    /// - Parameter others: devices that may have it; empty where only holders may be asked.
    func devices(among others: [DeviceID]) -> [DeviceID] {
        let first = holders.last.map { [$0] } ?? []
        guard first.isEmpty || roundCount > 0 else { return first }
        let rest = others.filter { !first.contains($0) }
        let start = rest.isEmpty ? 0 : Int(roundCount) % rest.count
        let turned = rest[start...] + rest[..<start]
        return first + turned.prefix(Self.askedDeviceCountMax - first.count)
    }
}

/// The repairs that are underway, one for each space at most.
///
/// Owns what is known to be missing; the core stores the last holder of each for the next start.
/// Source: `Protocol/06-relay.md`, "Repair".
struct Repairs: Sendable {
    private var bySpace: [SpaceNumber: Repair] = [:]

    /// The repair of a space, where one is underway.
    func repair(of space: SpaceNumber) -> Repair? { bySpace[space] }

    /// Keeps the repair of a space; nil ends it.
    ///
    /// - Returns: whether the store is to keep another holder, or none any more.
    mutating func keep(_ repair: Repair?, of space: SpaceNumber) -> Bool {
        let before = bySpace[space].map { $0.holders.last?.bytes ?? [] }
        bySpace[space] = repair
        return repair.map { $0.holders.last?.bytes ?? [] } != before
    }

    /// Forgets a space, whose repair is gone from the store.
    mutating func forget(_ space: SpaceNumber) { bySpace[space] = nil }
}
