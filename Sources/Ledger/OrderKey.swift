public import ParleyWire

/// The order of operations on every screen: stand, then log, then place, then identifier.
///
/// It extends causality, whatever clocks say: these decide only among concurrent operations. The
/// identifier matters only on forked logs.
/// Source: `Protocol/03-operations.md`, "Order".
public struct OrderKey: Hashable, Comparable, Sendable {
    /// Where it stands, in 2^-16 milliseconds; an imported row no later than its original time.
    public var stand: UInt64
    /// The log.
    public var tag: LogTag
    /// The place in the log.
    public var sequence: UInt64
    /// The operation.
    public var id: OperationID

    /// A key with these parts.
    public init(stand: UInt64, tag: LogTag, sequence: UInt64, id: OperationID) {
        self.stand = stand
        self.tag = tag
        self.sequence = sequence
        self.id = id
    }

    /// Whether `left` stands above `right` on a screen.
    public static func < (left: Self, right: Self) -> Bool {
        if left.stand != right.stand { return left.stand < right.stand }
        if left.tag != right.tag { return left.tag < right.tag }
        if left.sequence != right.sequence { return left.sequence < right.sequence }
        return left.id < right.id
    }
}
