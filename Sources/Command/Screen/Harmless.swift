/// A text from somebody else, as it may stand on a terminal.
///
/// A message can hold anything. Control characters move cursors, change titles and colours, and on
/// some terminals type commands; marks that turn the direction of writing make a text look like
/// another. They are shown as pictures or as `�`, so that nothing vanishes unseen.
func harmless(_ text: String) -> String {
    var shown = String.UnicodeScalarView()
    var rest = text.unicodeScalars[...]
    while let scalar = rest.first {
        if let flag = taggedFlag(at: rest) {
            shown.append(contentsOf: flag)
            rest = rest.dropFirst(flag.count)
            continue
        }
        rest = rest.dropFirst()
        switch scalar.value {
        case 0x09: shown.append(contentsOf: "    ".unicodeScalars)
        case 0x00...0x1F: shown.append(picture(scalar.value))
        case 0x7F: shown.append("\u{2421}")
        // C1 controls, line and paragraph separators, directions, invisible tags.
        case 0x80...0x9F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF, 0xE0000...0xE00FF,
            0xE01F0...0xE0FFF:
            shown.append("\u{FFFD}")
        default: shown.append(scalar)
        }
    }
    return String(shown)
}

/// The flag of a part of a country that a text begins with: a black flag, and tags that say which.
/// They are those that are drawn as flags; behind any other sign, tags could hide a text.
/// Source: Unicode 15.1, UTS #51, "Emoji Tag Sequences", and emoji-sequences.txt.
private func taggedFlag(at text: Substring.UnicodeScalarView) -> Substring.UnicodeScalarView? {
    guard text.first == "\u{1F3F4}" else { return nil }
    return flagsOfParts.first { text.starts(with: $0) }
}

private let flagsOfParts = ["gbeng", "gbsct", "gbwls"].map { name in
    var flag = Substring.UnicodeScalarView(["\u{1F3F4}"])
    flag.append(contentsOf: name.unicodeScalars.compactMap { Unicode.Scalar(0xE0000 + $0.value) })
    flag.append("\u{E007F}")
    return flag
}

/// `␛` for escape, and so on: Unicode has a picture for each.
private func picture(_ value: UInt32) -> Unicode.Scalar {
    Unicode.Scalar(0x2400 + value) ?? "\u{FFFD}"
}
