/// A word of a text, as it is compared, and where it stands.
public struct Word: Equatable, Sendable {
    /// The word without case, marks and width, in UTF-8.
    public var folded: [UInt8]
    /// Its bytes in the text's UTF-8.
    public var range: Range<Int>
    /// Whether it is one letter of a script that puts no blanks between words.
    public var isUnspaced: Bool

    /// Whether it goes on where another ended, as letters of an unspaced script do.
    func follows(_ other: Word) -> Bool {
        isUnspaced && other.isUnspaced && other.range.upperBound == range.lowerBound
    }
}

/// Cuts a text into words.
public enum WordSplitter {
    /// Longer words are cut off here, in bytes: nobody looks for the end of a key or an address.
    static let wordByteCountMax = 64

    private enum Kind { case gap, letter, joiner, unspaced, alone }

    /// The words of a text in their order.
    public static func words(of text: String) -> [Word] {
        var words: [Word] = []
        var open: Word?
        var place = 0
        var joiner: Int?
        for letter in text.unicodeScalars {
            let end = place + UTF8.width(letter)
            switch kind(letter) {
            case .letter:
                var word = open ?? Word(folded: [], range: place..<place, isUnspaced: false)
                append(letter, to: &word, end: end)
                open = word
                joiner = nil
            case .joiner where open != nil && joiner == nil:
                joiner = end
            case .gap, .joiner:
                close(&open, into: &words)
                joiner = nil
            case .unspaced, .alone:
                close(&open, into: &words)
                joiner = nil
                var word = Word(folded: [], range: place..<place, isUnspaced: true)
                append(letter, to: &word, end: end)
                close(word, into: &words)
            }
            place = end
        }
        close(&open, into: &words)
        return words
    }

    private static func append(_ letter: Unicode.Scalar, to word: inout Word, end: Int) {
        if word.folded.count < wordByteCountMax { Folding.fold(letter, into: &word.folded) }
        word.range = word.range.lowerBound..<end
    }

    private static func close(_ open: inout Word?, into words: inout [Word]) {
        if let word = open { close(word, into: &words) }
        open = nil
    }

    private static func close(_ word: Word, into words: inout [Word]) {
        // Of marks alone nothing is left.
        if !word.folded.isEmpty { words.append(word) }
    }

    private static func kind(_ letter: Unicode.Scalar) -> Kind {
        switch letter.value {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: return .letter
        // Within a word they are left out: "can't" is "cant".
        case 0x27, 0x2019: return .joiner
        case 0..<0x80: return .gap
        case 0x0e00...0x0eff, 0x1000...0x109f, 0x1100...0x11ff, 0x1780...0x17ff,
            0x3005, 0x3040...0x30ff, 0x3400...0x9fff, 0xac00...0xd7a3, 0xf900...0xfaff,
            0xff66...0xff9f, 0x20000...0x3ffff:
            return .unspaced
        default: break
        }
        let properties = letter.properties
        if properties.isAlphabetic || properties.numericType != nil { return .letter }
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark: return .letter
        case .otherSymbol where properties.isEmojiPresentation: return .alone
        default: return .gap
        }
    }
}
