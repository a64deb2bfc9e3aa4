public import ParleyWire

/// Which chunks of a blob are held: one bit each.
public struct ChunkSet: Equatable, Sendable {
    /// How many chunks the blob has.
    public let chunkCount: Int
    /// How many of them are held.
    public private(set) var count = 0
    private var words: [UInt64]

    /// None of so many chunks.
    public init(of chunkCount: Int) {
        self.chunkCount = chunkCount
        words = [UInt64](repeating: 0, count: (chunkCount + 63) / 64)
    }

    /// All of so many chunks.
    public static func all(of chunkCount: Int) -> ChunkSet {
        var set = ChunkSet(of: chunkCount)
        for chunk in 0..<chunkCount { set.insert(chunk) }
        return set
    }

    /// Whether all chunks are held.
    public var isWhole: Bool { count == chunkCount }

    /// Whether a chunk is held.
    public func contains(_ chunk: Int) -> Bool {
        chunk >= 0 && chunk < chunkCount && words[chunk / 64] & bit(chunk) != 0
    }

    /// Notes that a chunk is held. Returns whether that is news.
    @discardableResult
    public mutating func insert(_ chunk: Int) -> Bool {
        guard chunk >= 0, chunk < chunkCount, !contains(chunk) else { return false }
        words[chunk / 64] |= bit(chunk)
        count += 1
        return true
    }

    /// Notes that a chunk is held no more.
    public mutating func remove(_ chunk: Int) {
        guard contains(chunk) else { return }
        words[chunk / 64] &= ~bit(chunk)
        count -= 1
    }

    /// Records what a peer reports to hold; chunks beyond the last are left out.
    public mutating func insert(_ ranges: [BlobHolding.Range]) {
        for range in ranges where Int(range.first.value) < chunkCount {
            insert(Int(range.first.value)...min(Int(range.last.value), chunkCount - 1))
        }
    }

    /// Sixty-four at a time: a range of few bytes may be all of a large blob.
    private mutating func insert(_ range: ClosedRange<Int>) {
        for place in range.lowerBound / 64...range.upperBound / 64 {
            let from = UInt64(max(0, range.lowerBound - 64 * place))
            let through = UInt64(min(63, range.upperBound - 64 * place))
            let bits = (UInt64.max << from) & (UInt64.max >> (63 - through))
            count += (bits & ~words[place]).nonzeroBitCount
            words[place] |= bits
        }
    }

    /// The held chunks as ranges, ascending: the first so many.
    public func ranges(atMost limit: Int = Limits.heldRangeCountMax) -> [BlobHolding.Range] {
        var ranges: [BlobHolding.Range] = []
        var chunk = 0
        while chunk < chunkCount, ranges.count < limit {
            guard let first = next(from: chunk, isHeld: true) else { break }
            let end = next(from: first, isHeld: false) ?? chunkCount
            ranges.append(
                BlobHolding.Range(
                    first: ChunkIndex(clamping: UInt64(first)),
                    last: ChunkIndex(clamping: UInt64(end - 1))))
            chunk = end
        }
        return ranges
    }

    /// The first chunk from a place on that is held, or is not; nil where there is none.
    public func next(from start: Int, isHeld: Bool) -> Int? {
        var chunk = max(0, start)
        while chunk < chunkCount {
            let word = isHeld ? words[chunk / 64] : ~words[chunk / 64]
            let rest = word >> UInt64(chunk % 64)
            if rest != 0 {
                let found = chunk + rest.trailingZeroBitCount
                return found < chunkCount ? found : nil
            }
            chunk = (chunk / 64 + 1) * 64
        }
        return nil
    }

    /// The first chunk from a place on that is held here and in neither of two others of the same
    /// blob; nil where there is none.
    func next(from start: Int, outside left: ChunkSet, _ right: ChunkSet) -> Int? {
        guard left.chunkCount == chunkCount, right.chunkCount == chunkCount, start >= 0 else {
            return nil
        }
        var chunk = start
        while chunk < chunkCount {
            let place = chunk / 64
            let word = words[place] & ~left.words[place] & ~right.words[place]
            let rest = word >> UInt64(chunk % 64)
            if rest != 0 { return chunk + rest.trailingZeroBitCount }
            chunk = (place + 1) * 64
        }
        return nil
    }

    private func bit(_ chunk: Int) -> UInt64 { 1 << UInt64(chunk % 64) }
}
