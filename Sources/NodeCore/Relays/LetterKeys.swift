import ParleyConversation
import ParleyLedger
import ParleySealing
import ParleyWire

/// Prekeys out of the vault, in locked memory, for as long as a page of letters takes.
struct LetterKeys: Sendable {
    /// How long they stay, in milliseconds.
    static let lifetime: UInt64 = 1_000

    /// The newest first: that is what most letters are sealed to.
    let prekeys: [PrivateLeaf]
    /// When they are forgotten, on the monotonic clock.
    let until: UInt64
}

/// Trying what comes with each prekey that is kept.
/// Source: `Protocol/06-relay.md`, "What letters cost".
extension NodeCore {
    /// The keys to which letters may be sealed. The relay pays for their being read, as for each that is
    /// tried: a person may have as many as 64.
    mutating func letterKeys(
        for relay: NoiseKey, _ turn: inout some Turn
    ) throws(StoreError) -> [PrivateLeaf] {
        if let keys = courier.letterKeys { return keys.prekeys }
        let prekeys = try turn.store.secrets(.prekey, in: nil).compactMap { TimedLeaf($0.secret) }
            .enumerated().sorted { ($0.element.time, $0.offset) > ($1.element.time, $1.offset) }
            .map(\.element.leaf)
        courier.letterKeys = LetterKeys(
            prekeys: prekeys, until: turn.now.monotonic + LetterKeys.lifetime)
        charge(FrameWork.reading(keyCount: prekeys.count), for: relay)
        return prekeys
    }

    /// Charges a relay for the keys with which something was tried that it brought.
    mutating func chargeTrying(keyCount: Int, for relay: NoiseKey) {
        charge(FrameWork.trying(keyCount: keyCount), for: relay)
    }

    private mutating func charge(_ work: UInt64, for relay: NoiseKey) {
        courier.passing.spend(work, by: relay)
        courier.workOfStep += work
    }

    /// Forgets the keys, where it is time.
    mutating func tendLetterKeys(at now: Instant) {
        if let keys = courier.letterKeys, now.monotonic >= keys.until { courier.letterKeys = nil }
    }
}

extension FrameWork {
    /// The cost of taking so many keys out of the vault: the first is paid for with what it opens.
    public static func reading(keyCount: Int) -> UInt64 { 12 * UInt64(max(keyCount, 1) - 1) }

    /// The cost of trying so many keys with a letter: the first is paid for with the letter.
    public static func trying(keyCount: Int) -> UInt64 { 8 * UInt64(max(keyCount, 1) - 1) }
}
