import ParleyFiles
import ParleySealing
import ParleyWire

/// The file beside a blob: which chunks are held, and their hashes.
///
/// ```
/// "PLY" 1 ‖ u32 0 ‖ u64 size ‖ bits, one a chunk ‖ hashes of sections ‖ hashes of chunks
/// ```
///
/// A bit is written after its chunk, so that a dying process leaves no marked chunk missing. What a
/// crash of the machine loses shows by its hash.
struct BlobMap {
    static let magic: [UInt8] = [0x50, 0x4C, 0x59, 1, 0, 0, 0, 0]
    /// The magic and the size.
    static let headByteCount = 16

    let shape: BlobShape
    private let file: SparseFile

    /// Begins a map of a blob of which nothing is held.
    init(_ shape: BlobShape, in file: SparseFile) throws(HomeError) {
        self.shape = shape
        self.file = file
        var writer = ByteWriter(capacity: Self.headByteCount)
        writer.raw(Self.magic)
        writer.uint64(shape.size)
        try file.setByteCount(leavesOffset + 32 * shape.chunkCount)
        try file.write(writer.bytes, at: 0)
    }

    /// The map that a file holds; nil where it holds none.
    init?(reading file: SparseFile) throws(HomeError) {
        self.file = file
        guard let shape = Self.shape(try file.read(Self.headByteCount, at: 0)) else { return nil }
        self.shape = shape
        guard file.byteCount == leavesOffset + 32 * shape.chunkCount else { return nil }
    }

    private static func shape(_ head: [UInt8]) -> BlobShape? {
        var reader = ByteReader(head)
        do {
            guard Array(try reader.slice(magic.count)) == magic else { return nil }
            return BlobShape(try reader.bounded64())
        } catch {
            // An invalid file is rebuilt by its next user.
            return nil
        }
    }

    private var bitsByteCount: Int { (shape.chunkCount + 7) / 8 }
    private var sectionsOffset: Int { Self.headByteCount + bitsByteCount }
    private var leavesOffset: Int { sectionsOffset + 32 * shape.sectionCount }

    /// Which chunks are held.
    func chunks() throws(HomeError) -> ChunkSet {
        var chunks = ChunkSet(of: shape.chunkCount)
        for (place, byte) in try file.read(bitsByteCount, at: Self.headByteCount).enumerated()
        where byte != 0 {
            for bit in 0..<8 where byte >> UInt8(bit) & 1 == 1 { chunks.insert(8 * place + bit) }
        }
        return chunks
    }

    /// Writes down whether the eight chunks around one are held.
    func write(_ chunks: ChunkSet, around chunk: Int) throws(HomeError) {
        let first = chunk / 8 * 8
        let byte = (0..<8).reduce(UInt8(0)) { byte, bit in
            byte | (chunks.contains(first + bit) ? 1 << UInt8(bit) : 0)
        }
        try file.write([byte], at: Self.headByteCount + chunk / 8)
    }

    /// The hashes of a section, if they are held and genuine.
    func section(_ index: SectionIndex, of blob: BlobID) throws(HomeError) -> BlobSection? {
        let range = shape.chunks(of: index)
        let section = BlobSection(
            blob: blob, size: shape.size,
            sections: Self.hashes(try file.read(32 * shape.sectionCount, at: sectionsOffset)),
            index: index,
            leaves: Self.hashes(
                try file.read(32 * range.count, at: leavesOffset + 32 * range.lowerBound)))
        return section.isGenuine ? section : nil
    }

    /// Writes down the hashes of a section.
    func write(_ section: BlobSection) throws(HomeError) {
        let first = shape.chunks(of: section.index).lowerBound
        try file.write(section.leaves.flatMap(\.bytes), at: leavesOffset + 32 * first)
        try file.write(section.sections.flatMap(\.bytes), at: sectionsOffset)
    }

    /// Makes written data survive a crash of the machine.
    func synchronize() throws(HomeError) { try file.synchronize() }

    private static func hashes(_ bytes: [UInt8]) -> [Digest] {
        stride(from: 0, to: bytes.count / 32 * 32, by: 32).compactMap {
            Digest(bytes[$0..<$0 + 32])
        }
    }
}
