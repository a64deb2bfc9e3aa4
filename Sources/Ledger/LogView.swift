public import ParleyWire

/// A place in a log, as vectors of places name it: logs are chains, so nothing else is needed.
public struct LogTip: Hashable, Comparable, Sendable {
    /// The log.
    public var tag: LogTag
    /// The place.
    public var sequence: UInt64

    /// This place of this log.
    public init(tag: LogTag, sequence: UInt64) {
        self.tag = tag
        self.sequence = sequence
    }

    /// The place that an operation names.
    public init(_ reference: OperationReference) {
        self.init(tag: reference.tag, sequence: reference.sequence)
    }

    /// Places order by log.
    public static func < (left: Self, right: Self) -> Bool {
        (left.tag, left.sequence) < (right.tag, right.sequence)
    }
}

/// What of lane 0 a stretch of a log was written under, from one place up to the next such row.
///
/// A log is stored with one row for each place at which that changes, which is rare. Above a gap
/// nobody can know it yet: there a row says what is to be added to the result below.
/// Source: `Protocol/03-operations.md`, "Views".
public struct LogView: Equatable, Sendable {
    /// The first place of the stretch.
    public var first: UInt64
    /// The tips of lane 0 that the log had named up to there, ascending; those named at ``first``
    /// alone while the row is provisional.
    public var tips: [LogTip]
    /// The authority that the stretch claims, while the row is provisional; nil once it is settled.
    public var claimed: UInt64?
    /// Whether an admission told this of the log up to ``first``, which is not held: it applies from the
    /// next place on.
    public var endsHere: Bool
    /// Whether all below the stretch is held, so that its view is known.
    public var isSettled: Bool { claimed == nil }

    /// A row with these fields.
    public init(
        first: UInt64, tips: [LogTip], claimed: UInt64? = nil, endsHere: Bool = false
    ) {
        self.first = first
        self.tips = tips
        self.claimed = claimed
        self.endsHere = endsHere
    }
}

extension LogView {
    /// The row's bytes, but for its place: as stores keep it.
    public var encoded: [UInt8] {
        var writer = ByteWriter(capacity: 16 + tips.count * 12)
        writer.byte(claimed == nil ? (endsHere ? 2 : 0) : 1)
        if let claimed { writer.uint64(claimed) }
        for tip in tips {
            writer.uint64(tip.tag.value)
            writer.number(tip.sequence)
        }
        return writer.bytes
    }

    /// The row in these bytes.
    public init(first: UInt64, encoded: [UInt8]) throws(DecodingFailure) {
        var reader = ByteReader(encoded)
        let form = try reader.byte()
        let claimed = form == 1 ? try reader.uint64() : nil
        var tips: [LogTip] = []
        while reader.remaining > 0 {
            tips.append(
                LogTip(tag: LogTag(try reader.uint64()), sequence: try reader.number()))
        }
        self.init(first: first, tips: tips, claimed: claimed, endsHere: form == 2)
    }
}
