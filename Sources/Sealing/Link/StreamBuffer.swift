import ParleyWire

/// Cuts a byte stream into messages of `u16 length ‖ bytes`.
///
/// It keeps at most one incomplete message. A message that is complete in the received bytes is
/// borrowed from there, so that bulk data is not copied once more.
struct StreamBuffer: Sendable {
    private var kept: [UInt8] = []

    /// The next message without its length, or nil when more bytes are needed: then all of `rest`
    /// was taken. The length is judged before anything is kept.
    mutating func next(
        _ rest: inout ArraySlice<UInt8>, atMost limit: Int
    ) throws(LinkRejection) -> ArraySlice<UInt8>? {
        if kept.isEmpty, rest.count >= 2 {
            let count = try Self.length(rest, atMost: limit)
            if rest.count >= 2 + count {
                defer { rest = rest.dropFirst(2 + count) }
                return rest.dropFirst(2).prefix(count)
            }
        }
        guard fill(upTo: 2, &rest) else { return nil }
        let count = try Self.length(kept[...], atMost: limit)
        guard fill(upTo: 2 + count, &rest) else { return nil }
        let message = kept
        kept = []
        return message.dropFirst(2)
    }

    /// Exactly so many bytes, or nil when more are needed.
    mutating func take(_ count: Int, _ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard fill(upTo: count, &rest) else { return nil }
        defer { kept = [] }
        return kept
    }

    /// The first three bytes of a caller, or nil if more are needed: the pattern, and the range of
    /// versions.
    mutating func opening(
        _ pattern: UInt8, _ rest: inout ArraySlice<UInt8>
    ) throws(LinkRejection) -> [UInt8]? {
        guard let opening = take(3, &rest) else { return nil }
        guard opening[0] == pattern,
            (opening[1]...max(opening[1], opening[2])).contains(Link.version)
        else { throw .unsupported }
        return opening
    }

    private mutating func fill(upTo count: Int, _ rest: inout ArraySlice<UInt8>) -> Bool {
        let missing = count - kept.count
        guard missing > 0 else { return true }
        kept.append(contentsOf: rest.prefix(missing))
        rest = rest.dropFirst(missing)
        return kept.count == count
    }

    /// At least a tag, at most the limit of this place.
    private static func length(
        _ bytes: ArraySlice<UInt8>, atMost limit: Int
    ) throws(LinkRejection) -> Int {
        let start = bytes.startIndex
        let count = Int(bytes[start]) << 8 | Int(bytes[start + 1])
        guard (ChaCha.tagByteCount...limit).contains(count) else {
            throw limit == SealedRecords.byteCountMax ? .malformedRecord : .malformedHandshake
        }
        return count
    }
}
