/// What a device holds of a blob.
public struct BlobHolding: Equatable, Sendable {
    /// Consecutive chunks.
    public struct Range: Equatable, Sendable {
        /// The first chunk.
        public var first: ChunkIndex
        /// The last chunk.
        public var last: ChunkIndex

        /// From one chunk through another.
        public init(first: ChunkIndex, last: ChunkIndex) {
            self.first = first
            self.last = last
        }
    }

    /// The blob.
    public var blob: BlobID
    /// Ascending, with a gap between any two; none if the sender holds nothing, or may give
    /// nothing. If the blob is held in more pieces than ``Limits/heldRangeCountMax``, only the
    /// first are listed.
    public var ranges: [Range]

    /// A holding with these fields.
    public init(blob: BlobID, ranges: [Range]) {
        self.blob = blob
        self.ranges = ranges
    }
}

/// What the sender wants of a blob, and the receiver has said that it holds.
public struct BlobWant: Equatable, Sendable {
    /// A part of a blob.
    public enum Part: Equatable, Sendable {
        /// The hashes of a section's chunks.
        case section(SectionIndex)
        /// So many chunks from this one on, 1 to ``Limits/wantedChunkCountMax``.
        case chunks(from: ChunkIndex, count: Int)
    }

    /// The blob.
    public var blob: BlobID
    /// The requested part.
    public var part: Part

    /// A want with these fields.
    public init(blob: BlobID, part: Part) {
        self.blob = blob
        self.part = part
    }
}

/// The hashes of a section's chunks, and all that is needed to know that they are those of a blob.
public struct BlobSection: Equatable, Sendable {
    /// The blob.
    public var blob: BlobID
    /// How many bytes the file has before it is sealed.
    public var size: BlobSize
    /// The hashes of all sections.
    public var sections: [Digest]
    /// Which section this one is.
    public var index: SectionIndex
    /// The hashes of its chunks.
    public var leaves: [Digest]

    /// A section with these fields.
    public init(
        blob: BlobID, size: BlobSize, sections: [Digest], index: SectionIndex, leaves: [Digest]
    ) {
        self.blob = blob
        self.size = size
        self.sections = sections
        self.index = index
        self.leaves = leaves
    }
}

/// A piece of a blob that one peer gives another.
public enum BlobPiece: Equatable, Sendable {
    /// The hashes of a section's chunks.
    case section(BlobID, SectionIndex)
    /// A chunk.
    case chunk(BlobID, ChunkIndex)

    /// The piece that a frame says it brings; nil of other frames. The rest of it is not read.
    public init?(in frame: [UInt8]) {
        guard let kind = frame.first.flatMap(Frame.Kind.init(rawValue:)) else { return nil }
        var reader = ByteReader(frame)
        do throws(DecodingFailure) {
            _ = try reader.byte()
            switch kind {
            case .blobChunk: self = .chunk(try reader.identifier(), try reader.bounded())
            case .blobSection:
                let blob: BlobID = try reader.identifier()
                let _: BlobSize = try reader.bounded()
                let count = try reader.count("sections", atMost: Limits.sectionCountMax)
                _ = try reader.slice(count * Digest.byteCount)
                self = .section(blob, try reader.bounded())
            default: return nil
            }
        } catch {
            // Why it does not read is told to who decodes it.
            return nil
        }
    }

    /// The blob.
    public var blob: BlobID {
        switch self {
        case .section(let blob, _), .chunk(let blob, _): blob
        }
    }
}

/// A sealed chunk of a blob.
public struct BlobChunk: Equatable, Sendable {
    /// The blob.
    public var blob: BlobID
    /// Which chunk.
    public var index: ChunkIndex
    /// Its bytes, as they are stored.
    public var bytes: [UInt8]

    /// A chunk with these fields.
    public init(blob: BlobID, index: ChunkIndex, bytes: [UInt8]) {
        self.blob = blob
        self.index = index
        self.bytes = bytes
    }
}

