import ParleyLedger
public import ParleyWire

/// Reads envelopes of a shelf, in whatever order they come, and identifies each by its content.
///
/// Only a chunk's hash tells its place, so that none can stand for another. Nothing is returned
/// that does not match the file's name. Useless and repeated envelopes are counted: the caller
/// stops at a limit, so that a relay that delivers envelopes without end is soon left.
/// Source: `Protocol/13-files.md`, "Shelves".
public struct ShelfReader: Sendable {
    /// What an envelope brought.
    public enum Finding: Equatable, Sendable {
        /// The hashes of a section, which are genuine.
        case section(BlobSection)
        /// A chunk, which is what its hash says.
        case chunk(BlobChunk)
        /// A part of one of these, of which others have to come.
        case part
        /// Nothing of use.
        case nothing
    }

    /// Envelopes of no use after which a shelf is read no further.
    public static let uselessCountMax = 64

    private let blob: BlobID
    private let shape: BlobShape
    private let seal: ShelfSeal
    /// Where chunks belong whose hashes are known and that have not come.
    private var places: [Digest: [ChunkIndex]] = [:]
    private var sections: Set<SectionIndex> = []
    private var parts: [ShelfPart.Whole: [Int: [UInt8]]] = [:]
    /// How many envelopes were of no use.
    public private(set) var uselessCount = 0

    /// A reader of a file's shelf; nil where it is no key.
    ///
    /// - Parameter sections: the hashes that are known already.
    public init?(_ blob: BlobID, _ shape: BlobShape, key: [UInt8], knowing sections: [BlobSection])
    {
        guard key.count == FileSeal.keyByteCount else { return nil }
        (self.blob, self.shape) = (blob, shape)
        seal = ShelfSeal(fileKey: key, blob: blob)
        for section in sections where section.blob == blob { learn(section) }
    }

    /// Whether parts of something incomplete have arrived: a restarted reader has to read the last
    /// ones again.
    public var awaitsParts: Bool { !parts.isEmpty }

    /// Whether a shelf is to be read no further.
    public var hasEnough: Bool { uselessCount >= Self.uselessCountMax }

    /// Reads an envelope.
    public mutating func read(_ envelope: [UInt8]) -> Finding {
        let finding = find(envelope)
        if finding == .nothing { uselessCount += 1 }
        return finding
    }

    private mutating func find(_ envelope: [UInt8]) -> Finding {
        if envelope.count == Limits.chunkByteCount, let chunk = take(envelope) { return chunk }
        guard let part = seal.open(envelope), isPossible(part) else { return .nothing }
        guard parts[part.whole]?[part.offset] == nil else { return .nothing }
        parts[part.whole, default: [:]][part.offset] = part.bytes
        guard let bytes = whole(part) else { return .part }
        parts[part.whole] = nil
        switch part.whole {
        case .chunk: return take(bytes) ?? .nothing
        case .section(let index):
            // Why it is no frame does not matter: who sealed it has made it so.
            guard case .blobSection(let section)? = try? Frame.decode(bytes),
                section.blob == blob, section.size == shape.size, section.index == index,
                section.isGenuine
            else { return .nothing }
            learn(section)
            return .section(section)
        }
    }

    /// Whether there is such a part of the file, and it has not come.
    private func isPossible(_ part: ShelfPart) -> Bool {
        guard part.offset % ShelfPart.byteCountMax == 0,
            part.bytes.count == min(ShelfPart.byteCountMax, part.total - part.offset)
        else { return false }
        switch part.whole {
        case .section(let index):
            return Int(index.value) < shape.sectionCount && !sections.contains(index)
        case .chunk(let index):
            return index == shape.lastChunk && part.total == shape.byteCount(of: index)
        }
    }

    /// All bytes of what a part belongs to, once they are here.
    private func whole(_ part: ShelfPart) -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count < part.total {
            guard let next = parts[part.whole]?[bytes.count], !next.isEmpty else { return nil }
            bytes += next
        }
        return bytes.count == part.total ? bytes : nil
    }

    private mutating func learn(_ section: BlobSection) {
        guard sections.insert(section.index).inserted else { return }
        let first = shape.chunks(of: section.index).lowerBound
        for (place, leaf) in section.leaves.enumerated() {
            places[leaf, default: []].append(ChunkIndex(clamping: UInt64(first + place)))
        }
    }

    /// The chunk that these bytes are, once.
    private mutating func take(_ bytes: [UInt8]) -> Finding? {
        let leaf = BlobHash.leaf(bytes)
        guard let index = places[leaf]?.first(where: { shape.byteCount(of: $0) == bytes.count })
        else { return nil }
        places[leaf]?.removeAll { $0 == index }
        if places[leaf]?.isEmpty == true { places[leaf] = nil }
        return .chunk(BlobChunk(blob: blob, index: index, bytes: bytes))
    }
}
