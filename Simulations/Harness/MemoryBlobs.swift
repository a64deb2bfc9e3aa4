public import ParleyFiles
public import ParleyLedger
public import ParleyWire

/// Sealed files in memory, for tests and simulations: the same contract as those in a folder.
public final class MemoryBlobs: BlobStore {
    private struct Blob {
        let shape: BlobShape
        var chunks: [Int: [UInt8]] = [:]
        /// The places of those.
        var places: ChunkSet
        var sections: [SectionIndex: BlobSection] = [:]
        /// Chunks that a loss of power takes.
        var unkept: Set<Int> = []
    }

    private var held: [BlobID: Blob] = [:]
    /// What is refused from now on, as on a disk that is full; nil while all is well.
    public var failure: StoreError.Code?
    /// Whether nothing is made to survive a loss of power, though everything else succeeds.
    public var isKeepingNothing = false
    /// How many bytes may be held; a disk has so much room.
    public var byteCountMax = Int.max
    /// Bytes that are held.
    public private(set) var byteCount = 0

    /// No file.
    public init() {}

    /// Another store with the same files.
    public func copy() -> MemoryBlobs {
        let copy = MemoryBlobs()
        copy.held = held
        copy.byteCount = byteCount
        copy.byteCountMax = byteCountMax
        return copy
    }

    /// A bit of a chunk turns over, as disks have it.
    public func rot(_ chunk: ChunkIndex, of blob: BlobID) {
        held[blob]?.chunks[Int(chunk.value)]?[0] ^= 1
    }

    /// What is held of a blob; nil where nothing was begun.
    public func heldBlob(_ blob: BlobID) throws(StoreError) -> HeldBlob? {
        held[blob].map { HeldBlob(shape: $0.shape, chunks: $0.places) }
    }

    /// Makes room for a blob, if there is none.
    public func beginBlob(_ blob: BlobID, _ shape: BlobShape) throws(StoreError) {
        try check("making room for a file")
        if held[blob] == nil {
            held[blob] = Blob(shape: shape, places: ChunkSet(of: shape.chunkCount))
        }
    }

    /// The hashes of a section's chunks, if they are held.
    public func section(
        _ section: SectionIndex, of blob: BlobID
    ) throws(StoreError) -> BlobSection? { held[blob]?.sections[section] }

    /// Keeps the hashes of a section's chunks.
    public func keep(_ section: BlobSection) throws(StoreError) {
        try check("keeping the hashes of a file")
        held[section.blob]?.sections[section.index] = section
    }

    /// The bytes of a chunk, if it is held.
    public func chunk(_ chunk: ChunkIndex, of blob: BlobID) throws(StoreError) -> [UInt8]? {
        held[blob]?.chunks[Int(chunk.value)]
    }

    /// Keeps a chunk.
    public func keep(_ chunk: BlobChunk) throws(StoreError) {
        try check("keeping a part of a file")
        guard held[chunk.blob]?.shape.contains(chunk.index) == true,
            held[chunk.blob]?.chunks[Int(chunk.index.value)] == nil
        else { return }
        guard byteCount + chunk.bytes.count <= byteCountMax else {
            throw StoreError(.full, attempt: "keeping a part of a file")
        }
        held[chunk.blob]?.chunks[Int(chunk.index.value)] = chunk.bytes
        held[chunk.blob]?.places.insert(Int(chunk.index.value))
        held[chunk.blob]?.unkept.insert(Int(chunk.index.value))
        byteCount += chunk.bytes.count
    }

    /// A chunk is not what it was: it is held no more.
    public func loseChunk(_ chunk: ChunkIndex, of blob: BlobID) throws(StoreError) {
        let gone = held[blob]?.chunks.removeValue(forKey: Int(chunk.value))
        held[blob]?.places.remove(Int(chunk.value))
        byteCount -= gone?.count ?? 0
    }

    /// Makes a blob survive a crash of the machine.
    public func makeDurable(_ blob: BlobID) throws(StoreError) {
        try check("keeping a file")
        guard !isKeepingNothing else {
            throw StoreError(.inputOutput, attempt: "keeping a file")
        }
        held[blob]?.unkept = []
    }

    /// The machine dies: chunks that were not made to survive that are gone.
    public func losePower() {
        for (blob, file) in held {
            for chunk in file.unkept {
                byteCount -= held[blob]?.chunks.removeValue(forKey: chunk)?.count ?? 0
                held[blob]?.places.remove(chunk)
            }
            held[blob]?.unkept = []
        }
    }

    /// Removes all that is held of a blob.
    public func removeBlob(_ blob: BlobID) throws(StoreError) {
        let gone = held.removeValue(forKey: blob)
        byteCount -= gone?.chunks.values.reduce(0) { $0 + $1.count } ?? 0
    }

    /// All blobs of which something is held, ascending.
    public func blobs() throws(StoreError) -> [BlobID] { held.keys.sorted() }

    private func check(_ attempt: String) throws(StoreError) {
        if let failure { throw StoreError(failure, attempt: attempt) }
    }
}
