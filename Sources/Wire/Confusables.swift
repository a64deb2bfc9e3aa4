/// Which names look alike: letters of one script that are drawn as those of another.
///
/// Two names resemble each other if their skeletons are equal. Letters that are drawn like Latin
/// ones are found; two Han characters that look alike are not.
/// Source: `Protocol/05-identity.md`, "Names", and Unicode Technical Standard 39, section 4.
public enum Confusables {
    /// Whether somebody could take one of the names for the other.
    public static func resemble(_ left: String, _ right: String) -> Bool {
        keys(of: left).contains { keys(of: right).contains($0) }
    }

    /// The keys of a name: two names resemble each other if they share a key.
    public static func keys(of name: String) -> [String] {
        [
            "=" + name.lowercased().split(whereSeparator: \.isWhitespace).joined(separator: " "),
            "~" + skeleton(of: name),
        ]
    }

    /// How a name looks. Capital and small letters are the same except L, because a small one is
    /// drawn like a capital I.
    static func skeleton(of name: String) -> String {
        var skeleton = ""
        for scalar in name.unicodeScalars {
            if scalar.properties.isWhitespace {
                if !skeleton.isEmpty, skeleton.last != " " { skeleton.append(" ") }
            } else if !VisibleName.drawsNothing(scalar), scalar != VisibleName.standIn {
                let drawn = latin(of: scalar) ?? String(scalar)
                skeleton.append(drawn == "L" ? drawn : drawn.lowercased())
            }
        }
        if skeleton.last == " " { skeleton.removeLast() }
        return skeleton
    }

    /// The ASCII letters or digits as which a character is drawn; nil for those that stand for
    /// themselves.
    static func latin(of scalar: Unicode.Scalar) -> String? {
        if let known = table[scalar] { return known }
        switch scalar.value {
        case 0xFF01...0xFF5E:
            // Wide forms of ASCII.
            return Unicode.Scalar(scalar.value - 0xFEE0).map { table[$0] ?? String($0) }
        case 0x1D400...0x1D6A3:
            // Letters of mathematics: thirteen alphabets of capital and small ones.
            let index = UInt8((scalar.value - 0x1D400) % 52)
            let letter = Unicode.Scalar(index < 26 ? 65 + index : 97 + index - 26)
            return table[letter] ?? String(letter)
        default:
            guard !scalar.isASCII, scalar.properties.numericType == .decimal,
                let value = scalar.properties.numericValue
            else { return nil }
            let digit = Unicode.Scalar(48 + UInt8(value))
            return table[digit] ?? String(digit)
        }
    }

    private static let table: [Unicode.Scalar: String] = {
        var table: [Unicode.Scalar: String] = [:]
        for (target, sources) in rows {
            for source in sources.unicodeScalars { table[source] = target }
        }
        return table
    }()

