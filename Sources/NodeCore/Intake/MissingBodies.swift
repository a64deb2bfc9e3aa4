import ParleyConversation
import ParleyLedger
import ParleyWire

/// The places of one log whose payloads are missing, as ranges that ascend and do not touch.
///
/// Bounded: an author of operations without payloads must not fill other people's disks with notes
/// of them.
/// Source: `Protocol/06-sync.md`, "Missing payloads".
struct MissingBodies: Equatable {
    /// Ranges of one log: places that lie further apart are not remembered beyond it.
    static let rangeCountMax = 1024

    private(set) var ranges: [ClosedRange<UInt64>] = []

    init() {}

    /// Notes a place, where it can.
    mutating func insert(_ place: UInt64) {
        // The first range that does not end before this place.
        let index = index(of: place)
        if index < ranges.count, ranges[index].lowerBound <= place { return }
        let joinsNext = index < ranges.count && ranges[index].lowerBound == place + 1
        let joinsPrevious = index > 0 && ranges[index - 1].upperBound + 1 == place
        switch (joinsPrevious, joinsNext) {
        case (true, true):
            ranges[index - 1] = ranges[index - 1].lowerBound...ranges[index].upperBound
            ranges.remove(at: index)
        case (true, false): ranges[index - 1] = ranges[index - 1].lowerBound...place
        case (false, true): ranges[index] = place...ranges[index].upperBound
        case (false, false):
            guard ranges.count < Self.rangeCountMax else { return }
            ranges.insert(place...place, at: index)
        }
    }

    /// Forgets a place: its payload has come, or was taken back.
    mutating func remove(_ place: UInt64) {
        let index = index(of: place)
        guard index < ranges.count, ranges[index].lowerBound <= place else { return }
        let range = ranges.remove(at: index)
        if place < range.upperBound { ranges.insert(place + 1...range.upperBound, at: index) }
        if range.lowerBound < place { ranges.insert(range.lowerBound...place - 1, at: index) }
    }

    /// The place of the first range that ends at this place or above.
    private func index(of place: UInt64) -> Int {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < place { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension MissingBodies {
    /// As the store keeps them: `( u64 first ‖ u64 last )*`. What does not read holds nothing.
    init(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        while reader.remaining > 0 {
            // It is the store's own; if it ever were not, the rest is forgotten.
            guard let first = try? reader.uint64(), let last = try? reader.uint64(),
                first <= last, last < Limits.placeMax,
                ranges.last.map({ $0.upperBound < first }) ?? true
            else { return }
            ranges.append(first...last)
        }
    }

    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 16 * ranges.count)
        for range in ranges {
            writer.uint64(range.lowerBound)
            writer.uint64(range.upperBound)
        }
        return writer.bytes
    }
}

/// The log whose payloads are missing, as the store's key of them.
extension MissingBodies {
    /// The places of a log that came without their payloads; some may have been taken back since.
    static func places(
        of tag: LogTag, in space: SpaceRecord, _ store: some NodeStore
    ) throws(StoreError) -> PlaceSet {
        let key = MissingBodyLog(space: space.id, tag: tag).key
        return try store.value(.missingBody, key).map(MissingBodies.init)?.places ?? PlaceSet()
    }

    /// All of them.
    var places: PlaceSet {
        var places = PlaceSet()
        for range in ranges { places.insert(range.lowerBound..<range.upperBound + 1) }
        return places
    }

    /// The operation up to which a log is held; of one of content with all that it says. Nil where that is
    /// nothing.
    static func lastWhole(
        of log: LogRecord, in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> OperationReference? {
        guard let last = try store.lastSound(of: log) else { return nil }
        // Nobody reports otherwise what came of the other lanes, nor later what was taken back there.
        guard log.lane == .content else { return last }
        let missing = try places(of: log.tag, in: space, store)
        guard let first = missing.ranges.first?.lowerBound, first <= last.sequence else {
            return last
        }
        guard first > log.base, let check = try store.check(at: first - 1, of: log) else {
            return nil
        }
        return OperationReference(tag: log.tag, sequence: first - 1, check: check)
    }
}

struct MissingBodyLog {
    var space: SpaceID
    var tag: LogTag

    init(space: SpaceID, tag: LogTag) {
        self.space = space
        self.tag = tag
    }

    init?(key: [UInt8]) {
        var reader = ByteReader(key)
        do {
            self.init(space: try reader.identifier(), tag: LogTag(try reader.uint64()))
            try reader.finish()
        } catch {
            // The key is our own; if it ever were not, it is dropped.
            return nil
        }
    }

    var key: [UInt8] {
        var writer = ByteWriter(capacity: 40)
        writer.identifier(space)
        writer.uint64(tag.value)
        return writer.bytes
    }
}
