extension Reaction {
    private static let joiner: UInt32 = 0x200D, pictureMark: UInt32 = 0xFE0F
    private static let keycap: UInt32 = 0x20E3
    private static let blackFlag: UInt32 = 0x1F3F4, tagEnd: UInt32 = 0xE007F
    private static let regions: ClosedRange<UInt32> = 0x1F1E6...0x1F1FF

    /// Whether a text is one emoji: one character for a reader, consisting only of code points that
    /// Unicode calls emoji and of the marks that join and colour those.
    ///
    /// Source: Unicode UTS #51, "emoji sequences". Which picture a joined sequence has, or whether any,
    /// differs from screen to screen, so that is not asked.
    public static func isEmoji(_ text: String) -> Bool {
        let scalars = Array(text.unicodeScalars)
        guard text.count == 1, let first = scalars.first else { return false }
        let rest = scalars.dropFirst().map(\.value)
        // Digits, `#` and `*` are the beginning of keycaps, and no emoji by themselves.
        if first.isASCII {
            return first.properties.isEmoji && [[keycap], [pictureMark, keycap]].contains(rest)
        }
        if regions.contains(first.value) {
            return rest.count == 1 && regions.contains(rest[0])
        }
        guard first.properties.isEmoji, !first.properties.isEmojiModifier || rest.isEmpty else {
            return false
        }
        if first.value == blackFlag, rest.last == tagEnd { return isRegion(rest.dropLast()) }
        return scalars.dropFirst().allSatisfy {
            $0.value == joiner || $0.value == pictureMark
                || $0.properties.isEmoji && !$0.isASCII && !regions.contains($0.value)
        } && rest.last != joiner
    }

    /// The letters of a flag of a part of a country, as tags that nobody sees: no text hides in them.
    private static func isRegion(_ tags: ArraySlice<UInt32>) -> Bool {
        (3...6).contains(tags.count)
            && tags.allSatisfy {
                (0xE0030...0xE0039).contains($0) || (0xE0061...0xE007A).contains($0)
            }
    }
}
