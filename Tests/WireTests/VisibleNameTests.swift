import ParleyWire
import Testing

@Suite("Names that can be seen")
struct VisibleNameTests {
    @Test("that would be two in a list stand in quotes there")
    func listed() {
        #expect(VisibleName.list(["ann", "Ben, Cara", "Dan"]) == "ann, “Ben, Cara”, Dan")
        for name in ["a,b", "a、b", "a، b", "a，b", "a; b", "a‚ b", "Ben and Cara"] {
            #expect(VisibleName.list([name, "x"]) == "“\(name)”, x")
        }
        #expect(VisibleName.list(["Sandy", "Andrea"]) == "Sandy, Andrea")
    }

    @Test(
        "a person is not called by a word with which Parley means somebody",
        arguments: [
            "you", "You", "YOU", " you ", "y\u{43E}u", "ｙｏｕ", "yo\u{200B}u", "me", "ME", "m\u{435}",
            "everyone", "Everyone", "ever\u{443}one", "nobody", "NOBODY", "all", "All", "ALL",
            "aIl", "a11", "@everyone", " @all", "\u{FF20}you",
        ])
    func ownWords(name: String) {
        #expect(VisibleName.isOwnWord(name))
        let shown = VisibleName.shownPerson(name)
        #expect(shown.hasPrefix("“") && shown.hasSuffix("”"))
        #expect(!shown.hasPrefix("““"))
        // A group may be called so, unless it bears the sign with which all are called.
        #expect(VisibleName.shown(name).hasPrefix("“") == VisibleName.isCall(name))
    }

    @Test(
        "nothing is called as one calls everybody",
        arguments: ["@everyone", "@ALL", " @ everyone", "\u{FF20}everyone", "@\u{200B}all", "@me"])
    func calls(name: String) {
        #expect(VisibleName.isCall(name))
        #expect(VisibleName.shown(name).hasPrefix("“"))
    }

    @Test(
        "what only begins so, or has no sign, is a name",
        arguments: ["everyone", "@ben", "@", "", "all", "everyone@home", "@all of us"])
    func noCalls(name: String) {
        #expect(!VisibleName.isCall(name))
    }

    @Test(
        "a name in which such a word stands is a name",
        arguments: [
            "", "Ann", "Youssef", "you two", "Mel", "Allie", "Al", "Every One", "Nobody's",
            "@ann", "me@home",
        ])
    func otherWords(name: String) {
        #expect(!VisibleName.isOwnWord(name))
        #expect(VisibleName.shownPerson(name) == name)
    }

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

    static let unseen =
        ["\u{2800}", "\u{FFFC}", "\u{1107F}", "\u{13441}", "\u{13442}"]
        + ["\u{16FE4}", "\u{1BC9D}", "\u{1D159}", "\u{3164}", "\u{34F}"]

    @Test(
        "Attack 149: a letter, a sign or an accent that draws nothing is a hidden mark",
        arguments: unseen)
    func blank149(mark: String) {
        for (before, after) in [("Vera", ""), ("Ve", "ra"), ("", "Vera")] {
            let name = before + mark + after
            #expect(VisibleName.hiddenMark(in: name) == mark.unicodeScalars.first)
            #expect(VisibleName.shown(name) == before + "\u{FFFD}" + after)
            #expect(Confusables.resemble("Vera", name))
            // As it stands in a list of contacts.
            #expect(Confusables.resemble("Vera", VisibleName.shown(name)))
        }
        #expect(VisibleName.isBlank(mark + " " + mark))
        #expect(VisibleName.looksLikeIdentifier("42bc" + mark + "5fac"))
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

    @Test(
        "Attack 120: a name that looks like an identifier is told",
        arguments: [
            "42bc5fac", "42BC5FAC", " 42bc5fac ", "42bc\u{200B}5fac", "deadbeef", "20261123",
            "４２ｂｃ５ｆａｃ", "𝟒2bc5fac", "42bс5fаc", "42bc5fac\u{3164}", "٤٢٠٠٥٥٥١",
            "1122334455667788-12", "4200555O\u{200B}1".replacing("O", with: "О"),
            String(repeating: "a", count: 64),
            "Tom (693fce02)", "Tom ( 693fce02 )", "Tom （693fce02）",
            "(693fce02) Tom", "Tom [693fce02", "Ada (you)", "Ada (Yоu)", "Ada (y\u{200B}ou)",
            "#7", " # 12", "\u{FF03}７", "#\u{200B}7",
        ])
    func identifier120(name: String) {
        #expect(VisibleName.looksLikeIdentifier(name))
        #expect(VisibleName.shown(name).hasPrefix("“") && VisibleName.shown(name).hasSuffix("”"))
    }

    @Test(
        "names are none",
        arguments: [
            "Ada", "Fabella", "Facade 42", "2026-11-23", "42bc5fa", "Decebal", "Adelaide",
            "OOOOOOOO",
            "room 20261123", "Bob-12345678", "李小龍李小龍李小", "12345678-", "-12345678",
            "Tom (Berlin)", "Tom (2026)", "(Ada", "Ada)", "()", "Ada (you too)", "#", "#7 Ada",
            "C#",
        ])
    func noIdentifier(name: String) {
        #expect(!VisibleName.looksLikeIdentifier(name) && !VisibleName.isIdentifier(name))
    }

    @Test("several blanks do not make a column")
    func blanks() {
        #expect(VisibleName.shown(" Ben   42bc5fac  accepted ") == "Ben 42bc5fac accepted")
    }

    @Test(
        "Attack 120: names that look alike are told",
        arguments: [
            ("Ben", "Веn"), ("Ben", "BEN"), ("Ada", "Аdа"), ("Bill", "BiII"), ("Bill", "Bi1l"),
            ("Bern", "Bem"), ("Ann", "Ａｎｎ"), ("Otto", "0tt0"), ("Cara", "𝐂𝐚𝐫𝐚"), ("Иван", "иван"),
            ("André", "Andr\u{0435}\u{301}"), ("Ann Lee", "ann  lee"), ("Ben", "Be\u{200B}n"),
        ])
    func alike120(left: String, right: String) {
        #expect(Confusables.resemble(left, right) && Confusables.resemble(right, left))
    }

    @Test(
        "other names are not alike",
        arguments: [
            ("Ben", "Dan"), ("Ian", "Lan"), ("Ada", "Ida"), ("Иван", "Ivan"), ("Ann", "Anna"),
            ("André", "Andre"), ("李", "季"),
        ])
    func different(left: String, right: String) {
        #expect(!Confusables.resemble(left, right))
    }
}
