/// Takes the endings off words, so that "server" finds "servers". Lightly: two words that mean
/// different things must not become one.
public enum Stemmer {
    /// The word without its ending, in the language of its text.
    public static func stem(_ word: [UInt8], in language: Language) -> [UInt8] {
        guard word.count > 3, !hasDigit(word) else { return word }
        // A text of one script may have words of another.
        let language =
            Language.isCyrillic(word) ? .russian : language == .russian ? .english : language
        if language == .english { return english(word) }
        guard let endings = endings[language] else { return word }
        // Letters of two bytes count once.
        let least = language == .russian ? 6 : 4
        for ending in endings where word.count >= ending.count + least && ends(word, ending) {
            return Array(word.dropLast(ending.count))
        }
        return word
    }

    /// What a word may be without its ending, in any language: a query does not say which one is
    /// meant.
    static func stems(of word: [UInt8]) -> [[UInt8]] {
        var found: [[UInt8]] = []
        let isCyrillic = Language.isCyrillic(word)
        for language in Language.allCases where (language == .russian) == isCyrillic {
            let stem = stem(word, in: language)
            if !found.contains(stem) { found.append(stem) }
        }
        return found
    }

    private static func english(_ word: [UInt8]) -> [UInt8] {
        var stem = word
        if ends(stem, "ies"), stem.count > 4 {
            stem.removeLast(3)
            stem.append(UInt8(ascii: "y"))
        } else if ["sses", "xes", "zes", "ches", "shes"].contains(where: { ends(stem, $0) }) {
            stem.removeLast(2)
        } else if ends(stem, "s"), !["ss", "us", "is"].contains(where: { ends(stem, $0) }) {
            stem.removeLast()
        }
        for ending in ["ing", "ed"] where ends(stem, ending) && !ends(stem, "eed") {
            let rest = stem.dropLast(ending.utf8.count)
            guard rest.count >= 3, rest.contains(where: isVowel) else { continue }
            stem = undoubled(Array(rest))
            break
        }
        if stem.count > 3, stem.last == UInt8(ascii: "e") { stem.removeLast() }
        return stem
    }

    /// "stopp" is "stop"; "call" and "miss" stay.
    private static func undoubled(_ word: [UInt8]) -> [UInt8] {
        guard word.count > 3, let last = word.last, word[word.count - 2] == last,
            !isVowel(last), !"lsz".utf8.contains(last)
        else { return word }
        return Array(word.dropLast())
    }

    private static func isVowel(_ letter: UInt8) -> Bool { "aeiouy".utf8.contains(letter) }

    private static func hasDigit(_ word: [UInt8]) -> Bool {
        word.contains { (0x30...0x39).contains($0) }
    }

    private static func ends(_ word: [UInt8], _ ending: String) -> Bool {
        word.count > ending.utf8.count && word.suffix(ending.utf8.count).elementsEqual(ending.utf8)
    }

    private static func ends(_ word: [UInt8], _ ending: [UInt8]) -> Bool {
        word.suffix(ending.count).elementsEqual(ending)
    }

    /// Folded, the longest first.
    private static let endings: [Language: [[UInt8]]] = {
        let lists: [Language: String] = [
            .german: "ern em en er es e n s",
            .french: """
            issements issement ements ement ations ation euses euse aux ives ive ees es ee er \
            ez e s x
            """,
            .spanish: """
            amientos imientos aciones amiento imiento acion mente idades iendo idad ando ados \
            adas idos idas ado ada ido ida ar er ir es os as o a e s
            """,
            .portuguese: """
            coes mente idades idade ando endo indo ados adas idos ado ada ido cao oes ais ao ar \
            er ir es os as o a e s
            """,
            .italian: """
            zioni zione mente ando endo ati ato ata ate uti uto are ere ire i e a o
            """,
            .dutch: "en er es e s",
            .swedish: "arna erna orna ar er or en et an a e s",
            .russian: """
            иями ями ами ией ого его ому ему ыми ими ешь ете ать ять ить ует ают яют ла ло ли ый \
            ий ая яя ое ее ые ие ой ей ом ем ах ях ов ев ам ям ть ет ит ут ют ал ил а я о е ы и \
            у ю ь
            """,
        ]
        return lists.mapValues { list in
            list.split(whereSeparator: \.isWhitespace).map { Folding.folded(String($0)) }
                .sorted { $0.count > $1.count }
        }
    }()
}
