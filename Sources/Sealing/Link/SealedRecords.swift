import CSodium
import ParleyWire

/// The two directions of a link after its handshake: batches of frames ⇄ sealed records.
///
/// ```
/// stream    u16 length ‖ ciphertext                                     per record
/// plaintext flags u8 ‖ length u16 ‖ content[length] ‖ zeros             flags: 1 more, 2 rekey
/// content   a piece of (u32 length ‖ frame)*                            all records of a batch
/// ```
///
/// A record that the batch continues after is full; the last one is padded to one of a few sizes,
/// so that the length reveals little.
/// Source: `Protocol/04-links.md`, "Records".
struct SealedRecords: Sendable {
    /// The longest ciphertext of a record.
    static let byteCountMax = 65_535
    /// The longest plaintext of a record.
    static let plaintextByteCountMax = byteCountMax - ChaCha.tagByteCount
    private static let headerByteCount = 3
    private static let contentByteCountMax = plaintextByteCountMax - headerByteCount
    /// What the last record of a batch is padded to.
    static let paddedByteCounts = [128, 512, 2048, 8192, 32_768, plaintextByteCountMax]
    /// Records under one key. So many of the longest stay below 1 GiB.
    static let rekeyRecordCount = 1 << 14

    private static let moreFlag: UInt8 = 1
    private static let rekeyFlag: UInt8 = 2

    private var sending: CipherState
    private var receiving: CipherState
    private var sentCount = 0
    private var receivedCount = 0
    /// Where records are opened. Kept, so that a stream of records allocates it once.
    private var scratch: [UInt8] = []
    /// The part of the last record's content that was not handed out yet.
    private var content = 0..<0
    /// Whether the batch continues after the last record.
    private var hasMore = false
    /// The known part of an incomplete frame: its length, then its bytes.
    private var lengthBytes: [UInt8] = []
    private var frame: [UInt8] = []
    private var frameByteCount = 0

    init(_ ciphers: (sending: CipherState, receiving: CipherState)) {
        sending = ciphers.sending
        receiving = ciphers.receiving
    }

    // MARK: Sealing

