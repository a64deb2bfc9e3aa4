/// A language whose word endings are known here.
public enum Language: Int, CaseIterable, Sendable {
    /// One of them.
    case english, german, french, spanish, portuguese, italian, dutch, swedish, russian

    /// Words that say little by themselves, folded: they tell the language, and a search for
    /// several words does not insist on them.
    private static let frequent: [Language: String] = [
        .english: """
        a an and are as at be been but by can could did do does for from had has have he her \
        him his how i if in into is it its just me my no not of on or our she should so some \
        that the their them then there these they this to up us was we were what when where \
        which who why will with would you your
        """,
        .german: """
        aber als am an auch auf aus bei bin bis bist da das dass dem den der des die du ein \
        eine einem einen einer er es fur hat ich ihr im in ist ja kann mit nach nicht noch nur \
        oder sich sie sind so um und uns von war was wenn wie wir wo zu zum zur
        """,
        .french: """
        a au aux avec ce ces dans de des du elle en est et eu il ils je la le les leur lui mais \
        me mes moi mon ne nos nous on ou par pas pour qu que qui sa se ses son sur ta te tes un \
        une vous
        """,
        .spanish: """
        al como con de del donde el ella en es esta este esto hay la las le lo los mas me mi \
        muy no nos o para pero por que se si sin su sus te tu un una y ya yo
        """,
        .portuguese: """
        a ao aos as com como da das de do dos e ela ele em entre esta este eu foi isso ja mais \
        mas me meu na nao nas no nos o os ou para pela pelo por que se sem ser seu sua um uma \
        voce
        """,
        .italian: """
        al alla anche che chi ci come con da dal dei del della di e ed gli ha ho i il in io la \
        le lo ma mi ne nel non o per perche piu quando se si sono su un una
        """,
        .dutch: """
        aan als dat de den die dit een en er het hij ik in is je kan maar met mij naar niet nog \
        of om ons ook op te tot uit van voor wat we wel wij ze zijn zo
        """,
        .swedish: """
        att av da de den det du ett en for fran han har hon i inte jag kan med men mig min nar \
        och om pa sa sig som till upp var vi vid
        """,
        .russian: """
        без бы был была было в вам вас вы где да для до его ее если же за и из или их к как ко \
        когда кто мы на не него нет но о об он она они от по при с со так там то тот у уже чем \
        что это я
        """,
    ]

    private static let languagesByWord: [[UInt8]: [Language]] = {
        var found: [[UInt8]: [Language]] = [:]
        for language in allCases {
            for word in (frequent[language] ?? "").split(whereSeparator: \.isWhitespace) {
                found[Folding.folded(String(word)), default: []].append(language)
            }
        }
        return found
    }()

    /// Whether a word says little by itself in some language.
    public static func isFrequent(_ word: [UInt8]) -> Bool { languagesByWord[word] != nil }

    /// The language that most of the frequent words are of; English where there are none.
    static func ofWords(_ words: [Word]) -> Language {
        if words.contains(where: { isCyrillic($0.folded) }) { return .russian }
        var counts = [Int](repeating: 0, count: allCases.count)
        for word in words {
            for language in languagesByWord[word.folded] ?? [] { counts[language.rawValue] += 1 }
        }
        var best = Language.english
        for language in allCases where counts[language.rawValue] > counts[best.rawValue] {
            best = language
        }
        return best
    }

    /// The language among some that most of the frequent words are of; nil where there are none, where two
    /// are as likely, and where the words are rather of another language.
    public static func told(by words: [[UInt8]], among wanted: [Language]) -> Language? {
        if words.contains(where: { isCyrillic($0) }) { return nil }
        var counts = [Int](repeating: 0, count: allCases.count)
        for word in words {
            for language in languagesByWord[word] ?? [] { counts[language.rawValue] += 1 }
        }
        let best = wanted.max { counts[$0.rawValue] < counts[$1.rawValue] }
        guard let best, counts[best.rawValue] > 0 else { return nil }
        let most = counts[best.rawValue]
        let others = allCases.filter { $0 != best }
        // A word or two that another language has as well say nothing.
        let isDoubtful = others.contains {
            counts[$0.rawValue] > (wanted.contains($0) ? most - 1 : most + 1)
        }
        return isDoubtful ? nil : best
    }

    static func isCyrillic(_ word: [UInt8]) -> Bool {
        word.first.map { (0xd0...0xd3).contains($0) } ?? false
    }
}
