public import ParleyLedger
public import ParleyWire

/// The envelopes that a device puts on a shelf of a file: for each section the hashes, in parts,
/// and then its chunks.
///
/// Which envelope is which follows from the file's size alone, so that a number says how far one has come; and
/// each is the same however often it is made.
/// Source: `Protocol/13-files.md`, "Shelves".
public struct ShelfWriter: Sendable {
    private enum Piece {
        case part(ShelfPart.Whole, number: Int)
        case chunk(ChunkIndex)
    }

    /// Where a section begins among the pieces, and how many of them are parts of its hashes.
    private struct Stretch {
        let first: Int
        let partCount: Int
    }

    private let blob: BlobID
    private let shape: BlobShape
    private let seal: ShelfSeal
    private let stretches: [Stretch]
    /// How many envelopes there are.
    public let pieceCount: Int
    /// Bytes of all of them.
    public let byteCount: UInt64

    /// The envelopes of a file; nil where it is no key.
    public init?(_ blob: BlobID, _ shape: BlobShape, key: [UInt8]) {
        guard key.count == FileSeal.keyByteCount else { return nil }
        (self.blob, self.shape) = (blob, shape)
        seal = ShelfSeal(fileKey: key, blob: blob)
        var stretches: [Stretch] = []
        var (count, byteCount) = (0, 0)
        for number in 0..<shape.sectionCount {
            let section = SectionIndex(clamping: UInt64(number))
            let total = Self.byteCount(of: section, shape)
            stretches.append(Stretch(first: count, partCount: ShelfPart.count(of: total)))
            let chunkCount = shape.chunks(of: section).count
            count += ShelfPart.count(of: total) + chunkCount
            byteCount += Self.byteCount(ofParts: total) + chunkCount * Limits.chunkByteCount
        }
        let last = shape.byteCount(of: shape.lastChunk)
        if last < Limits.chunkByteCount {
            count += ShelfPart.count(of: last) - 1
            byteCount += Self.byteCount(ofParts: last) - Limits.chunkByteCount
        }
        self.stretches = stretches
        pieceCount = count
        self.byteCount = UInt64(byteCount)
    }

    /// One of the envelopes, 0 to one below ``pieceCount``; nil where its part of the file is not held.
    public func envelope(
        at number: Int, from store: some BlobStore
    ) throws(StoreError) -> [UInt8]? {
        switch piece(at: number) {
        case .chunk(let index): return try store.soundChunk(index, of: blob)
        case .part(let whole, let number):
            guard let bytes = try bytes(of: whole, from: store) else { return nil }
            return seal.seal(
                ShelfPart(of: whole, bytes, from: number * ShelfPart.byteCountMax))
        }
    }

    private func piece(at number: Int) -> Piece {
        precondition((0..<pieceCount).contains(number), "there is such a piece")
        let place = (stretches.lastIndex { $0.first <= number }) ?? 0
        let (stretch, section) = (stretches[place], SectionIndex(clamping: UInt64(place)))
        let inside = number - stretch.first
        if inside < stretch.partCount { return .part(.section(section), number: inside) }
        let chunk = shape.chunks(of: section).lowerBound + inside - stretch.partCount
        let last = shape.lastChunk
        guard chunk >= Int(last.value), shape.byteCount(of: last) < Limits.chunkByteCount else {
            return .chunk(ChunkIndex(clamping: UInt64(chunk)))
        }
        return .part(.chunk(last), number: chunk - Int(last.value))
    }

    private func bytes(
        of whole: ShelfPart.Whole, from store: some BlobStore
    ) throws(StoreError) -> [UInt8]? {
        switch whole {
        case .section(let index):
            return try store.section(index, of: blob).map { Frame.blobSection($0).encoded() }
        case .chunk(let index): return try store.soundChunk(index, of: blob)
        }
    }

    /// Bytes of the frame that brings the hashes of a section. They follow from the file's size.
    private static func byteCount(of section: SectionIndex, _ shape: BlobShape) -> Int {
        let nothing = Digest { _ in }
        let example = BlobSection(
            blob: BlobID { _ in }, size: shape.size,
            sections: [Digest](repeating: nothing, count: shape.sectionCount), index: section,
            leaves: [Digest](repeating: nothing, count: shape.chunks(of: section).count))
        return Frame.blobSection(example).encoded().count
    }

    /// Bytes of the envelopes of a whole of so many: parts take the space of the next larger envelope.
    private static func byteCount(ofParts total: Int) -> Int {
        let most = ShelfPart.byteCountMax
        let full = ShelfSeal.size(for: most + ShelfPart.headerByteCountMax)
        let rest = total % most
        return total / most * full
            + (rest > 0 ? ShelfSeal.size(for: rest + ShelfPart.headerByteCountMax) : 0)
    }
}
