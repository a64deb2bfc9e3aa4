/// What the index stores about a text, before it is hashed: a stem, a prefix, the author's name, or
/// a property of the text.
public struct Term: Hashable, Comparable, Sendable {
    /// The kind in one letter, then the word: no term of one kind is one of another.
    public let bytes: [UInt8]

    private init(_ kind: Unicode.Scalar, _ bytes: some Collection<UInt8>) {
        self.bytes = [UInt8(ascii: kind)] + bytes
    }

    /// A word without its ending.
    static func word(_ stem: [UInt8]) -> Term { Term("w", stem) }
    /// The beginning of a word.
    static func beginning(_ letters: some Collection<UInt8>) -> Term { Term("p", letters) }
    /// The author that an imported message names.
    public static func author(_ name: String) -> Term { Term("a", Folding.folded(name)) }
    /// What a text has, as `link`.
    static func has(_ what: String) -> Term { Term("h", Array(what.utf8)) }

    /// In the order of their bytes.
    public static func < (left: Term, right: Term) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

/// Turns texts into terms. A change here that changes a term raises ``version``.
public enum Terms {
    /// The version of the terms: an index of another version is rebuilt.
    public static let version: Int64 = 1

    /// Beginnings of words are kept at these lengths, in letters; what was typed between and
    /// beyond them is compared with the text itself.
    static let beginningLengths = [3, 5]

    /// At most so many terms of one text are kept.
    static let countMax = 4096

    /// All terms of a text, each once, ascending.
    ///
    /// - Parameter author: who wrote it where it came from; nil for what was written here.
    public static func ofText(_ text: String, author: String? = nil) -> [Term] {
        let words = WordSplitter.words(of: text)
        let language = Language.ofWords(words)
        var terms: Set<Term> = []
        for (index, word) in words.enumerated() {
            guard terms.count < countMax else { break }
            terms.insert(.word(Stemmer.stem(word.folded, in: language)))
            if word.isUnspaced {
                guard index > 0, word.follows(words[index - 1]) else { continue }
                terms.insert(.word(words[index - 1].folded + word.folded))
            } else {
                for length in beginningLengths {
                    guard let beginning = beginning(of: word.folded, length) else { break }
                    terms.insert(.beginning(beginning))
                }
            }
        }
        if let author { terms.insert(.author(author)) }
        if hasLink(text) { terms.insert(.has("link")) }
        return terms.sorted()
    }

    /// Whether a text names an address of the web.
    static func hasLink(_ text: String) -> Bool {
        text.contains("http://") || text.contains("https://")
    }

    /// The first letters of a word, or nil where it has fewer.
    static func beginning(of word: [UInt8], _ length: Int) -> ArraySlice<UInt8>? {
        var count = 0
        for (index, byte) in word.enumerated() where byte & 0xc0 != 0x80 {
            if count == length { return word[..<index] }
            count += 1
        }
        return count == length ? word[...] : nil
    }
}