    /// Characters that are drawn like ASCII letters and digits.
    ///
    /// From `confusables.txt` of Unicode 15.1 as the Python package `confusable-homoglyphs` 3.3.1
    /// holds it: the characters that stand alone, have one prototype, and no compatibility
    /// decomposition, where the prototype's own consists of ASCII letters and digits; grouped by it.
    private static let rows: [(target: String, sources: String)] = [
        ("0", "🄍"),
        ("1", "➀"),
        ("10", "⏨➉"),
        ("2", "ƧϨᒿ➁ꙄꛯꝚ"),
        ("3", "ƷȜЗӠ➂ⳌꝪꞫ\u{118CA}\u{16F3B}\u{1D206}"),
        ("4", "Ꮞ➃\u{118AF}"),
        ("5", "Ƽ➄\u{118BB}"),
        ("6", "бᏮ➅Ⳓ\u{118D5}"),
        ("7", "➆\u{104D2}\u{118C6}\u{1D212}"),
        ("8", "Ȣȣ৪੪\u{B03}➇\u{1031A}\u{1E8CB}"),
        ("9", "৭੧୨൭➈ⳊꝮ\u{118AC}\u{118CC}\u{118D6}"),
        ("A", "ΑАᎪᗅꓮ\u{102A0}\u{16F40}"),
        ("AA", "Ꜳ"),
        ("AE", "ÆӔ"),
        ("AO", "Ꜵ"),
        ("AR", "🜇"),
        ("AU", "Ꜷ"),
        ("AV", "ꜸꜺ"),
        ("AY", "Ꜽ"),
        ("B", "ΒВᏴᗷꓐꞴ\u{10282}\u{102A1}\u{10301}"),
        ("C", "©СᏟⲤꓚ\u{102A2}\u{10302}\u{10415}\u{1051C}\u{118E9}\u{118F2}🝌"),
        ("D", "Ꭰᗞᗪꓓ"),
        ("E", "ΕЕᎬ⋿ⴹꓰ\u{10286}\u{118A6}\u{118AE}"),
        ("F", "ϜᖴꓝꞘ\u{10287}\u{102A5}\u{10525}\u{118A2}\u{118C2}\u{1D213}"),
        ("G", "ԌᏀᏳꓖ"),
        ("H", "ΗНᎻᕼⲎꓧ\u{102CF}"),
        ("J", "ͿЈᎫᒍꓙꞲ"),
        ("K", "ΚКᏦᛕⲔꓗ\u{10518}"),
        ("L", "ᏞᒪⳐꓡ\u{1041B}\u{10526}\u{118A3}\u{118B2}\u{16F16}\u{1D22A}"),
        ("M", "ΜϺМᎷᗰᛖⲘꓟ\u{102B0}\u{10311}"),
        ("MB", "🝫"),
        ("N", "ΝⲚꓠ\u{10513}"),
        ("O", "0ΟОՕ\u{7C0}০ଠ୦ዐⲞⵔ〇ꓳ\u{10292}\u{102AB}\u{10404}\u{104C2}\u{10516}"),
        ("O", "\u{114D0}\u{118B5}\u{118E0}"),
        ("OE", "Œ"),
        ("OO", "ꚘꝎ"),
        ("P", "ΡРᏢᑭᣖ℗Ⲣꓑ\u{10295}"),
        ("Q", "ⵕ"),
        ("QE", "🜀"),
        ("R", "®ƦᎡᏒᖇꓣ\u{104B4}\u{16F35}\u{1D216}"),
        ("S", "ЅՏᏕᏚꓢ\u{10296}\u{10420}\u{16F3A}"),
        ("T", "ΤТᎢ⊤⟙Ⲧꓔ\u{10297}\u{102B1}\u{10315}\u{118BC}\u{16F0A}🝨"),
        ("T3", "Ꜩ"),
        ("U", "Սሀᑌ∪⋃ꓴ\u{104CE}\u{118B8}\u{16F42}"),
        ("V", "Ѵ\u{667}۷Ꮩᐯⴸꓦꛟ\u{1051D}\u{118A0}\u{16F08}\u{1D20D}"),
        ("VB", "🝬"),
        ("W", "ԜᎳᏔꓪ\u{118E6}\u{118EF}"),
        ("X", "ΧХ᙭ᚷ╳ⲬⵝꓫꞳ\u{10290}\u{102B4}\u{10317}\u{10322}\u{10527}\u{118EC}"),
        ("Y", "ΥУҮᎩᎽⲨꓬ\u{102B2}\u{118A4}\u{16F43}"),
        ("Z", "ΖᏃꓜ\u{102F5}\u{118A9}\u{118E5}"),
        ("a", "ɑαа⍺"),
        ("aa", "ꜳ"),
        ("ae", "æӕ"),
        ("ao", "ꜵ"),
        ("au", "ꜷ"),
        ("av", "ꜹꜻ"),
        ("ay", "ꜽ"),
        ("b", "ƄЬᏏᑲᖯ"),
        ("bl", "Ы"),
        ("c", "сᴄⲥꮯ\u{1043D}"),
        ("d", "ԁᏧᑯꓒ"),
        ("dz", "ʣ"),
        ("e", "еҽ℮ꬲ"),
        ("f", "քẝꞙꬵ"),
        ("g", "ƍɡցᶃ"),
        ("h", "һհᏂ"),
        ("i", "ıɩɪιіӏᎥ⍳ꙇꭵ\u{118C3}"),
        ("j", "ϳј"),
        ("l", "1I|ƖǀΙІӀ\u{5C0}\u{5D5}\u{5DF}\u{627}\u{661}۱\u{7CA}ᛁᣳ∣⏽Ⲓⵏꓲ\u{1028A}"),
        ("l", "\u{10309}\u{10320}\u{16F28}\u{1E8C7}"),
        ("lO", "Ю"),
        ("ll", "ǁ\u{5F0}\u{2016}∥"),
        ("ls", "ʪ"),
        ("lt", "₶"),
        ("lz", "ʫ"),
        ("n", "ոռ"),
        ("o", "οσоօ\u{5E1}\u{647}\u{665}\u{6BE}\u{6C1}\u{6D5}۵०੦૦௦\u{C02}౦\u{C82}೦"),
        ("o", "\u{D02}ഠ൦\u{D82}๐໐ဝ၀ჿᴏᴑⲟꬽ\u{1042C}\u{104EA}\u{118C8}\u{118D7}"),
        ("oe", "œ"),
        ("oo", "∞ꚙꝏ"),
        ("p", "ρр⍴ⲣ"),
        ("q", "ԛգզ"),
        ("r", "гᣴᴦⲅꭇꭈꮁ"),
        ("rn", "m\u{11700}\u{118E3}"),
        ("s", "ƽѕꜱꮪ\u{10448}\u{118C1}"),
        ("sss", "🝜"),
        ("tf", "ꝷ"),
        ("ts", "ʦ"),
        ("u", "ʋυսᴜꞟꭎꭒ\u{104F6}\u{118D8}"),
        ("ue", "ᵫ"),
        ("uo", "ꭣ"),
        ("v", "νѵ\u{5D8}ᴠ∨⋁ꮩ\u{11706}\u{118C0}"),
        ("w", "ɯѡԝաᴡꮃ\u{1170A}\u{1170E}\u{1170F}"),
        ("x", "×хᕁᕽ\u{166E}⤫⤬⨯"),
        ("y", "ɣʏγуүყᶌỿꭚ\u{118DC}"),
        ("z", "ᙆᴢꮓ\u{118C4}"),
    ]
}
