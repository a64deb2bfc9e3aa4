import ParleyWire

/// Why a chain gives no key for a step.
public enum ChainRefusal: Error, Equatable, Sendable {
    /// A step that no chain has.
    case noSuchStep(UInt32)
    /// The key was used, or skipped so long ago or by so many that it is gone.
    case gone(UInt32)
}

/// The keys of one device in one epoch, one per step, each derived from the last and from none
/// after it: a used and erased key cannot be computed again.
///
/// It advances by any number of steps. Keys of skipped steps are kept for a day, the newest 256 of
/// them. All state is in the value: its owner puts ``stored`` in the vault in place of the former
/// state.
/// Source: `Protocol/09-epochs.md`, "Chains".
public struct Chain: Sendable {
    /// How long the key of a skipped step is kept, in milliseconds.
    public static let skippedLifetime: UInt64 = 24 * 3_600_000
    /// By how much an author moves on, in an epoch that it gets back, for each time that its store was set
    /// back before.
    public static let stepCountAfterSetBack: UInt32 = 64

    private struct Skipped {
        let step: UInt32
        /// In Unix milliseconds.
        var until: UInt64
        let key: WipedBytes
    }

    /// The next step that was not reached yet.
    public private(set) var step: UInt32
    private var key: WipedBytes
    /// Ascending by step.
    private var skipped: [Skipped]

    init(key: WipedBytes) {
        self.key = key
        step = 0
        skipped = []
    }

    /// Whether no step is left.
    public var isSpent: Bool { step >= UInt32(Limits.chainStepCountMax) }

    /// How many keys of skipped steps are held.
    public var skippedCount: Int { skipped.count }

    /// How many steps away a step is; none where it was reached before.
    func stepCount(to wanted: UInt32) -> UInt32 { wanted < step ? 0 : wanted - step }

    /// The key of a step, without moving: a chain moves only for what proved to be genuine.
    func messageKey(at wanted: UInt32, now: UInt64) throws(ChainRefusal) -> WipedBytes {
        guard wanted < UInt32(Limits.chainStepCountMax) else { throw .noSuchStep(wanted) }
        guard wanted >= step else {
            guard let kept = skipped.first(where: { $0.step == wanted && $0.until > now }) else {
                throw .gone(wanted)
            }
            return kept.key
        }
        var ahead = key
        for _ in step..<wanted { ahead = Self.next(ahead) }
        return Self.messageKey(ahead, wanted)
    }

    /// Moves past a step whose envelope proved to be genuine, and erases its key.
    ///
    /// - Parameter now: Unix milliseconds.
    mutating func use(_ used: UInt32, now: UInt64) {
        eraseExpiredKeys(now: now)
        guard used >= step else { return skipped.removeAll { $0.step == used } }
        let firstKept = UInt64(used) - min(UInt64(used), UInt64(Limits.skippedKeyCountMax))
        while step < used {
            if UInt64(step) >= firstKept {
                skipped.append(
                    Skipped(
                        step: step, until: now + Self.skippedLifetime,
                        key: Self.messageKey(key, step)))
            }
            advance()
        }
        advance()
        let excess = skipped.count - Limits.skippedKeyCountMax
        if excess > 0 { skipped = Array(skipped.dropFirst(excess)) }
    }

    /// Erases the keys of skipped steps whose time is over. A clock that was set back keeps none
    /// longer than a full lifetime from now.
    ///
    /// - Parameter now: Unix milliseconds.
    /// - Returns: whether the chain changed and must be stored again.
    @discardableResult
    public mutating func eraseExpiredKeys(now: UInt64) -> Bool {
        let countBefore = skipped.count
        skipped.removeAll { $0.until <= now }
        var didChange = skipped.count != countBefore
        let (sum, isOver) = now.addingReportingOverflow(Self.skippedLifetime)
        let latest = isOver ? UInt64.max : sum
        for place in skipped.indices where skipped[place].until > latest {
            skipped[place].until = latest
            didChange = true
        }
        return didChange
    }

    /// Advances an author's own chain, keeping nothing of what it skips.
    public mutating func skip(_ count: UInt32 = stepCountAfterSetBack) {
        for _ in 0..<count where !isSpent { advance() }
    }

    /// Leaves no step, and no key: which ones were used nobody knows any more.
    public mutating func spend() {
        step = UInt32(Limits.chainStepCountMax)
        key = WipedBytes(byteCount: 32) { $0.initializeMemory(as: UInt8.self, repeating: 0) }
        skipped = []
    }

    private mutating func advance() {
        key = Self.next(key)
        step += 1
    }

    private static func next(_ key: WipedBytes) -> WipedBytes {
        deriveWiped(key: key, .nextChainKey)
    }

    private static func messageKey(_ key: WipedBytes, _ step: UInt32) -> WipedBytes {
        let context = withUnsafeBytes(of: step.bigEndian) { Array($0) }
        return deriveWiped(key: key, .stepKey, context: context)
    }

    // MARK: As it is kept

    private static let headByteCount = 37
    private static let skippedByteCount = 44

    /// The chain as the vault keeps it: `u8 1 ‖ u32 step ‖ key[32] ‖ n × (u32 step ‖ u64 until
    /// ‖ key[32])`.
    public var stored: Secret {
        let count = Self.headByteCount + skipped.count * Self.skippedByteCount
        return Secret(byteCount: count) { output in
            output[0] = 1
            output.storeBytes(of: step.bigEndian, toByteOffset: 1, as: UInt32.self)
            key.withKeyBytes {
                UnsafeMutableRawBufferPointer(rebasing: output[5..<37]).copyMemory(from: $0)
            }
            var place = Self.headByteCount
            for kept in skipped {
                output.storeBytes(of: kept.step.bigEndian, toByteOffset: place, as: UInt32.self)
                output.storeBytes(
                    of: kept.until.bigEndian, toByteOffset: place + 4, as: UInt64.self)
                let end = place + Self.skippedByteCount
                kept.key.withKeyBytes {
                    UnsafeMutableRawBufferPointer(rebasing: output[(place + 12)..<end])
                        .copyMemory(from: $0)
                }
                place = end
            }
        }
    }

    /// A chain that was kept; nil where the bytes are none.
    public init?(stored: Secret) {
        let rest = stored.count - Self.headByteCount
        guard rest >= 0, rest % Self.skippedByteCount == 0 else { return nil }
        // Read in place: a copy on the way would have to be wiped.
        let read: (UInt32, WipedBytes, [Skipped])? = stored.withUnsafeBytes { bytes in
            guard bytes[0] == 1 else { return nil }
            var skipped: [Skipped] = []
            for place in stride(
                from: Self.headByteCount, to: bytes.count, by: Self.skippedByteCount)
            {
                skipped.append(
                    Skipped(
                        step: UInt32(
                            bigEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)),
                        until: UInt64(
                            bigEndian: bytes.loadUnaligned(
                                fromByteOffset: place + 4, as: UInt64.self)),
                        key: WipedBytes(
                            UnsafeRawBufferPointer(
                                rebasing: bytes[(place + 12)..<(place + Self.skippedByteCount)]))))
            }
            let step = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 1, as: UInt32.self))
            return (step, WipedBytes(UnsafeRawBufferPointer(rebasing: bytes[5..<37])), skipped)
        }
        guard let read else { return nil }
        (step, key, skipped) = read
    }
}
