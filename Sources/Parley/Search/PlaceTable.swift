import ParleyLedger
import ParleySealing
import ParleyStorage
import ParleyWire

/// Where every message stands, in memory while searches are made: about 20 bytes a message, and 8
/// more once somebody asked for a time.
///
/// It may lack messages that arrived since it was read, and one whose text came late; such a
/// message is judged once it is opened.
struct PlaceTable: Sendable {
    /// Operations of one block share the newest time among them.
    private static let blockCount = 1024

    /// By operation: what its place goes by, in Unix milliseconds, 0 where it is no message.
    private(set) var times: [UInt64] = []
    /// By operation: the time that the message shows, which is another one where a clock was wrong;
    /// empty in a table that is not dated.
    private var shownTimes: [UInt64] = []
    /// Whether it knows the times that messages show.
    let isDated: Bool
    private var spaces: [Int32] = []
    private var tags: [UInt64] = []
    /// The newest message of each block.
    private var newest: [UInt64] = []

    /// A table that knows so many operations, and of no message yet where it stands.
    init(operationCount: Int, isDated: Bool) {
        self.isDated = isDated
        grow(to: operationCount + 1)
    }

    /// Knows so many operations from now on.
    mutating func grow(to count: Int) {
        guard count > times.count else { return }
        let more = count - times.count
        times += repeatElement(0, count: more)
        if isDated { shownTimes += repeatElement(0, count: more) }
        spaces += repeatElement(0, count: more)
        tags += repeatElement(0, count: more)
        let blocks = (count + Self.blockCount - 1) / Self.blockCount
        newest += repeatElement(0, count: blocks - newest.count)
    }

    /// Takes in where a message stands. One that it has no room for is left out.
    mutating func add(_ place: MessagePlace) {
        let index = Int(place.operation)
        guard times.indices.contains(index) else { return }
        times[index] = max(1, place.time)
        if isDated { shownTimes[index] = place.shownTime ?? place.time }
        spaces[index] = Int32(truncatingIfNeeded: place.space.rawValue)
        tags[index] = place.tag.value
        let block = index / Self.blockCount
        newest[block] = max(newest[block], times[index])
    }

    /// Operations that it knows.
    var count: Int { times.count }
    /// Its bytes.
    var byteCount: Int { times.count * (isDated ? 28 : 20) }

    /// The criteria of a message's place; nil if it is none, or is not known here.
    func time(_ operation: Int64) -> UInt64? {
        let index = Int(operation)
        guard times.indices.contains(index), times[index] > 0 else { return nil }
        return times[index]
    }

    /// No message below this operation is newer.
    func newest(below operation: Int64) -> UInt64 {
        guard operation > 0 else { return 0 }
        // An unknown one may be arbitrarily new.
        guard Int(operation) <= times.count else { return .max }
        return newest[...min(newest.count - 1, Int(operation) / Self.blockCount)].max() ?? 0
    }

    /// Whether a message may match; nil if that is not known here.
    ///
    /// The time that it shows decides, and never its place: a person who asks for a day means the
    /// one they see.
    func passes(_ operation: Int64, _ filter: SearchFilter) -> Bool? {
        let index = Int(operation)
        guard times.indices.contains(index), times[index] > 0 else { return nil }
        if filter.isAboutTime, isDated {
            if let before = filter.before, shownTimes[index] >= before { return false }
            if let after = filter.after, shownTimes[index] < after { return false }
        }
        if let wanted = filter.spaces, !wanted.contains(SpaceNumber(Int64(spaces[index]))) {
            return false
        }
        guard let authors = filter.authors else { return true }
        return authors.tags.contains(tags[index]) || authors.imported.contains(operation)
    }
}

/// Conditions of place, time and author, as the store knows them.
struct SearchFilter: Sendable {
    /// The author.
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

    /// Whether it asks for a time: then the table of places has to be dated.
    var isAboutTime: Bool { before != nil || after != nil }
    var isEmpty: Bool { before == nil && after == nil && spaces == nil && authors == nil }
}
