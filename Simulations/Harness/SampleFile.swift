public import ParleyFiles
public import ParleyConversation
public import ParleyLedger
public import ParleyWire

/// A sealed file whose bytes follow from its size and its key.
public struct SampleFile: Sendable {
    /// Its name as a sealed file.
    public let blob: BlobID
    /// How many bytes it has before it is sealed.
    public let size: BlobSize
    /// What opens it.
    public let key: [UInt8]
    /// Its sealed chunks.
    public let chunks: [[UInt8]]
    private let sections: [BlobSection]

    /// A file of so many bytes, at least one.
    ///
    /// - Parameter seed: makes two files of one size different.
    public init(byteCount: Int, seed: UInt8 = 0) {
        let size = BlobSize(clamping: UInt64(byteCount))
        let key = (0..<32).map { UInt8($0) ^ seed }
        guard let shape = BlobShape(size), let seal = FileSeal(key: key, shape: shape) else {
            preconditionFailure("a sample has at least one byte")
        }
        let chunks = (0..<shape.chunkCount).map { chunk in
            let index = ChunkIndex(clamping: UInt64(chunk))
            return seal.seal(Self.plain(chunk, shape.plainByteCount(of: index), seed), as: index)
        }
        let leaves = chunks.map(BlobHash.leaf)
        let indices = (0..<shape.sectionCount).map { SectionIndex(clamping: UInt64($0)) }
        let hashes = indices.map { BlobHash.section(leaves[shape.chunks(of: $0)]) }
        let blob = BlobHash.blob(size, hashes)
        sections = indices.map { index in
            BlobSection(
                blob: blob, size: size, sections: hashes, index: index,
                leaves: Array(leaves[shape.chunks(of: index)]))
        }
        (self.blob, self.size, self.key, self.chunks) = (blob, size, key, chunks)
    }

    private static func plain(_ chunk: Int, _ count: Int, _ seed: UInt8) -> [UInt8] {
        [UInt8](repeating: UInt8(truncatingIfNeeded: chunk) ^ seed, count: count)
    }

    /// The file as a message brings it.
    public var attachment: Attachment {
        Attachment(name: "sample", size: size, type: "", content: .blob(blob, key: key))
    }

    /// A section of it.
    public func section(_ index: SectionIndex) -> BlobSection { sections[Int(index.value)] }

    /// One of its chunks.
    public func chunk(_ index: Int) -> BlobChunk {
        BlobChunk(blob: blob, index: ChunkIndex(clamping: UInt64(index)), bytes: chunks[index])
    }

    /// Puts all of it, or these chunks, where sealed files lie, for good.
    public func put(
        into store: any BlobStore, chunks: Range<Int>? = nil
    ) throws(StoreError) {
        guard let shape = BlobShape(size) else { return }
        try store.beginBlob(blob, shape)
        for section in sections { try store.keep(section) }
        for index in chunks ?? 0..<self.chunks.count { try store.keep(chunk(index)) }
        try store.makeDurable(blob)
    }
}
