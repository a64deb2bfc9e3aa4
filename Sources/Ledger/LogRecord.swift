public import ParleyWire

/// A space in this node's store. Local: never sent, never compared across nodes.
public struct SpaceNumber: Hashable, Comparable, Sendable {
    /// The number of the row.
    public let rawValue: Int64
    /// The space in this row.
    public init(_ rawValue: Int64) { self.rawValue = rawValue }
    /// Spaces order by when they came.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// A log in this node's store. Local: never sent, never compared across nodes.
public struct LogNumber: Hashable, Comparable, Sendable {
    /// The number of the row.
    public let rawValue: Int64
    /// The log in this row.
    public init(_ rawValue: Int64) { self.rawValue = rawValue }
    /// Logs order by when they came.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// An operation in this node's store. Local: never sent, never compared across nodes.
public struct OperationNumber: Hashable, Comparable, Sendable {
    /// The number of the row.
    public let rawValue: Int64
    /// The operation in this row.
    public init(_ rawValue: Int64) { self.rawValue = rawValue }
    /// Operations order by when they were stored.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The purpose of a space.
public enum SpaceKind: UInt8, CaseIterable, Sendable {
    /// A person's own devices: settings, contacts.
    case own = 0
    /// A conversation of exactly two persons.
    case direct = 1
    /// A conversation of any number of persons.
    case group = 2
}

/// A space as the store keeps it.
public struct SpaceRecord: Equatable, Sendable {
    /// Its row here.
    public let number: SpaceNumber
    /// Its name everywhere.
    public let id: SpaceID
    /// Its purpose.
    public let kind: SpaceKind

    /// A record with these fields.
    public init(number: SpaceNumber, id: SpaceID, kind: SpaceKind) {
        self.number = number
        self.id = id
        self.kind = kind
    }
}

/// Consecutive operations of a log that are all held and proven.
public struct Span: Equatable, Sendable {
    /// The place of the first.
    public var first: UInt64
    /// The place of the last.
    public var last: UInt64
    /// The identifier of the operation before the first; for place 0 the log's own identifier.
    public var anchor: OperationID
    /// The identifier of the last.
    public var tip: OperationID

    /// A span with these ends.
    public init(first: UInt64, last: UInt64, anchor: OperationID, tip: OperationID) {
        self.first = first
        self.last = last
        self.anchor = anchor
        self.tip = tip
    }
}

/// A point between two operations of a log: where branches part, where a cut ends it, or where it
/// begins for a newcomer.
public struct LogPoint: Equatable, Sendable {
    /// The place after the point.
    public var sequence: UInt64
    /// The identifier of the operation before it; for place 0 the log's own identifier.
    public var anchor: OperationID

    /// A point with these fields.
    public init(sequence: UInt64, anchor: OperationID) {
        self.sequence = sequence
        self.anchor = anchor
    }
}

/// A stored log: its author, and which part of it is held.
///
/// Held is at most two spans: one that grows, and above it the newest part that was fetched first
/// after a long absence. No third is opened until the gap is closed. A repair of a damaged store may leave
/// more; the newest gap is closed first.
public struct LogRecord: Equatable, Sendable {
    /// Its row here.
    public let number: LogNumber
    /// The space that it belongs to.
    public let space: SpaceNumber
    /// Its name everywhere.
    public let id: LogID
    /// The author.
    public let device: DeviceID
    /// The lane.
    public let lane: Lane
    /// The held spans, ascending; empty before the first operation.
    public var spans: [Span]
    /// Where its last operation stands, and how far that is known.
    public var order = LogOrder()
    /// Places below this one are named as causes by operations of other logs; 0 for none.
    public var coveredEnd: UInt64
    /// The same, counting only operations of lane 0.
    public var controlCoveredEnd: UInt64
    /// Where its author began to write two histories, if that is proven. The store keeps it beside
    /// the record: ``LogStore/addFork(_:in:)`` alone sets it.
    public var proven: LogPoint?
    /// What counts above that all the same. Derived from the operations held, and recomputed when a
    /// store is opened.
    public var vouched: VouchedPart?
    /// What is at or above it does not count: its author was removed, and no remover had seen that
    /// much. Of ``fork`` and this the lower one is ``bound``.
    public var limit: LogPoint?
    /// What is below it is not for this node, which came later. Nothing of that is missing, and the
    /// log counts as if it were held.
    public var floor: LogPoint?

    /// A record with these fields.
    public init(
        number: LogNumber, space: SpaceNumber, id: LogID, device: DeviceID, lane: Lane,
        spans: [Span] = [], coveredEnd: UInt64 = 0, controlCoveredEnd: UInt64 = 0
    ) {
        self.number = number
        self.space = space
        self.id = id
        self.device = device
        self.lane = lane
        self.spans = spans
        self.coveredEnd = coveredEnd
        self.controlCoveredEnd = controlCoveredEnd
    }

    /// How operations of the space name this log.
    public var tag: LogTag { LogTag(id) }

    /// The first place that this node may have.
    public var base: UInt64 { floor?.sequence ?? 0 }

    /// The first place that operations are to name: nobody waits for a newcomer to name what it has
    /// not seen. A member who comes back has seen what is right below its floor.
    var unnamedBase: UInt64 { base > 0 && holds(base - 1) ? base - 1 : base }

    /// The spans that count for what is missing: those that reach up to ``base``.
    var upperSpans: [Span] {
        floor == nil ? spans : spans.filter { $0.last + 1 >= base }
    }

    /// The place after the last operation held: what the next one gets.
    public var end: UInt64 { max(spans.last.map { $0.last + 1 } ?? 0, base) }

    /// The identifier that the next operation follows.
    public var tip: OperationID {
        upperSpans.last?.tip ?? floor?.anchor ?? OperationID(reinterpreting: id)
    }

    /// Whether every operation up to the last is held.
    public var isWhole: Bool { gap == nil }

    /// The newest stretch of places that are not held, or nil where all are.
    public var gap: ClosedRange<UInt64>? {
        let upper = upperSpans
        guard let top = upper.last, top.first > base else { return nil }
        if upper.count > 1 { return upper[upper.count - 2].last + 1...top.first - 1 }
        return base...top.first - 1
    }

    /// The last place up to which nothing is missing, or nil where even the first is.
    public var wholeThrough: UInt64? {
        if let lowest = upperSpans.first, lowest.first <= base { return lowest.last }
        return base > 0 ? base - 1 : nil
    }

    /// Whether the operation at this place is held.
    public func holds(_ sequence: UInt64) -> Bool {
        spans.contains { $0.first <= sequence && sequence <= $0.last }
    }
}
