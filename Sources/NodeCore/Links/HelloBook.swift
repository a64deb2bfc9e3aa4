import ParleyWire

/// How much work callers may cause by what they show in a handshake, before it is known who they
/// are.
///
/// A hello shows up to 36 identity operations, with two signatures each. Those of known persons
/// were verified before and are not verified again; all others share one allowance, charged before
/// a signature is checked. So made-up identities gain nothing, and a flood of them keeps out nobody
/// who is known.
/// Source: `Protocol/06-sync.md`, "What a peer may cost".
public struct HelloBook: Sendable {
    /// Operations that are known to hold, at most: those of some thousand persons.
    static let provenCountMax = 8_192
    /// The cost of verifying one, in units of ``Allowance``.
    static let provingWork: UInt64 = 12

    private var proven = RecentSet<[UInt8]>(limit: provenCountMax)
    private var strangers = Allowance()

    /// A book in which nobody is known.
    public init() {}

    /// Whether there is room for no more without forgetting some.
    public var isFull: Bool { proven.count >= Self.provenCountMax }

    /// Notes operations of a known person, each of which was verified.
    public mutating func learn(_ operations: [[UInt8]]) {
        for operation in operations { proven.insert(operation) }
    }

    /// Charges a hello with these operations before any of them is verified.
    ///
    /// - Parameter now: on the monotonic clock.
    /// - Returns: those that need not be proven, or nil where the others must not be.
    public mutating func judge(_ operations: [[UInt8]], at now: UInt64) -> Set<[UInt8]>? {
        let known = Set(operations.filter(proven.contains))
        let count = operations.count { !known.contains($0) }
        guard count > 0 else { return known }
        let work = Self.provingWork * UInt64(count)
        let verdict = strangers.take(work, at: now, .strangers, orDropFor: 0)
        return verdict == .fine ? known : nil
    }
}
