public import ParleyLedger
public import ParleyWire

/// What a store holds of a blob.
public struct HeldBlob: Equatable, Sendable {
    /// How the blob is cut.
    public var shape: BlobShape
    /// Which chunks are held.
    public var chunks: ChunkSet

    /// A blob with these fields.
    public init(shape: BlobShape, chunks: ChunkSet) {
        self.shape = shape
        self.chunks = chunks
    }
}

/// Where sealed files lie.
///
/// It is part of no transaction: a chunk matches its hash whenever it was written. What a crash
/// lost is found missing, or not to match its hash, and is fetched again; so nothing here has to be
/// durable before others are told of it.
public protocol BlobStore: AnyObject {
    /// What is held of a blob; nil if nothing was begun.
    func heldBlob(_ blob: BlobID) throws(StoreError) -> HeldBlob?
    /// Creates a blob's files, if there are none.
    func beginBlob(_ blob: BlobID, _ shape: BlobShape) throws(StoreError)
    /// The hashes of a section's chunks, if they are held; they were genuine when they were kept.
    func section(_ section: SectionIndex, of blob: BlobID) throws(StoreError) -> BlobSection?
    /// Keeps the hashes of a section's chunks; the blob was begun.
    func keep(_ section: BlobSection) throws(StoreError)
    /// The bytes of a chunk, if it is held. They may have rotted since.
    func chunk(_ chunk: ChunkIndex, of blob: BlobID) throws(StoreError) -> [UInt8]?
    /// Keeps a chunk; the blob was begun.
    func keep(_ chunk: BlobChunk) throws(StoreError)
    /// A chunk is damaged: it is no longer held.
    func loseChunk(_ chunk: ChunkIndex, of blob: BlobID) throws(StoreError)
    /// Makes a blob survive a crash of the machine.
    func makeDurable(_ blob: BlobID) throws(StoreError)
    /// Removes all that is held of a blob.
    func removeBlob(_ blob: BlobID) throws(StoreError)
    /// All blobs of which something is held, ascending.
    func blobs() throws(StoreError) -> [BlobID]
}

extension BlobStore {
    /// A chunk that is undamaged; a damaged one is lost.
    public func soundChunk(
        _ index: ChunkIndex, of blob: BlobID
    ) throws(StoreError) -> [UInt8]? {
        guard let held = try heldBlob(blob), held.chunks.contains(Int(index.value)),
            let section = try section(held.shape.section(of: index), of: blob)
        else { return nil }
        let first = held.shape.chunks(of: section.index).lowerBound
        if let bytes = try chunk(index, of: blob),
            BlobHash.leaf(bytes) == section.leaves[Int(index.value) - first]
        {
            return bytes
        }
        try loseChunk(index, of: blob)
        return nil
    }
}
