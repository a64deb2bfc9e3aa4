/// Which texts may be names: a name must contain nothing invisible.
///
/// A mark that nothing shows, or that turns the direction of writing, makes two names look alike.
/// Source: `Protocol/05-identity.md`, "Names".
public enum VisibleName {
    /// The first mark of a name that is invisible or moves what is beside it; nil if there is none.
    public static func hiddenMark(in name: String) -> Unicode.Scalar? {
        let scalars = Array(name.unicodeScalars)
        return scalars.indices.first { isHidden(scalars, at: $0) }.map { scalars[$0] }
    }

    /// Whether nothing of the name can be seen.
    public static func isBlank(_ name: String) -> Bool {
        let scalars = Array(name.unicodeScalars)
        return scalars.indices.allSatisfy { place in
            isHidden(scalars, at: place) || scalars[place].properties.isWhitespace
        }
    }

    /// Whether nothing of a text can be seen. A character that Unicode did not know when this was
    /// written counts as visible, unlike in a name: it may be a new emoji.
    public static func drawsNothing(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            scalar.properties.isWhitespace || drawsNothing(scalar)
                || scalar.properties.generalCategory == .control
        }
    }

    /// What is shown in place of a hidden mark.
    static let standIn: Unicode.Scalar = "\u{FFFD}"

    /// A name as it came from elsewhere: with `�` in place of each hidden mark, one blank in place
    /// of several, and in quotes where it could be taken for an identifier, or for a call of everybody.
    public static func shown(_ name: String) -> String {
        let scalars = Array(name.unicodeScalars)
        var shown = String.UnicodeScalarView()
        for place in scalars.indices {
            if isHidden(scalars, at: place) {
                shown.append(standIn)
            } else if scalars[place].properties.isWhitespace {
                // Several would look like the columns of a table.
                if let last = shown.last, last != " " { shown.append(" ") }
            } else {
                shown.append(scalars[place])
            }
        }
        if shown.last == " " { shown.removeLast() }
        let isQuoted = looksLikeIdentifier(name) || isCall(name)
        return isQuoted ? "“\(String(shown))”" : String(shown)
    }

    /// The name of a person or a device as it came from elsewhere: in quotes as well where it is a word by
    /// which Parley itself means somebody.
    public static func shownPerson(_ name: String) -> String {
        isOwnWord(name) && !isCall(name) ? "“\(shown(name))”" : shown(name)
    }

    /// Names as they stand in a list: one that has a comma itself, or an “and”, would be two there, and stands in
    /// quotes.
    public static func listed(_ names: [String]) -> [String] {
        names.map { name in
            let isDivided = name.unicodeScalars.contains(where: commas.contains)
            return isDivided || name.contains(" and ") ? "“\(name)”" : name
        }
    }

    /// The same as one text, divided by commas.
    public static func list(_ names: [String]) -> String {
        listed(names).joined(separator: ", ")
    }

    /// `,` and what is drawn like it, or divides as it does in other scripts.
    private static let commas: Set<Unicode.Scalar> = [
        ",", ";", "\u{37E}", "\u{55D}", "\u{60C}", "\u{61B}", "\u{201A}", "\u{3001}", "\u{FE50}",
        "\u{FE51}", "\u{FE54}", "\u{FF0C}", "\u{FF1B}", "\u{FF64}",
    ]

    /// Words that Parley itself uses for people, on its screens or in input: the keys of each, in
    /// small and capital letters, whose shapes differ.
    private static let ownWordKeys = Set(
        ["you", "me", "everyone", "nobody", "all"].flatMap { word in
            [word, word.uppercased(), word.prefix(1).uppercased() + word.dropFirst()]
                .flatMap(Confusables.keys)
        })
    private static let ownWordScalarCountMax = 8

    /// Whether a person could take a name for a word that Parley itself uses for people, such as
    /// `you`: a person with that name would appear in place of the reader. Hidden marks and spaces
    /// change nothing, nor does a leading `@`.
    public static func isOwnWord(_ name: String) -> Bool {
        let seen = visible(name).drop { $0.properties.isWhitespace || callSigns.contains($0) }
        // Names are looked at often, and almost all are longer.
        guard seen.count(where: { !$0.properties.isWhitespace }) <= ownWordScalarCountMax else {
            return false
        }
        return Confusables.keys(of: String(Substring(seen))).contains(where: ownWordKeys.contains)
    }

    /// Whether a name could be taken for a mention by such a word, such as `@everyone`. A group may
    /// well be called `everyone`, and nothing is called with the sign before it.
    public static func isCall(_ name: String) -> Bool {
        let first = visible(name).first { !$0.properties.isWhitespace }
        return first.map(callSigns.contains) == true && isOwnWord(name)
    }

    /// `@`, small and as wide as an ideograph, too.
    private static let callSigns: Set<Unicode.Scalar> = ["@", "\u{FE6B}", "\u{FF20}"]
    /// `#`, small and as wide as an ideograph, too.
    private static let numberSigns: Set<Unicode.Scalar> = ["#", "\u{FE5F}", "\u{FF03}"]

    /// Hex digits from which on a text is an identifier, or the start of one, and never a name.
    public static let identifierDigitCountMin = 8

    /// Whether a text is an identifier, or the start of one: hex digits, for a message with its
    /// place behind them. Such a text never means a name.
    public static func isIdentifier(_ text: some StringProtocol) -> Bool {
        isIdentifier(text) { $0.isASCII && $0.properties.isASCIIHexDigit }
    }

    /// Whether a person could take a name for an identifier, or for somebody else's name with what
    /// Parley puts behind it: `Tom (693fce02)`, `Ada (you)`; or for the number of a message: `#7`. Digits
    /// that only look like those, blanks and hidden marks change nothing.
    public static func looksLikeIdentifier(_ name: String) -> Bool {
        let seen = visible(name)
        return isDrawnAsIdentifier(seen) || isDrawnAsNumber(seen)
            || bracketed(in: seen).contains(where: isLabel)
    }

    private static func isDrawnAsNumber(_ text: String.UnicodeScalarView) -> Bool {
        let drawn = text.filter { !$0.properties.isWhitespace }
        guard drawn.count > 1, drawn.first.map(numberSigns.contains) == true else { return false }
        return drawn.dropFirst().allSatisfy { $0.properties.numericType == .decimal }
    }

    /// A name without its hidden marks.
    private static func visible(_ name: String) -> String.UnicodeScalarView {
        let scalars = Array(name.unicodeScalars)
        var seen = String.UnicodeScalarView()
        for place in scalars.indices where !isHidden(scalars, at: place) {
            seen.append(scalars[place])
        }
        return seen
    }

    private static func isDrawnAsIdentifier(_ text: String.UnicodeScalarView) -> Bool {
        isIdentifier(String(text).trimmed(where: \.isWhitespace)) { scalar in
            if scalar.isASCII { return scalar.properties.isASCIIHexDigit }
            if scalar.properties.numericType == .decimal { return true }
            guard let drawn = Confusables.latin(of: scalar) else { return false }
            return drawn.unicodeScalars.allSatisfy {
                $0.properties.isASCIIHexDigit || $0 == "O" || $0 == "l"
            }
        }
    }

    /// Whether this is what Parley puts in brackets behind a name.
    private static func isLabel(_ text: String.UnicodeScalarView) -> Bool {
        let word = String(text).trimmed(where: \.isWhitespace)
        return isDrawnAsIdentifier(text) || Confusables.resemble(String(word), "you")
    }

    /// The content of brackets of any kind, up to the end if one is not closed.
    private static func bracketed(in text: String.UnicodeScalarView) -> [String.UnicodeScalarView] {
        text.split { $0.properties.generalCategory == .openPunctuation }
            .dropFirst(text.first?.properties.generalCategory == .openPunctuation ? 0 : 1)
            .map { part in
                String.UnicodeScalarView(
                    part.prefix { $0.properties.generalCategory != .closePunctuation })
            }
    }

    private static func isIdentifier(
        _ text: some StringProtocol, where isDigit: (Unicode.Scalar) -> Bool
    ) -> Bool {
        let parts = text.unicodeScalars.split(separator: "-", omittingEmptySubsequences: false)
        guard parts[0].count >= identifierDigitCountMin else { return false }
        return parts.allSatisfy { !$0.isEmpty && $0.allSatisfy(isDigit) }
    }

    /// Whether a character draws nothing, whatever stands beside it. Those of `blanks` count as
    /// letters, signs or accents in Unicode, which lists nowhere that they are blank.
    static func drawsNothing(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isDefaultIgnorableCodePoint || blanks.contains(scalar.value)
    }

    /// From the code charts of Unicode 15.1: what has an empty picture, or none of its own, and is
    /// neither a blank nor default-ignorable.
    private static let blanks: Set<UInt32> = [
        0x2800,  // BRAILLE PATTERN BLANK
        0xFFFC,  // OBJECT REPLACEMENT CHARACTER, in place of what is not there
        0x1107F,  // BRAHMI NUMBER JOINER
        0x13441, 0x13442,  // EGYPTIAN HIEROGLYPH FULL BLANK, HALF BLANK
        0x16FE4,  // KHITAN SMALL SCRIPT FILLER
        0x1BC9D,  // DUPLOYAN THICK LETTER SELECTOR
        0x1D159,  // MUSICAL SYMBOL NULL NOTEHEAD
    ]

    private static func isHidden(_ scalars: [Unicode.Scalar], at place: Int) -> Bool {
        let properties = scalars[place].properties
        switch properties.generalCategory {
        case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator, .unassigned,
            .privateUse:
            return !joins(scalars, at: place)
        default:
            return drawsNothing(scalars[place]) && !joins(scalars, at: place)
        }
    }

    /// Whether an invisible mark shapes its surroundings: variants and joined pictures of emoji,
    /// flags made of tags, and the joiners that some scripts need.
    private static func joins(_ scalars: [Unicode.Scalar], at place: Int) -> Bool {
        guard place > 0 else { return false }
        let before = scalars[place - 1]
        switch scalars[place].value {
        case 0xFE0E, 0xFE0F:
            // A digit is an emoji only as a keycap.
            guard before.isASCII else { return before.properties.isEmoji }
            return place + 1 < scalars.count && scalars[place + 1].value == 0x20E3
        case 0x200D, 0x200C:
            guard place + 1 < scalars.count else { return false }
            let after = scalars[place + 1]
            // After a virama (Indic scripts), between letters of a cursive script, between emoji.
            if before.properties.canonicalCombiningClass == .virama { return true }
            if isCursive(before), isCursive(after) { return true }
            return scalars[place].value == 0x200D && isEmojiPart(before)
                && after.properties.isEmoji
        case 0xE0020...0xE007F:
            let base = scalars[..<place].last { !(0xE0020...0xE007F).contains($0.value) }
            return base?.value == 0x1F3F4
        default: return false
        }
    }

    private static func isEmojiPart(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isEmoji || scalar.value == 0xFE0F
    }

    /// Arabic, Syriac, N'Ko, Mandaic, Mongolian: blocks whose letters change with their neighbours.
    private static func isCursive(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0600...0x08FF, 0x1800...0x18AF, 0xFB50...0xFDFF, 0xFE70...0xFEFC: true
        default: false
        }
    }
}

extension String {
    /// The text without leading and trailing characters of this kind.
    fileprivate func trimmed(where isLeftOut: (Character) -> Bool) -> Substring {
        guard let first = firstIndex(where: { !isLeftOut($0) }),
            let last = lastIndex(where: { !isLeftOut($0) })
        else { return "" }
        return self[first...last]
    }
}
