/// How many columns a text takes on a terminal: one or two per character.
///
/// Source: Unicode 14, UAX #11 (East Asian Width), UTS #51 (emoji).
func columnCount(_ text: String) -> Int {
    text.reduce(0) { $0 + Columns.count(of: $1) }
}

/// The text, made harmless, cut to this many columns and filled up to them.
func column(_ text: String, _ count: Int) -> String {
    guard count > 0 else { return "" }
    let shown = Columns.cut(harmless(text), to: count)
    return shown + String(repeating: " ", count: count - columnCount(shown))
}

enum Columns {
    /// The columns of one character.
    static func count(of character: Character) -> Int {
        let scalars = character.unicodeScalars
        guard let first = scalars.first, first.value >= 0x300 || scalars.count > 1 else { return 1 }
        // Emoji are made of many: a flag of two letters, a family of four persons and three joiners.
        let isPicture =
            first.properties.isEmoji && scalars.count > 1
            && scalars.dropFirst().contains {
                $0.value == 0xFE0F || $0.value == 0x200D || $0.properties.isEmojiModifier
                    || $0.properties.isEmojiPresentation
            }
        return isPicture ? 2 : scalars.reduce(0) { $0 + count(of: $1) }
    }

    private static func count(of scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return 0
        // The soft hyphen is the only one that is drawn.
        case .format: return scalar.value == 0xAD ? 1 : 0
        default: break
        }
        switch scalar.value {
        // Middles and ends of Korean syllables stand within what came before.
        case 0x1160...0x11FF, 0xD7B0...0xD7FF: return 0
        case 0x1F1E6...0x1F1FF: return 1
        default: return scalar.properties.isEmojiPresentation || isWide(scalar.value) ? 2 : 1
        }
    }

    /// Wide and full-width ones that are no emoji.
    private static func isWide(_ value: UInt32) -> Bool {
        switch value {
        case 0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x3247, 0x3250...0x4DBF,
            0x4E00...0xA4C6, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAD9, 0xFE10...0xFE19,
            0xFE30...0xFE6B, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x1B2FB, 0x1F200...0x1F202,
            0x1F210...0x1F23B, 0x1F240...0x1F248, 0x1F250...0x1F265, 0x20000...0x3FFFD:
            true
        default: false
        }
    }

    /// The text, or its start with `…`.
    static func cut(_ text: String, to count: Int) -> String {
        guard columnCount(text) > count else { return text }
        var width = 1
        var end = text.startIndex
        for index in text.indices {
            width += self.count(of: text[index])
            if width > count { break }
            end = text.index(after: index)
        }
        return text[..<end] + "…"
    }

    /// The name, or its start; the start of an identifier in brackets behind it, which
    /// distinguishes it, is never cut off.
    static func cutName(_ name: String, to count: Int) -> String {
        guard columnCount(name) > count else { return name }
        let end = name.suffix(11)
        let isIdentifier =
            end.hasPrefix(" (") && end.hasSuffix(")")
            && end.dropFirst(2).dropLast().allSatisfy { $0.isASCII && $0.isHexDigit }
        return isIdentifier ? cut(String(name.dropLast(11)), to: count) + end : cut(name, to: count)
    }

    /// Fewer columns than these are not worth a wrap.
    static let countMin = 12

    /// One line as several of at most so many columns: broken between words, or within a word that
    /// is longer than a line. Nil, or fewer columns than anything could be read in, break nothing.
    static func wrap(_ line: String, to count: Int?) -> [String] {
        guard let count, count >= countMin, columnCount(line) > count else { return [line] }
        var lines: [String] = []
        var rest = Substring(line)
        while true {
            var (width, index) = (0, rest.startIndex)
            // Where the line may end: after a word.
            var wordEnd: Substring.Index?
            var isInWord = false
            while index < rest.endIndex {
                let character = rest[index]
                if character == " " {
                    if isInWord { wordEnd = index }
                    isInWord = false
                } else {
                    isInWord = true
                }
                width += self.count(of: character)
                // A blank may stand outside: it is not seen.
                if width > count, character != " " { break }
                index = rest.index(after: index)
            }
            guard index < rest.endIndex else { return lines + [String(rest)] }
            let end = wordEnd ?? index
            lines.append(String(rest[..<end]))
            rest = rest[end...].drop { $0 == " " }
        }
    }
}
