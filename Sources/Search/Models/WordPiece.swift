import Foundation
import ParleyWords

/// Cuts a text into the pieces of BERT's uncased vocabulary.
///
/// Source: BERT's `BasicTokenizer` and `WordpieceTokenizer`; golden pieces in
/// `Protocol/Vectors/search`.
struct WordPiece: Sendable {
    /// The longest word that is looked up, in characters.
    private static let wordCountMax = 100

    private let pieces: [ArraySlice<UInt8>: Int32]
    private let unknown: Int32, start: Int32, end: Int32

    /// The vocabulary: a piece a line, numbered from 0.
    init(vocabulary path: String) throws(ModelError) {
        let file = try MappedFile(path)
        var pieces: [ArraySlice<UInt8>: Int32] = [:]
        pieces.reserveCapacity(32_000)
        var number: Int32 = 0
        for line in Array(file.bytes).split(separator: 10, omittingEmptySubsequences: false) {
            pieces[line.last == 13 ? line.dropLast() : line] = number
            number += 1
        }
        guard let unknown = pieces[Array("[UNK]".utf8)[...]],
            let start = pieces[Array("[CLS]".utf8)[...]], let end = pieces[Array("[SEP]".utf8)[...]]
        else { throw .damaged(path) }
        (self.unknown, self.start, self.end) = (unknown, start, end)
        self.pieces = pieces
    }

    /// The pieces of a text between its two marks, at most `limit` with them.
    func pieces(of text: String, limit: Int) -> [Int32] {
        var found = [start]
        for word in words(of: text) {
            if found.count >= limit - 1 { break }
            append(word, to: &found)
        }
        return Array(found.prefix(limit - 1)) + [end]
    }

    private func append(_ word: Word, to found: inout [Int32]) {
        guard word.count <= Self.wordCountMax else { return found.append(unknown) }
        let before = found.count
        var rest = word.bytes[...]
        while !rest.isEmpty {
            let isFirst = found.count == before
            guard let (piece, count) = longest(rest, isFirst: isFirst) else {
                found.removeLast(found.count - before)
                return found.append(unknown)
            }
            found.append(piece)
            rest = rest.dropFirst(count)
        }
    }

    /// The longest piece that a word goes on with, and its bytes.
    private func longest(_ rest: ArraySlice<UInt8>, isFirst: Bool) -> (Int32, Int)? {
        let text = isFirst ? Array(rest) : [0x23, 0x23] + rest
        var end = text.count
        let least = isFirst ? 1 : 3
        while end >= least {
            // A piece ends between letters.
            if end == text.count || text[end] & 0xc0 != 0x80, let piece = pieces[text[..<end]] {
                return (piece, isFirst ? end : end - 2)
            }
            end -= 1
        }
        return nil
    }

    // MARK: Words

    private struct Word {
        var bytes: [UInt8] = []
        /// Characters.
        var count = 0
    }

    private func words(of text: String) -> [Word] {
        var words: [Word] = []
        var word = Word()
        func close() {
            if !word.bytes.isEmpty { words.append(word) }
            word = Word()
        }
        for letter in text.unicodeScalars {
            switch Self.kind(letter) {
            case .nothing: continue
            case .blank: close()
            case .alone:
                close()
                Self.append(letter, to: &word.bytes)
                word.count = 1
                close()
            case .letter:
                let before = word.bytes.count
                Self.append(letter, to: &word.bytes)
                if word.bytes.count > before { word.count += 1 }
            }
        }
        close()
        return words
    }

    private enum Kind { case nothing, blank, alone, letter }

    private static func kind(_ letter: Unicode.Scalar) -> Kind {
        switch letter.value {
        case 0x20, 9, 10, 13: return .blank
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: return .letter
        case 0x21...0x2f, 0x3a...0x40, 0x5b...0x60, 0x7b...0x7e: return .alone
        case 0, 0xfffd, 1...0x1f, 0x7f: return .nothing
        case 0x4e00...0x9fff, 0x3400...0x4dbf, 0x20000...0x2a6df, 0x2a700...0x2ceaf,
            0xf900...0xfaff, 0x2f800...0x2fa1f:
            return .alone
        default: break
        }
        switch letter.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned: return .nothing
        case .spaceSeparator: return .blank
        case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation,
            .initialPunctuation, .finalPunctuation, .otherPunctuation:
            return .alone
        default:
            return letter.properties.isWhitespace ? .blank : .letter
        }
    }

    /// Lower case without marks, as canonical decomposition leaves it.
    private static func append(_ letter: Unicode.Scalar, to bytes: inout [UInt8]) {
        if letter.value < 0x80 {
            let byte = UInt8(truncatingIfNeeded: letter.value)
            bytes.append((0x41...0x5a).contains(byte) ? byte | 0x20 : byte)
            return
        }
        for lower in letter.properties.lowercaseMapping.unicodeScalars {
            if lower.properties.generalCategory == .nonspacingMark { continue }
            if (0xac00...0xd7a3).contains(lower.value) {
                for part in hangul(lower.value) { append(scalar: part, to: &bytes) }
            } else {
                append(scalar: Folding.base(of: lower) ?? lower, to: &bytes)
            }
        }
    }

    private static func append(scalar: Unicode.Scalar, to bytes: inout [UInt8]) {
        if let encoded = UTF8.encode(scalar) { bytes += encoded }
    }

    /// The letters of a syllable: two, or three with a final consonant.
    private static func hangul(_ value: UInt32) -> [Unicode.Scalar] {
        let index = value - 0xac00
        let parts = [0x1100 + index / 588, 0x1161 + index % 588 / 28]
        return (index % 28 == 0 ? parts : parts + [0x11a7 + index % 28])
            .compactMap { Unicode.Scalar($0) }
    }
}