extension ByteWriter {
    mutating func blobs(_ blobs: [BlobID]) {
        number(UInt64(blobs.count))
        for blob in blobs { identifier(blob) }
    }

    mutating func holding(_ holding: BlobHolding) {
        identifier(holding.blob)
        number(UInt64(holding.ranges.count))
        for range in holding.ranges {
            number(range.first)
            number(range.last.excess(over: range.first))
        }
    }

    mutating func blobWant(_ want: BlobWant) {
        identifier(want.blob)
        switch want.part {
        case .section(let index):
            byte(0)
            number(index)
        case .chunks(let first, let count):
            byte(1)
            number(first)
            number(UInt64(count))
        }
    }

    mutating func section(_ section: BlobSection) {
        identifier(section.blob)
        number(section.size)
        number(UInt64(section.sections.count))
        for hash in section.sections { identifier(hash) }
        number(section.index)
        number(UInt64(section.leaves.count))
        for leaf in section.leaves { identifier(leaf) }
    }

    mutating func chunk(_ chunk: BlobChunk) {
        identifier(chunk.blob)
        number(chunk.index)
        counted(chunk.bytes)
    }
}

extension ByteReader {
    mutating func blobs() throws(DecodingFailure) -> [BlobID] {
        let blobs: [BlobID] = try list("blobs", atMost: Limits.askedBlobCountMax) {
            reader throws(DecodingFailure) in try reader.identifier()
        }
        guard !blobs.isEmpty else { throw .forbidden(field: "blobs") }
        try ascending("blobs", blobs) { $0 }
        return blobs
    }

    mutating func holding() throws(DecodingFailure) -> BlobHolding {
        let blob: BlobID = try identifier()
        let ranges = try list("chunks", atMost: Limits.heldRangeCountMax) {
            reader throws(DecodingFailure) in
            let first: ChunkIndex = try reader.bounded()
            let length: ChunkIndex = try reader.bounded()
            guard length <= ChunkIndex.greatest.lowered(by: first.value) else {
                throw .forbidden(field: "chunks")
            }
            return BlobHolding.Range(first: first, last: first.raised(by: length.value))
        }
        for (left, right) in zip(ranges, ranges.dropFirst())
        where right.first.excess(over: left.last) < 2 {
            throw .unsorted(field: "chunks")
        }
        return BlobHolding(blob: blob, ranges: ranges)
    }

    mutating func blobWant() throws(DecodingFailure) -> BlobWant {
        let blob: BlobID = try identifier()
        switch try byte() {
        case 0:
            return BlobWant(blob: blob, part: .section(try bounded()))
        case 1:
            let first: ChunkIndex = try bounded()
            let count = try count("chunks", atMost: Limits.wantedChunkCountMax)
            guard count > 0, UInt64(count - 1) <= ChunkIndex.greatest.excess(over: first) else {
                throw .forbidden(field: "chunks")
            }
            return BlobWant(blob: blob, part: .chunks(from: first, count: count))
        default:
            throw .forbidden(field: "part")
        }
    }

    mutating func section() throws(DecodingFailure) -> BlobSection {
        let blob: BlobID = try identifier()
        let size: BlobSize = try bounded()
        let sections: [Digest] = try list("sections", atMost: Limits.sectionCountMax) {
            reader throws(DecodingFailure) in try reader.identifier()
        }
        return BlobSection(
            blob: blob, size: size, sections: sections, index: try bounded(),
            leaves: try list("leaves", atMost: Limits.sectionChunkCountMax) {
                reader throws(DecodingFailure) in try reader.identifier()
            })
    }

    mutating func chunk() throws(DecodingFailure) -> BlobChunk {
        let blob: BlobID = try identifier()
        let index: ChunkIndex = try bounded()
        let bytes = try slice(try count("chunk", atMost: Limits.chunkByteCount))
        // A tag alone seals nothing.
        guard bytes.count > Limits.chunkByteCount - Limits.plainChunkByteCount else {
            throw .forbidden(field: "chunk")
        }
        return BlobChunk(blob: blob, index: index, bytes: Array(bytes))
    }
}
