import ParleyWords

/// A few words that say something, in a small language of their own:
///
/// ```
/// ^i will|shall ?also <do>      at the beginning; one of two; one that may be missing; a kind
/// remember ..2 to               up to two words between
/// so ..3 it is$                 up to the end
/// ```
struct Phrase: Sendable {
    /// A kind of words, in angle brackets.
    enum Kind: String, Sendable {
        /// Any word but those with which nobody takes on anything ("be", "see").
        case action = "do"
        /// A word that names a task ("send").
        case task
        /// The name of somebody who is here.
        case name
        /// A word that says something by itself.
        case noun
    }

    enum Element: Sendable {
        case words(Set<String>, isOptional: Bool)
        case kind(Kind)
        case gap(Int)
    }

    let elements: [Element]
    let isAtStart: Bool
    let isAtEnd: Bool
    /// One of these comes first; nil where any may.
    let first: Set<String>?

    init(_ text: String) {
        var text = text[...]
        isAtStart = text.hasPrefix("^")
        isAtEnd = text.hasSuffix("$")
        if isAtStart { text = text.dropFirst() }
        if isAtEnd { text = text.dropLast() }
        elements = text.split(separator: " ").map { Self.element($0) }
        if case .words(let words, isOptional: false) = elements.first {
            first = words
        } else {
            first = nil
        }
    }

    private static func element(_ text: Substring) -> Element {
        if text.hasPrefix(".."), let count = Int(text.dropFirst(2)) { return .gap(count) }
        if text.hasPrefix("<"), let kind = Kind(rawValue: String(text.dropFirst().dropLast())) {
            return .kind(kind)
        }
        let isOptional = text.hasPrefix("?")
        let words = (isOptional ? text.dropFirst() : text).split(separator: "|")
        return .words(Set(words.map { PhraseList.folded($0) }), isOptional: isOptional)
    }

    /// Where it ends if it begins at a word; nil if it does not stand there.
    func end(in words: ArraySlice<String>, is fits: (String, Kind) -> Bool) -> Int? {
        end(of: 0, in: words, is: fits)
    }

    private func end(
        of index: Int, in words: ArraySlice<String>, is fits: (String, Kind) -> Bool
    ) -> Int? {
        guard index < elements.count else {
            return isAtEnd && !words.isEmpty ? nil : words.startIndex
        }
        switch elements[index] {
        case .words(let wanted, let isOptional):
            if let first = words.first, wanted.contains(first),
                let end = end(of: index + 1, in: words.dropFirst(), is: fits)
            {
                return end
            }
            return isOptional ? end(of: index + 1, in: words, is: fits) : nil
        case .kind(let kind):
            guard let first = words.first, fits(first, kind) else { return nil }
            return end(of: index + 1, in: words.dropFirst(), is: fits)
        case .gap(let count):
            for skipped in 0...count where skipped <= words.count {
                if let end = end(of: index + 1, in: words.dropFirst(skipped), is: fits) {
                    return end
                }
            }
            return nil
        }
    }
}

/// Phrases that are looked for together, found by their first words.
final class PhraseList: Sendable {
    let phrases: [Phrase]
    private let byFirst: [String: [Int]]
    private let anywhere: [Int]

    /// - Parameter lines: a phrase in each.
    convenience init(_ lines: String) {
        self.init(lines.split(separator: "\n").map { Phrase(String($0)) })
    }

    init(_ phrases: [Phrase]) {
        self.phrases = phrases
        var (byFirst, anywhere): ([String: [Int]], [Int]) = ([:], [])
        for (index, phrase) in phrases.enumerated() {
            guard let first = phrase.first else {
                anywhere.append(index)
                continue
            }
            for word in first { byFirst[word, default: []].append(index) }
        }
        (self.byFirst, self.anywhere) = (byFirst, anywhere)
    }

    /// The first place at which one of them stands, and which.
    ///
    /// - Parameter start: where the sentence begins, behind the name of who is addressed.
    func match(
        _ words: [String], from start: Int, is fits: (String, Phrase.Kind) -> Bool
    ) -> (phrase: Int, range: Range<Int>)? {
        for place in words.indices.dropFirst(start) {
            for index in (byFirst[words[place]] ?? []) + anywhere {
                if phrases[index].isAtStart, place > start { continue }
                if let end = phrases[index].end(in: words[place...], is: fits) {
                    return (index, place..<end)
                }
            }
        }
        return nil
    }

    /// Whether one of them stands there.
    func matches(_ words: [String], from start: Int = 0) -> Bool {
        match(words, from: start) { _, _ in false } != nil
    }

    /// As words of sentences are compared.
    static func folded(_ text: some StringProtocol) -> String {
        text.split(separator: "'", omittingEmptySubsequences: false)
            .map { String(decoding: Folding.folded(String($0)), as: UTF8.self) }
            .joined(separator: "'")
    }
}