    /// The records of one batch.
    mutating func seal(_ frames: [[UInt8]]) -> [UInt8] {
        let contentCount = frames.reduce(0) { $0 + 4 + $1.count }
        let fullCount = max(0, contentCount - 1) / Self.contentByteCountMax
        let lastCount = contentCount - fullCount * Self.contentByteCountMax
        let total = fullCount * (2 + Self.byteCountMax) + 2 + Self.padded(lastCount) + 16
        return [UInt8](unsafeUninitializedCapacity: total) { buffer, initialized in
            let output = UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: total)
            var pieces = FramePieces(frames)
            var offset = 0
            for _ in 0..<fullCount {
                offset += seal(
                    &pieces, Self.contentByteCountMax, isLast: false, rekeys: false,
                    into: UnsafeMutableRawBufferPointer(rebasing: output[offset...]))
            }
            offset += seal(
                &pieces, lastCount, isLast: true, rekeys: false,
                into: UnsafeMutableRawBufferPointer(rebasing: output[offset...]))
            precondition(offset == total, "a batch has the length that was reckoned")
            initialized = total
        }
    }

    /// A record without content that is the last under the present key.
    mutating func rekey() -> [UInt8] {
        let total = 2 + Self.paddedByteCounts[0] + 16
        return [UInt8](unsafeUninitializedCapacity: total) { buffer, initialized in
            var pieces = FramePieces([])
            _ = seal(
                &pieces, 0, isLast: true, rekeys: true,
                into: UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: total))
            initialized = total
        }
    }

    /// Writes one record and seals it where it lies; returns how long it is.
    private mutating func seal(
        _ pieces: inout FramePieces, _ contentCount: Int, isLast: Bool, rekeys: Bool,
        into output: UnsafeMutableRawBufferPointer
    ) -> Int {
        sentCount += 1
        let rekeys = rekeys || sentCount == Self.rekeyRecordCount
        let plainCount = isLast ? Self.padded(contentCount) : Self.plaintextByteCountMax
        let sealedCount = plainCount + ChaCha.tagByteCount
        output[0] = UInt8(sealedCount >> 8)
        output[1] = UInt8(truncatingIfNeeded: sealedCount)
        let record = UnsafeMutableRawBufferPointer(rebasing: output[2..<2 + sealedCount])
        record[0] = (isLast ? 0 : Self.moreFlag) | (rekeys ? Self.rekeyFlag : 0)
        record[1] = UInt8(contentCount >> 8)
        record[2] = UInt8(truncatingIfNeeded: contentCount)
        let contentEnd = Self.headerByteCount + contentCount
        pieces.copy(
            into: UnsafeMutableRawBufferPointer(rebasing: record[Self.headerByteCount..<contentEnd])
        )
        if contentEnd < plainCount {
            let padding = UnsafeMutableRawBufferPointer(rebasing: record[contentEnd..<plainCount])
            padding.initializeMemory(as: UInt8.self, repeating: 0)
        }
        sending.encrypt(
            UnsafeRawBufferPointer(rebasing: record[..<plainCount]),
            authenticating: UnsafeRawBufferPointer(start: nil, count: 0), into: record)
        if rekeys {
            sending.rekey()
            sentCount = 0
        }
        return 2 + sealedCount
    }

    private static func padded(_ contentCount: Int) -> Int {
        let count = headerByteCount + contentCount
        return paddedByteCounts.first { count <= $0 } ?? plaintextByteCountMax
    }

    // MARK: Opening

    /// Whether the record that was opened last may have a frame that was not taken yet.
    var hasContent: Bool { !content.isEmpty }

    /// Opens one record; ``nextFrame(upTo:)`` hands out its content, before the next is opened.
    mutating func open(_ record: ArraySlice<UInt8>) throws(LinkRejection) {
        precondition(content.isEmpty, "the frames of the last record are taken first")
        let plainCount = record.count - ChaCha.tagByteCount
        guard receivedCount < Self.rekeyRecordCount else { throw .rekeyOverdue }
        var plaintext = scratch
        scratch = []
        defer { scratch = plaintext }
        if plaintext.count < plainCount {
            // No longer than the received bytes: each of many idle connections keeps this.
            plaintext = [UInt8](repeating: 0, count: plainCount)
        }
        let isGenuine = plaintext.withUnsafeMutableBytes { plaintext in
            record.withUnsafeBytes {
                receiving.decrypt(
                    $0, authenticating: UnsafeRawBufferPointer(start: nil, count: 0),
                    into: UnsafeMutableRawBufferPointer(rebasing: plaintext[..<plainCount]))
            }
        }
        guard isGenuine else { throw .undecipherable }
        receivedCount += 1
        content = try Self.content(plaintext[..<plainCount])
        hasMore = plaintext[0] & Self.moreFlag != 0
        if plaintext[0] & Self.rekeyFlag != 0 {
            receiving.rekey()
            receivedCount = 0
        }
        if content.isEmpty { try endRecord() }
    }

    /// Opens one record, and hands out every frame that it makes whole.
    mutating func open(
        _ record: ArraySlice<UInt8>, frameByteCountMax: Int = Limits.frameByteCountMax,
        _ found: ([UInt8]) -> Void
    ) throws(LinkRejection) {
        try open(record)
        while let frame = try nextFrame(upTo: frameByteCountMax) { found(frame) }
    }

    /// The next frame that the records opened so far make whole, or nil.
    mutating func nextFrame(
        upTo limit: Int = Limits.frameByteCountMax
    ) throws(LinkRejection) -> [UInt8]? {
        guard !content.isEmpty else { return nil }
        let whole = try takeFrame(limit)
        if content.isEmpty { try endRecord() }
        return whole
    }

    /// A batch ends between two frames.
    private func endRecord() throws(LinkRejection) {
        guard hasMore || lengthBytes.isEmpty else { throw .malformedRecord }
    }

    /// The content of a record, whose form has one spelling.
    private static func content(
        _ plaintext: ArraySlice<UInt8>
    ) throws(LinkRejection) -> Range<Int> {
        guard plaintext.count >= paddedByteCounts[0], plaintext[0] <= moreFlag | rekeyFlag else {
            throw .malformedRecord
        }
        let count = Int(plaintext[1]) << 8 | Int(plaintext[2])
        let isLast = plaintext[0] & moreFlag == 0
        guard count <= contentByteCountMax, padded(count) == plaintext.count,
            isLast || count == contentByteCountMax
        else { throw .malformedRecord }
        let padding = plaintext[(headerByteCount + count)...]
        let isZero = padding.withUnsafeBytes {
            $0.isEmpty || sodium_is_zero($0.start, $0.count) == 1
        }
        guard isZero else { throw .malformedRecord }
        return headerByteCount..<headerByteCount + count
    }

    private mutating func takeFrame(_ limit: Int) throws(LinkRejection) -> [UInt8]? {
        if lengthBytes.count < 4 {
            let piece = content.prefix(4 - lengthBytes.count)
            lengthBytes += scratch[piece]
            content = piece.upperBound..<content.upperBound
            guard lengthBytes.count == 4 else { return nil }
            frameByteCount = lengthBytes.reduce(0) { $0 << 8 | Int($1) }
            guard frameByteCount <= limit else {
                throw .frameTooLarge(byteCount: frameByteCount)
            }
        }
        let piece = content.prefix(frameByteCount - frame.count)
        // Memory is allocated for received bytes only: announcing a long frame and sending nothing
        // holds nothing.
        frame.append(contentsOf: scratch[piece])
        content = piece.upperBound..<content.upperBound
        guard frame.count == frameByteCount else { return nil }
        defer {
            frame = []
            lengthBytes = []
        }
        return frame
    }
}

/// The bytes `(u32 length ‖ frame)*`, copied out piece by piece without being put together first.
private struct FramePieces {
    private let frames: [[UInt8]]
    private var index = 0
    /// How much of the present frame was copied, its four length bytes included.
    private var offset = 0

    init(_ frames: [[UInt8]]) { self.frames = frames }

    mutating func copy(into output: UnsafeMutableRawBufferPointer) {
        var place = 0
        while place < output.count {
            let frame = frames[index]
            if offset < 4 {
                output[place] = UInt8(truncatingIfNeeded: frame.count >> (8 * (3 - offset)))
                place += 1
                offset += 1
            } else {
                let count = min(frame.count - (offset - 4), output.count - place)
                frame.withUnsafeBytes {
                    let piece = UnsafeRawBufferPointer(
                        rebasing: $0[offset - 4..<offset - 4 + count])
                    output[place..<place + count].copyBytes(from: piece)
                }
                place += count
                offset += count
            }
            if offset == 4 + frame.count {
                index += 1
                offset = 0
            }
        }
    }
}
