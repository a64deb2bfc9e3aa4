public import ParleyWire

/// A place in a log of the control lane.
public struct ControlPlace: Hashable, Comparable, Sendable {
    /// The log.
    public let tag: LogTag
    /// The place.
    public let sequence: UInt64

    /// The place with these coordinates.
    public init(tag: LogTag, sequence: UInt64) {
        self.tag = tag
        self.sequence = sequence
    }

    /// Places order by log, then as they stand.
    public static func < (left: Self, right: Self) -> Bool {
        (left.tag, left.sequence) < (right.tag, right.sequence)
    }
}

/// What somebody had seen of the control lane: its last places, none in the past of another.
public struct ControlTips: Hashable, Sendable {
    /// The places, ascending; one a log.
    public let places: [ControlPlace]

    /// Tips at these places. ``ControlGraph/merge(_:_:)`` leaves out what others cover.
    public init(_ places: [ControlPlace] = []) { self.places = places.sorted() }
}
