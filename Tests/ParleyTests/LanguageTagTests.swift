import Testing

@testable import Parley

@Suite("Tags of languages")
struct LanguageTagTests {
    @Test(
        "are taken in every form that the standard has",
        arguments: [
            "de", "pt-BR", "gsw", "zh-Hant-TW", "sl-rozaj-biske", "de-CH-1996", "es-419",
            "de-x-kurz", "x-elvish", "i-klingon", "en-a-bbb-x-a", "EN-us",
        ])
    func taken(tag: String) { #expect(LanguageTag.isWellFormed(tag)) }

    @Test(
        "are refused in any other",
        arguments: [
            "", "d", "-", "de-", "-de", "de--CH", "12", "deutschland", "german!", "de_CH", "x",
            "x-", "de-x", "en-a", "ü", "de-abcdefghi",
        ])
    func refused(tag: String) { #expect(!LanguageTag.isWellFormed(tag)) }
}
