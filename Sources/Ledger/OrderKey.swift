public import ParleyWire

/// The order of operations on every screen: clock, then log, then place, then identifier.
///
/// It extends causality for honest authors, and only concurrent operations are decided by the
/// clock. The identifier matters only on forked logs.
/// Source: `Protocol/03-operations.md`, "Order".
public struct OrderKey: Hashable, Comparable, Sendable {
    /// The hybrid clock, or for an imported row its original time in the same unit.
    public var clock: UInt64
    /// The log.
    public var tag: LogTag
    /// The place in the log.
    public var sequence: UInt64
    /// The operation.
    public var id: OperationID

    /// A key with these parts.
    public init(clock: UInt64, tag: LogTag, sequence: UInt64, id: OperationID) {
        self.clock = clock
        self.tag = tag
        self.sequence = sequence
        self.id = id
    }

    /// Whether `left` stands above `right` on a screen.
    public static func < (left: Self, right: Self) -> Bool {
        if left.clock != right.clock { return left.clock < right.clock }
        if left.tag != right.tag { return left.tag < right.tag }
        if left.sequence != right.sequence { return left.sequence < right.sequence }
        return left.id < right.id
    }
}
