public import ParleyWire

/// How a file of some size is cut into chunks, and these into sections.
///
/// Every sealed chunk has ``Limits/chunkByteCount`` bytes but for the last one, so that a chunk lies
/// at a multiple of that in a blob, and sections have ``Limits/sectionChunkCountMax`` chunks likewise.
/// Source: `Protocol/13-files.md`, "Blobs".
public struct BlobShape: Hashable, Sendable {
    /// Bytes of the file before it is sealed, at least 1.
    public let size: BlobSize

    /// The shape of a file of so many bytes, or nil of an empty one: that has no chunk, and travels
    /// in its message.
    public init?(_ size: BlobSize) {
        guard size.value > 0 else { return nil }
        self.size = size
    }

    private var byteCount: Int { Int(size.value) }

    /// How many chunks there are, at least one.
    public var chunkCount: Int {
        (byteCount + Limits.plainChunkByteCount - 1) / Limits.plainChunkByteCount
    }

    /// How many sections there are, at least one.
    public var sectionCount: Int {
        (chunkCount + Limits.sectionChunkCountMax - 1) / Limits.sectionChunkCountMax
    }

    /// Bytes of all sealed chunks together.
    public var sealedByteCount: Int {
        byteCount + chunkCount * (Limits.chunkByteCount - Limits.plainChunkByteCount)
    }

    /// The last chunk.
    public var lastChunk: ChunkIndex { ChunkIndex(clamping: UInt64(chunkCount - 1)) }

    /// Whether there is such a chunk.
    public func contains(_ chunk: ChunkIndex) -> Bool { Int(chunk.value) < chunkCount }

    /// Where a chunk's bytes begin in the file.
    public func plainOffset(of chunk: ChunkIndex) -> Int {
        Int(chunk.value) * Limits.plainChunkByteCount
    }

    /// How many bytes of the file a chunk holds.
    public func plainByteCount(of chunk: ChunkIndex) -> Int {
        max(0, min(Limits.plainChunkByteCount, byteCount - plainOffset(of: chunk)))
    }

    /// Where a chunk lies among the sealed ones.
    public func offset(of chunk: ChunkIndex) -> Int { Int(chunk.value) * Limits.chunkByteCount }

    /// How many bytes a chunk has.
    public func byteCount(of chunk: ChunkIndex) -> Int {
        plainByteCount(of: chunk) + Limits.chunkByteCount - Limits.plainChunkByteCount
    }

    /// In which section a chunk's hash is.
    public func section(of chunk: ChunkIndex) -> SectionIndex {
        SectionIndex(clamping: chunk.value / UInt64(Limits.sectionChunkCountMax))
    }

    /// Which chunks' hashes are in a section.
    public func chunks(of section: SectionIndex) -> Range<Int> {
        let first = min(Int(section.value) * Limits.sectionChunkCountMax, chunkCount)
        return first..<min(first + Limits.sectionChunkCountMax, chunkCount)
    }
}
