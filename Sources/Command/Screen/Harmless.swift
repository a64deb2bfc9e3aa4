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
