import ParleyLedger
import ParleySealing
import ParleyStorage
import ParleyWire

/// Where every message stands, in memory while searches are made: about 20 bytes a message.
///
/// It may lack what came since it was read; such a message is judged once it is opened.
final class PlaceTable: Sendable {
    /// Operations of one block share the newest time below them.
    private static let blockCount = 1024

    /// By operation: when, in Unix milliseconds, 0 where it is no message.
    let times: [UInt64]
    private let spaces: [Int32]
    private let tags: [UInt64]
    /// The newest message below the end of each block.
    private let newest: [UInt64]

    init(_ store: SQLiteStore) throws(StoreError) {
        let count = store.operationCount + 1
        var times = [UInt64](repeating: 0, count: count)
        var spaces = [Int32](repeating: 0, count: count)
        var tags = [UInt64](repeating: 0, count: count)
        try store.eachMessagePlace { place in
            let index = Int(place.operation)
            guard times.indices.contains(index) else { return }
            times[index] = max(1, place.time)
            spaces[index] = Int32(truncatingIfNeeded: place.space.rawValue)
            tags[index] = place.tag.value
        }
        var newest: [UInt64] = []
        var highest: UInt64 = 0
        for (index, time) in times.enumerated() {
            highest = max(highest, time)
            if index % Self.blockCount == Self.blockCount - 1 { newest.append(highest) }
        }
        newest.append(highest)
        self.times = times
        self.spaces = spaces
        self.tags = tags
        self.newest = newest
    }

    /// Operations that it knows.
    var count: Int { times.count }
    /// Bytes of it.
    var byteCount: Int { times.count * 20 }

    /// When a message was written; nil for what is none, or is not known here.
    func time(_ operation: Int64) -> UInt64? {
        let index = Int(operation)
        guard times.indices.contains(index), times[index] > 0 else { return nil }
        return times[index]
    }

    /// No message below this operation is newer.
    func newest(below operation: Int64) -> UInt64 {
        guard operation > 0 else { return 0 }
        // What is not known may be as new as it likes.
        guard Int(operation) <= times.count else { return .max }
        return newest[min(newest.count - 1, Int(operation) / Self.blockCount)]
    }

    /// Whether a message may be what is looked for; nil where that is not known here.
    func passes(_ operation: Int64, _ filter: SearchFilter) -> Bool? {
        let index = Int(operation)
        guard times.indices.contains(index), times[index] > 0 else { return nil }
        if let before = filter.before, times[index] >= before { return false }
        if let after = filter.after, times[index] < after { return false }
        if let wanted = filter.spaces, !wanted.contains(SpaceNumber(Int64(spaces[index]))) {
            return false
        }
        guard let authors = filter.authors else { return true }
        return authors.tags.contains(tags[index]) || authors.imported.contains(operation)
    }
}

/// Conditions of place, time and author, as the store knows them.
struct SearchFilter: Sendable {
    /// Who wrote it.
    struct Authors: Sendable {
        var persons: Set<PersonID> = []
        /// Logs of their devices.
        var tags: Set<UInt64> = []
        /// Imported messages that name such an author.
        var imported: Set<Int64> = []
        /// The names, folded.
        var names: [[UInt8]] = []
    }
    var before: UInt64?
    var after: UInt64?
    var spaces: Set<SpaceNumber>?
    var authors: Authors?

    var isEmpty: Bool { before == nil && after == nil && spaces == nil && authors == nil }
}
