/// How letters are made alike before words are compared: without case, marks and width.
///
/// The room's contract: it knows texts and words, and must never know who wrote them, where they
/// are stored, or under which key.
/// Source: `Protocol/10-search.md`, "Words".
public enum Folding {
    /// The letter under the marks of one, by its number. Built once from ``letters``.
    private static let bases: [UInt32: UInt32] = {
        var bases: [UInt32: UInt32] = [:]
        for group in letters.unicodeScalars.split(separator: " ") {
            guard let base = group.first else { continue }
            for letter in group.dropFirst() { bases[letter.value] = base.value }
        }
        return bases
    }()

    /// The letter without its marks, where it has any; in lower case only.
    public static func base(of letter: Unicode.Scalar) -> Unicode.Scalar? {
        guard letter.value > 0x7f, let base = bases[letter.value] else { return nil }
        return Unicode.Scalar(base)
    }

    /// Adds a letter as it is compared: in lower case, without marks, at its usual width.
    static func fold(_ letter: Unicode.Scalar, into bytes: inout [UInt8]) {
        if letter.value < 0x80 {
            let byte = UInt8(truncatingIfNeeded: letter.value)
            bytes.append((0x41...0x5a).contains(byte) ? byte | 0x20 : byte)
            return
        }
        if let narrow = narrowed(letter) { return fold(narrow, into: &bytes) }
        for lower in letter.properties.lowercaseMapping.unicodeScalars {
            if isDroppedMark(lower) { continue }
            if let letters = spelledOut[lower] {
                bytes.append(contentsOf: letters.utf8)
            } else {
                // A voiced kana is another letter, not the same with a mark.
                let base = isKana(lower) ? nil : base(of: lower)
                bytes.append(contentsOf: UTF8.encode(base ?? lower).map { Array($0) } ?? [])
            }
        }
    }

    /// The same of a whole text; blanks stay.
    public static func folded(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for letter in text.unicodeScalars { fold(letter, into: &bytes) }
        return bytes
    }

    /// Letters that are one letter with a stroke, or two at once.
    private static let spelledOut: [Unicode.Scalar: String] = [
        "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th",
        "ı": "i", "ħ": "h", "ſ": "s", "ς": "σ", "ﬁ": "fi", "ﬂ": "fl",
    ]

    /// The usual form of a letter that is as wide as an ideograph.
    private static func narrowed(_ letter: Unicode.Scalar) -> Unicode.Scalar? {
        guard (0xff01...0xff5e).contains(letter.value) else { return nil }
        return Unicode.Scalar(letter.value - 0xfee0)
    }

    /// Accents, Hebrew points and Arabic vowel signs: what people leave out when they type.
    private static func isDroppedMark(_ letter: Unicode.Scalar) -> Bool {
        switch letter.value {
        case 0x0300...0x036f, 0x0591...0x05bd, 0x05bf...0x05c7, 0x064b...0x065f, 0x0640, 0x0670:
            true
        default: false
        }
    }

    private static func isKana(_ letter: Unicode.Scalar) -> Bool {
        (0x3040...0x30ff).contains(letter.value)
    }
}
