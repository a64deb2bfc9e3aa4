/// The part of a message that is shown as an answer: all of a short one, and of a longer one the sentences in
/// which most of the question stands.
struct Passage {
    /// Bytes of a passage, at most.
    static let byteCountMax = 600
    /// Bytes before what matches, where a single sentence is longer.
    private static let leadByteCount = 120

    /// What is shown.
    let text: String
    /// The same in parts, with what matches marked.
    let pieces: [SearchHit.Piece]
    /// Whether the message says more.
    let isCut: Bool

    /// - Parameter pieces: the whole message in parts.
    init(_ pieces: [SearchHit.Piece]) {
        let bytes = Array(pieces.map(\.text).joined().utf8)
        guard bytes.count > Self.byteCountMax else {
            text = String(decoding: bytes, as: UTF8.self)
            (self.pieces, isCut) = (pieces, false)
            return
        }
        var (marks, place): ([Range<Int>], Int) = ([], 0)
        for piece in pieces {
            let end = place + piece.text.utf8.count
            if piece.isMatch { marks.append(place..<end) }
            place = end
        }
        let range = Self.best(of: bytes, marks)
        text = String(decoding: bytes[range], as: UTF8.self)
        let shown = marks.filter {
            $0.lowerBound >= range.lowerBound && $0.upperBound <= range.upperBound
        }
        self.pieces = Views.pieces(
            of: text,
            shown.map { $0.lowerBound - range.lowerBound..<$0.upperBound - range.lowerBound })
        isCut = true
    }

    /// The run of sentences that fits and in which most stands; of several the first.
    private static func best(of bytes: [UInt8], _ marks: [Range<Int>]) -> Range<Int> {
        let sentences = sentences(of: bytes)
        var (best, bestCount) = (sentences.first ?? bytes.indices, -1)
        // The first sentence behind the run, and the first marks within and behind it: they only move on.
        var (end, inside, behind) = (0, 0, 0)
        for (start, first) in sentences.enumerated() {
            end = max(end, start + 1)
            while end < sentences.count,
                sentences[end].upperBound - first.lowerBound <= byteCountMax
            { end += 1 }
            let range = first.lowerBound..<sentences[end - 1].upperBound
            while inside < marks.count, marks[inside].lowerBound < range.lowerBound { inside += 1 }
            behind = max(behind, inside)
            while behind < marks.count, marks[behind].lowerBound < range.upperBound { behind += 1 }
            if behind - inside > bestCount { (best, bestCount) = (range, behind - inside) }
        }
        guard best.count > byteCountMax else { return best }
        // A sentence without an end: from a little before what matches.
        let mark = marks.first { best.contains($0.lowerBound) }?.lowerBound ?? best.lowerBound
        let from = letter(at: max(best.lowerBound, mark - leadByteCount), in: bytes)
        return from..<letter(at: min(best.upperBound, from + byteCountMax), in: bytes)
    }

    /// Sentences and lines, as ranges that leave nothing out but blanks between them.
    private static func sentences(of bytes: [UInt8]) -> [Range<Int>] {
        var (found, start): ([Range<Int>], Int) = ([], 0)
        func isBlank(_ place: Int) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(bytes[place]) }
        for place in bytes.indices {
            let isLine = bytes[place] == 0x0A
            let isMark = [UInt8(ascii: "."), UInt8(ascii: "!"), UInt8(ascii: "?")]
                .contains(bytes[place])
            let isEnd = isMark && (place + 1 == bytes.count || isBlank(place + 1))
            guard isLine || isEnd || place + 1 == bytes.count else { continue }
            let from = (start...place).first { !isBlank($0) }
            if let from { found.append(from..<place + (isLine ? 0 : 1)) }
            start = place + 1
        }
        return found
    }

    /// The first byte of the letter that a place is in.
    private static func letter(at place: Int, in bytes: [UInt8]) -> Int {
        var place = place
        while place > 0, place < bytes.count, bytes[place] & 0xC0 == 0x80 { place -= 1 }
        return place
    }
}
