import ParleyLedger
import ParleyWire

/// One blob being fetched: what is held of it, and which peer owes what.
struct BlobFetch<Link: Hashable & Comparable & Sendable>: Sendable {
    let shape: BlobShape
    private(set) var chunks: ChunkSet
    /// Hashes of sections of which chunks are missing.
    private var leaves: [SectionIndex: [Digest]] = [:]
    private var askedSections: [SectionIndex: Link] = [:]
    private var askedChunks: [Int: Link] = [:]
    /// The same chunks, so that those between them are found at once.
    private var asked: ChunkSet

    init(_ shape: BlobShape, holding chunks: ChunkSet) {
        self.shape = shape
        self.chunks = chunks
        asked = ChunkSet(of: shape.chunkCount)
    }

    /// Whether a peer owes a piece.
    func isOwed(_ piece: BlobPiece, by link: Link) -> Bool {
        switch piece {
        case .section(_, let section): askedSections[section] == link
        case .chunk(_, let chunk): askedChunks[Int(chunk.value)] == link
        }
    }

    /// How many pieces a peer owes.
    func owedCount(by link: Link) -> Int {
        askedSections.values.count { $0 == link } + askedChunks.values.count { $0 == link }
    }

    /// A peer owes nothing of it any more, except for what it still holds: these chunks, and hashes
    /// if there are any.
    ///
    /// - Returns: how many pieces it owed besides.
    mutating func release(_ link: Link, besides kept: ChunkSet? = nil) -> Int {
        let before = askedSections.count + askedChunks.count
        askedSections = askedSections.filter { $0.value != link || kept?.count ?? 0 > 0 }
        for (chunk, asker) in askedChunks
        where asker == link && kept?.contains(chunk) != true {
            askedChunks[chunk] = nil
            asked.remove(chunk)
        }
        return before - askedSections.count - askedChunks.count
    }

    /// A peer gave the hashes of a section. Returns whether it owed them.
    mutating func settle(_ section: SectionIndex, by link: Link) -> Bool {
        guard askedSections[section] == link else { return false }
        askedSections[section] = nil
        return true
    }

    /// A peer gave a chunk. Returns whether it owed it.
    mutating func settle(_ chunk: ChunkIndex, by link: Link) -> Bool {
        guard askedChunks[Int(chunk.value)] == link else { return false }
        askedChunks[Int(chunk.value)] = nil
        asked.remove(Int(chunk.value))
        return true
    }

    /// Notes the hashes of a section, which are genuine.
    mutating func note(_ section: BlobSection) { leaves[section.index] = section.leaves }

    /// Notes that a chunk is held.
    mutating func note(_ chunk: ChunkIndex) {
        chunks.insert(Int(chunk.value))
        let section = shape.section(of: chunk)
        let range = shape.chunks(of: section)
        // Hashes of a section that is whole are needed no more.
        if chunks.next(from: range.lowerBound, isHeld: false) ?? .max >= range.upperBound {
            leaves[section] = nil
        }
    }

    /// Whether a chunk is what its hash says.
    func isGenuine(_ chunk: BlobChunk) -> Bool {
        guard chunk.bytes.count == shape.byteCount(of: chunk.index) else { return false }
        let section = shape.section(of: chunk.index)
        let place = Int(chunk.index.value) - shape.chunks(of: section).lowerBound
        return leaves[section].map { $0[place] == BlobHash.leaf(chunk.bytes) } ?? false
    }

    /// What to ask a peer for next: chunks that it holds and nobody was asked for, one after the other
    /// and of one section, or that section's hashes. It owes them from now on.
    ///
    /// - Parameter limit: how many pieces, at most.
    mutating func next(
        of blob: BlobID, from holding: ChunkSet, on link: Link, atMost limit: Int,
        in store: some BlobStore
    ) throws(StoreError) -> (part: BlobWant.Part, count: Int)? {
        var start = 0
        while let first = holding.next(from: start, outside: chunks, asked) {
            let index = ChunkIndex(clamping: UInt64(first))
            let section = shape.section(of: index)
            guard askedSections[section] == nil else {
                start = shape.chunks(of: section).upperBound
                continue
            }
            guard try knows(section, of: blob, in: store) else {
                askedSections[section] = link
                return (.section(section), 1)
            }
            let count = run(from: first, in: section, holding, atMost: limit)
            for chunk in first..<first + count {
                askedChunks[chunk] = link
                asked.insert(chunk)
            }
            return (.chunks(from: index, count: count), count)
        }
        return nil
    }

    private func run(
        from first: Int, in section: SectionIndex, _ holding: ChunkSet, atMost limit: Int
    ) -> Int {
        let end = min(
            shape.chunks(of: section).upperBound,
            first + min(limit, Limits.wantedChunkCountMax))
        var last = first + 1
        while last < end, !chunks.contains(last), askedChunks[last] == nil, holding.contains(last) {
            last += 1
        }
        return last - first
    }

    private mutating func knows(
        _ section: SectionIndex, of blob: BlobID, in store: some BlobStore
    ) throws(StoreError) -> Bool {
        if leaves[section] != nil { return true }
        guard let held = try store.section(section, of: blob) else { return false }
        leaves[section] = held.leaves
        return true
    }
}
