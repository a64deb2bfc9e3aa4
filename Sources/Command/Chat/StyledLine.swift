/// A line of text with terminal colours. Its texts were sanitised before: every escape sequence is
/// this program's.
enum StyledLine {
    private static let escape: Unicode.Scalar = "\u{1B}"
    private static let end = "\u{1B}[0m"
    /// Has no columns, and is written from left to right.
    private static let leftToRight = "\u{200E}"

    /// How many columns a terminal gives it.
    static func width(of line: String) -> Int {
        parts(of: line).reduce(0) { $0 + ($1.isSequence ? 0 : columnCount($1.text)) }
    }

    /// The line without its sequences.
    static func plain(_ line: String) -> String {
        parts(of: line).filter { !$0.isSequence }.map(\.text).joined()
    }

    /// The line, cut or filled up to so many columns.
    static func fit(_ line: String, to count: Int) -> String {
        let shown = cut(line, to: count)
        let rest = max(0, count - width(of: shown))
        return shown + String(repeating: " ", count: rest)
    }

    /// The line, or the start of it that has so many columns.
    static func cut(_ line: String, to count: Int) -> String {
        var (shown, width, isStyled) = ("", 0, false)
        scan: for part in parts(of: line) {
            if part.isSequence {
                shown += part.text
                isStyled = part.text != end
                continue
            }
            for character in part.text {
                width += Columns.count(of: character)
                if width > count { break scan }
                shown.append(character)
            }
        }
        return shown + (isStyled ? end : "") + mark(behind: line)
    }

    /// What keeps a text that is written from right to left apart from another one behind it: terminals
    /// that turn such texts around take two beside each other for one. Empty for any other text.
    ///
    /// Source: UAX #9, 2.6, Implicit Directional Marks.
    static func mark(behind text: String) -> String {
        text.unicodeScalars.contains(where: isRightToLeft) ? leftToRight : ""
    }

    private static func isRightToLeft(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0590...0x08FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFC, 0x10800...0x10FFF,
            0x1E800...0x1EFFF:
            true
        default: false
        }
    }

    /// Texts, and the sequences between them. By scalars: a mark that a text begins with would make one
    /// character with the letter that ends a sequence.
    private static func parts(of line: String) -> [(text: String, isSequence: Bool)] {
        guard line.unicodeScalars.contains(escape) else { return [(line, false)] }
        var parts: [(text: String, isSequence: Bool)] = []
        var rest = line.unicodeScalars[...]
        while let first = rest.first {
            let length =
                first == escape
                ? rest.dropFirst(2).firstIndex { (0x40...0x7E).contains($0.value) }
                    .map { rest[...$0] } ?? rest
                : rest.prefix { $0 != escape }
            parts.append((String(length), first == escape))
            rest = rest[length.endIndex...]
        }
        return parts
    }
}
