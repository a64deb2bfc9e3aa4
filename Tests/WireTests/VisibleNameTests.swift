import ParleyWire
import Testing

@Suite("Names that can be seen")
struct VisibleNameTests {
    @Test(
        "Attack 95: a name with a mark that nothing shows is told by it",
        arguments: [
            "Be\u{200B}n", "Ben\u{200E}", "\u{202E}neB", "B\u{00AD}en", "Ben\u{2060}",
            "Ben\u{061C}",
            "Ben\u{2064}", "Ben\u{FEFF}", "Ben\u{E0041}", "Be\u{200D}n", "Be\u{200C}n", "Ben\u{7}",
            "Ben\u{FE0F}", "Ben1\u{FE0F}", "Ben\u{2028}", "Ben\u{E000}", "Ben\u{180E}", "\u{200D}👩",
            "👩\u{200D}",
        ])
    func hidden95(name: String) {
        #expect(VisibleName.hiddenMark(in: name) != nil)
        #expect(VisibleName.shown(name).unicodeScalars.contains("\u{FFFD}"))
        #expect(VisibleName.hiddenMark(in: VisibleName.shown(name)) == nil)
    }

    @Test(
        "names of people are left as they are",
        arguments: [
            "Ben", "Renée", "Rene\u{301}e", "Иван", "李小龍", "علی\u{200C}رضا", "क्\u{200D}ष",
            "👩‍👩‍👧 family", "❤️", "👍🏽", "1️⃣", "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
            "O’Brien-Smith 3rd", "שלום",
        ])
    func visible(name: String) {
        #expect(VisibleName.hiddenMark(in: name) == nil)
        #expect(VisibleName.shown(name) == name && !VisibleName.isBlank(name))
    }

    @Test(
        "Attack 95: a name of which nothing can be seen is blank",
        arguments: [
            "", " ", "\u{3164}", "\u{2800}\u{2800}", "\u{115F}\u{00A0}", "\u{200B}", "\u{3000}",
        ])
    func blank95(name: String) {
        #expect(VisibleName.isBlank(name))
    }
}
