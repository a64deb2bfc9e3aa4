/// A text from somebody else, as it may stand on a terminal.
///
/// A message can hold anything. Control characters move cursors, change titles and colours, and on
/// some terminals type commands; marks that turn the direction of writing make a text look like
/// another. They are shown as pictures or as `�`, so that nothing vanishes unseen.
func harmless(_ text: String) -> String {
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
        switch scalar.value {
        case 0x09: shown.append(contentsOf: "    ".unicodeScalars)
        case 0x00...0x1F: shown.append(picture(scalar.value))
        case 0x7F: shown.append("\u{2421}")
        // C1 controls, line and paragraph separators, directions, invisible tags.
        case 0x80...0x9F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF, 0xE0000...0xE007F:
            shown.append("\u{FFFD}")
        default: shown.append(scalar)
        }
    }
    return String(shown)
}

/// `␛` for escape, and so on: Unicode has a picture for each.
private func picture(_ value: UInt32) -> Unicode.Scalar {
    Unicode.Scalar(0x2400 + value) ?? "\u{FFFD}"
}

/// How many columns a terminal gives a text. Near enough to align names.
func columnCount(_ text: String) -> Int {
    text.reduce(0) { count, character in
        guard let scalar = character.unicodeScalars.first else { return count }
        switch scalar.value {
        case 0x0300...0x036F, 0x200B...0x200F: return count
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            return count + 2
        default: return count + 1
        }
    }
}

/// The text, made harmless, cut to this many columns and filled up to them.
func column(_ text: String, _ count: Int) -> String {
    var shown = harmless(text)
    guard count > 0 else { return "" }
    if columnCount(shown) > count {
        while columnCount(shown) > count - 1 { shown.removeLast() }
        shown += "…"
    }
    return shown + String(repeating: " ", count: max(0, count - columnCount(shown)))
}
