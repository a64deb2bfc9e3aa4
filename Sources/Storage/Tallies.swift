import ParleyLedger

/// Which places of each log hold a message that is not deleted: a bit for each place.
///
/// Counting unread messages then reads a few bytes for thousands of places, and the table of
/// messages needs no second index. Chunks are changed in memory and written with the commit.
struct Tallies {
    struct Key: Hashable, Comparable {
        let log: Int64
        let chunk: Int64

        static func < (left: Self, right: Self) -> Bool {
            (left.log, left.chunk) < (right.log, right.chunk)
        }
    }

    /// How many places share a row: 256 bytes.
    static let placeCount: UInt64 = 2048
    static let wordCount = Int(placeCount / 64)
    /// How many chunks are held in memory between transactions.
    private static let chunkCountMax = 256

    private(set) var chunks: [Key: [UInt64]] = [:]
    private var changed: Set<Key> = []

    /// The chunks to be written, in the order of their rows.
    var changedKeys: [Key] { changed.sorted() }

    mutating func hold(_ key: Key, _ words: [UInt64]) { chunks[key] = words }

    func isHeld(_ key: Key) -> Bool { chunks[key] != nil }

    mutating func set(_ key: Key, _ place: UInt64, _ isOn: Bool) {
        let (word, bit) = (Int(place % Self.placeCount) / 64, UInt64(1) << (place % 64))
        if isOn {
            chunks[key]?[word] |= bit
        } else {
            chunks[key]?[word] &= ~bit
        }
        changed.insert(key)
    }

    mutating func written() {
        changed.removeAll(keepingCapacity: true)
        if chunks.count > Self.chunkCountMax { chunks = [:] }
    }

    mutating func forget() {
        chunks = [:]
        changed = []
    }

    /// How many bits are set at places of the range.
    static func count(_ words: [UInt64], chunk: UInt64, _ range: ClosedRange<UInt64>) -> Int {
        let start = chunk * placeCount
        var count = 0
        for (index, word) in words.enumerated() where word != 0 {
            let first = start + UInt64(index) * 64
            guard first <= range.upperBound, first + 63 >= range.lowerBound else { continue }
            var mask = UInt64.max
            if range.lowerBound > first { mask &= UInt64.max << (range.lowerBound - first) }
            if range.upperBound < first + 63 {
                mask &= UInt64.max >> (first + 63 - range.upperBound)
            }
            count += (word & mask).nonzeroBitCount
        }
        return count
    }
}

extension SQLiteStore {
    /// Notes whether there is a message at a place that counts.
    func tally(_ log: Int64, _ place: UInt64, _ isOn: Bool) throws(StoreError) {
        let key = Tallies.Key(log: log, chunk: Int64(clamping: place / Tallies.placeCount))
        if !tallies.isHeld(key) {
            let statement = statements.tally
            statement.bind(1, key.log)
            statement.bind(2, key.chunk)
            defer { statement.reset() }
            let isKept = try statement.step("reading a tally")
            tallies.hold(
                key,
                isKept
                    ? Self.words(statement.bytes(0))
                    : [UInt64](repeating: 0, count: Tallies.wordCount))
        }
        tallies.set(key, place, isOn)
    }

    /// How many places of the range hold a message that counts.
    func tallyCount(
        _ log: Int64, _ range: ClosedRange<UInt64>
    ) throws(StoreError) -> Int {
        let first = Int64(clamping: range.lowerBound / Tallies.placeCount)
        let last = Int64(clamping: range.upperBound / Tallies.placeCount)
        var count = 0
        // What the transaction changed counts as it is in memory.
        for key in tallies.changedKeys
        where key.log == log && first <= key.chunk && key.chunk <= last {
            guard let words = tallies.chunks[key] else { continue }
            count += Tallies.count(words, chunk: UInt64(key.chunk), range)
        }
        let changed = Set(tallies.changedKeys)
        let statement = statements.talliesInRange
        statement.bind(1, log)
        statement.bind(2, first)
        statement.bind(3, last)
        defer { statement.reset() }
        while try statement.step("counting messages") {
            let chunk = statement.integer(0)
            guard !changed.contains(Tallies.Key(log: log, chunk: chunk)) else { continue }
            count += Tallies.count(
                Self.words(statement.bytes(1)), chunk: UInt64(chunk), range)
        }
        return count
    }

    /// Writes the chunks that the transaction changed.
    func writeTallies() throws(StoreError) {
        for key in tallies.changedKeys {
            guard let words = tallies.chunks[key] else { continue }
            let statement = statements.replaceTally
            statement.bind(1, key.log)
            statement.bind(2, key.chunk)
            // Written for this machine: the tally is a view and never leaves it.
            let bytes = words.withUnsafeBytes { Array($0) }
            statement.bind(3, copying: bytes)
            try statement.run("storing a tally")
        }
        tallies.written()
    }

    private static func words(_ bytes: UnsafeRawBufferPointer) -> [UInt64] {
        var words = [UInt64](repeating: 0, count: Tallies.wordCount)
        words.withUnsafeMutableBytes { $0.copyBytes(from: bytes.prefix($0.count)) }
        return words
    }
}
