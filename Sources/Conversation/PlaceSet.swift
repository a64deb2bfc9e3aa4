import ParleyWire

/// Places of a log, as ascending ranges that do not touch.
///
/// Read places need not begin at the first place, and may have gaps.
/// Source: `Protocol/03-operations.md`, "Receipts".
public struct PlaceSet: Equatable, Hashable, Sendable {
    /// How many ranges one receipt may contain per log.
    public static let rangeCountMax = 64

    /// The ranges, ascending; none is empty, and between two lies at least one place.
    public private(set) var ranges: [Range<UInt64>] = []

    /// A set without places.
    public init() {}

    /// The places of one range.
    public init(_ range: Range<UInt64>) { insert(range) }

    /// Whether it is empty.
    public var isEmpty: Bool { ranges.isEmpty }

    /// The highest place; nil if it is empty.
    public var last: UInt64? { ranges.last.map { $0.upperBound - 1 } }

    /// Whether it contains a place.
    public func contains(_ place: UInt64) -> Bool { range(around: place) != nil }

    /// Whether it contains all places of another.
    public func contains(_ other: PlaceSet) -> Bool {
        other.ranges.allSatisfy { part in
            range(around: part.lowerBound).map { part.upperBound <= $0.upperBound } ?? false
        }
    }

    /// The place after the last of those that follow each other from this one on; 0 where it is not
    /// in the set.
    public func end(from place: UInt64) -> UInt64 { range(around: place)?.upperBound ?? 0 }

    private func range(around place: UInt64) -> Range<UInt64>? {
        let index = ranges.firstIndex { place < $0.upperBound }
        return index.flatMap { ranges[$0].contains(place) ? ranges[$0] : nil }
    }

    /// Adds the places of a range.
    public mutating func insert(_ range: Range<UInt64>) {
        guard !range.isEmpty else { return }
        // Almost always it continues where the last one ends.
        if let last = ranges.last, last.lowerBound <= range.lowerBound {
            if range.lowerBound <= last.upperBound {
                ranges[ranges.count - 1] =
                    last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                ranges.append(range)
            }
            return
        }
        let first = ranges.firstIndex { $0.upperBound >= range.lowerBound } ?? ranges.count
        let end = ranges.firstIndex { $0.lowerBound > range.upperBound } ?? ranges.count
        var joined = range
        for touched in ranges[first..<end] {
            joined =
                min(
                    joined.lowerBound, touched.lowerBound)..<max(
                    joined.upperBound, touched.upperBound)
        }
        ranges.replaceSubrange(first..<end, with: [joined])
    }

    /// Adds all places of another.
    public mutating func formUnion(_ other: PlaceSet) {
        for range in other.ranges { insert(range) }
    }

    /// Adds places of another, as far as one receipt can tell them all.
    ///
    /// Nothing reported is taken back, and nothing is reported that is in neither: if there would
    /// be too many ranges, the highest of the new ones are left out until a gap closes.
    public mutating func tell(_ other: PlaceSet) {
        var union = self
        union.formUnion(other)
        guard union.ranges.count > Self.rangeCountMax else { return self = union }
        var room = Self.rangeCountMax
        for range in union.ranges where holdsAny(of: range) { room -= 1 }
        var kept: [Range<UInt64>] = []
        for range in union.ranges {
            if holdsAny(of: range) {
                kept.append(range)
            } else if room > 0 {
                room -= 1
                kept.append(range)
            }
        }
        ranges = kept
    }

    private func holdsAny(of range: Range<UInt64>) -> Bool {
        ranges.contains { $0.overlaps(range) }
    }

    /// The places of a range that are not in the set, ascending.
    public func gaps(in range: Range<UInt64>) -> [Range<UInt64>] {
        var gaps: [Range<UInt64>] = []
        var next = range.lowerBound
        for held in ranges where held.upperBound > next {
            guard held.lowerBound < range.upperBound else { break }
            if next < held.lowerBound { gaps.append(next..<held.lowerBound) }
            next = held.upperBound
        }
        if next < range.upperBound { gaps.append(next..<range.upperBound) }
        return gaps
    }

    /// The part of the set within a range.
    public func clamped(to range: Range<UInt64>) -> PlaceSet {
        var part = PlaceSet()
        for held in ranges { part.insert(held.clamped(to: range)) }
        return part
    }

    // MARK: As numbers

    /// Run lengths from 0 on: how many places it contains, how many after those it does not, and so
    /// on.
    public var counts: [UInt64] {
        var counts: [UInt64] = []
        var next: UInt64 = 0
        for range in ranges {
            if range.lowerBound > 0 {
                // What begins above 0 has none from 0 on.
                if counts.isEmpty { counts.append(0) }
                counts.append(range.lowerBound - next)
            }
            counts.append(range.upperBound - range.lowerBound)
            next = range.upperBound
        }
        return counts
    }

    /// The set that these numbers tell; nil where they are none that ``counts`` gives, tell more
    /// ranges than a receipt may, or places that no log has.
    public init?(counts: [UInt64]) {
        guard counts.count % 2 == 1 else { return nil }
        var next: UInt64 = 0
        for (index, count) in counts.enumerated() {
            let isSkipped = index == 0 && count == 0 && counts.count > 1
            guard count > 0 || isSkipped, count <= Limits.placeMax - next else { return nil }
            if index % 2 == 0, count > 0 { ranges.append(next..<next + count) }
            next += count
        }
        guard ranges.count <= Self.rangeCountMax else { return nil }
    }
}
