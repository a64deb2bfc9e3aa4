import ParleySealing
import ParleyWire

/// A part of what is on a shelf beside whole chunks, small enough for an envelope: of the hashes of
/// a section, or of a last chunk that does not fill an envelope.
///
/// ```
/// u8 kind ‖ number index ‖ number total ‖ number offset ‖ counted bytes ‖ zeros
/// ```
/// Source: `Protocol/13-files.md`, "Shelves".
struct ShelfPart: Equatable, Sendable {
    /// What it is a part of.
    enum Whole: Hashable, Sendable {
        /// The frame that brings the hashes of a section.
        case section(SectionIndex)
        /// The last chunk.
        case chunk(ChunkIndex)
    }

    /// Bytes of a whole that one part has, at most.
    static let byteCountMax = 60 << 10
    /// Bytes of what stands before those of a whole, at most.
    static let headerByteCountMax = 16
    /// Bytes that a whole may have.
    static let totalByteCountMax = Limits.frameByteCountMax

    var whole: Whole
    /// Bytes of the whole.
    var total: Int
    /// Where this part begins in it.
    var offset: Int
    var bytes: [UInt8]

    /// The part of a whole that begins at an offset.
    init(of whole: Whole, _ bytes: [UInt8], from offset: Int) {
        self.whole = whole
        total = bytes.count
        self.offset = offset
        self.bytes = Array(bytes[offset..<min(offset + Self.byteCountMax, bytes.count)])
    }

    /// The part that these bytes are.
    init(decoding bytes: [UInt8]) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        let kind = try reader.byte()
        switch kind {
        case 1: whole = .section(try reader.bounded())
        case 2: whole = .chunk(try reader.bounded())
        default: throw .unknownVersion(kind)
        }
        total = try reader.count("whole", atMost: Self.totalByteCountMax)
        offset = try reader.count("offset", atMost: total)
        let count = try reader.count("part", atMost: min(Self.byteCountMax, total - offset))
        self.bytes = Array(try reader.slice(count))
    }

    var encoded: [UInt8] {
        var writer = ByteWriter(capacity: bytes.count + 16)
        switch whole {
        case .section(let index):
            writer.byte(1)
            writer.number(index)
        case .chunk(let index):
            writer.byte(2)
            writer.number(index)
        }
        writer.number(UInt64(total))
        writer.number(UInt64(offset))
        writer.counted(bytes)
        return writer.bytes
    }

    /// How many parts a whole of so many bytes has.
    static func count(of total: Int) -> Int { (total + byteCountMax - 1) / byteCountMax }
}

/// Seals parts for all who can open a file, so that a relay can neither read nor make any.
///
/// The nonce follows from the content: the same part is the same envelope each time, and a relay keeps it once.
struct ShelfSeal: Sendable {
    private static let overhead = XChaCha.nonceByteCount + XChaCha.tagByteCount

    private let blob: BlobID
    private let key: Secret

    init(fileKey: [UInt8], blob: BlobID) {
        self.blob = blob
        key = deriveSecret(key: Secret(fileKey), .shelfPart, context: blob.bytes)
    }

    /// An envelope of one of the sizes that envelopes have.
    func seal(_ part: ShelfPart) -> [UInt8] {
        var plaintext = part.encoded
        let padding = Self.size(for: plaintext.count) - Self.overhead - plaintext.count
        plaintext += [UInt8](repeating: 0, count: padding)
        let nonce = derive(
            key: key, .shelfNonce, context: plaintext, byteCount: XChaCha.nonceByteCount)
        return nonce
            + XChaCha.seal(plaintext, key: key, nonce: nonce, authenticating: blob.bytes)
    }

    /// The part in an envelope; nil where there is none that somebody sealed who can open the file.
    func open(_ envelope: [UInt8]) -> ShelfPart? {
        guard envelope.count > Self.overhead else { return nil }
        let nonce = Array(envelope.prefix(XChaCha.nonceByteCount))
        let sealed = Array(envelope.dropFirst(XChaCha.nonceByteCount))
        guard
            let plaintext = XChaCha.open(
                sealed, key: key, nonce: nonce, authenticating: blob.bytes)
        else { return nil }
        // Why it is none is told to nobody: who made it is counted.
        return try? ShelfPart(decoding: plaintext)
    }

    /// Bytes of the envelope that takes so many.
    static func size(for byteCount: Int) -> Int {
        var size = Limits.smallestEnvelopeByteCount
        while size < byteCount + overhead { size *= 2 }
        return size
    }
}
