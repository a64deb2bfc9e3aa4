import ParleyWords

extension Sentence {
    /// The languages whose rules are known.
    static let languages: [Language] = [.english, .german, .spanish]

    /// The sentences of a message that have words.
    static func all(of message: SaidMessage, at place: Int) -> [Sentence] {
        let cutter = SentenceCutter(message.text)
        let parts = cutter.ranges.map { range in
            let text = cutter.text(range)
            return (bytes: Array(text.utf8), words: wordsOutsideCode(of: text), range: range)
        }
        let language = Language.told(
            by: parts.flatMap { $0.words.map(\.folded) }, among: languages)
        return parts.enumerated().compactMap { ordinal, part in
            part.words.isEmpty
                ? nil
                : Sentence(
                    part.bytes, part.words, part.range, language, place: place, ordinal: ordinal)
        }
    }

    /// The words outside of code, as many as the rules look at.
    private static func wordsOutsideCode(of text: String) -> [Word] {
        let bytes = Array(text.utf8.prefix(wordByteCountMax))
        var (words, place, isCode): ([Word], Int, Bool) = ([], 0, false)
        for word in WordSplitter.words(of: String(decoding: bytes, as: UTF8.self)) {
            while place < min(word.range.lowerBound, bytes.count) {
                if bytes[place] == UInt8(ascii: "`") { isCode.toggle() }
                place += 1
            }
            // Behind the last whole letter stands a sign for what was cut off.
            if !isCode, word.range.upperBound <= bytes.count { words.append(word) }
            if words.count == tokenCountMax { break }
        }
        return words
    }

    private init(
        _ bytes: [UInt8], _ found: [Word], _ range: Range<Int>, _ language: Language?,
        place: Int, ordinal: Int
    ) {
        var tokens: [Token] = []
        for (index, word) in found.enumerated() {
            let next = index + 1 < found.count ? found[index + 1].range.lowerBound : bytes.count
            tokens.append(Self.token(word, bytes, next: next, range.lowerBound))
            let end = word.range.upperBound
            if end < bytes.count, bytes[end] == UInt8(ascii: ":"),
                end + 1 == bytes.count || bytes[end + 1] == 0x20
            {
                let colon = range.lowerBound + end
                tokens.append(Token(text: ":", range: colon..<colon + 1, endsPart: true))
            }
        }
        self.place = place
        self.ordinal = ordinal
        self.range = range
        self.tokens = tokens
        self.language = language
        words = tokens.map(\.text)
        terms = found.filter { !Language.isFrequent($0.folded) }
            .map { Stemmer.stem($0.folded, in: language ?? .english) }
        isQuestion = Self.isQuestion(bytes)
    }

    /// Signs that nicknames go on with.
    private static let nameSigns = Array("_-^`|".utf8)

    private static func token(
        _ word: Word, _ bytes: [UInt8], next: Int, _ start: Int
    ) -> Token {
        let (first, end) = (word.range.lowerBound, word.range.upperBound)
        var behind = end
        while behind < next, nameSigns.contains(bytes[behind]) { behind += 1 }
        let gap = bytes[end..<max(end, next)]
        return Token(
            text: text(bytes[word.range], word), range: start + first..<start + end,
            isMarked: first > 0 && bytes[first - 1] == UInt8(ascii: "@"),
            isCalled: behind < bytes.count && [0x2C, 0x3A].contains(bytes[behind]),
            endsPart: gap.contains { [0x2C, 0x3B, 0x28].contains($0) })
    }

    /// The word with its apostrophe: "I’ll" is "i'll".
    private static func text(_ bytes: ArraySlice<UInt8>, _ word: Word) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.utf8.count <= 32, text.contains(where: { $0 == "'" || $0 == "’" }) else {
            return String(decoding: word.folded, as: UTF8.self)
        }
        return text.split(omittingEmptySubsequences: false) { $0 == "'" || $0 == "’" }
            .map { String(decoding: Folding.folded(String($0)), as: UTF8.self) }
            .joined(separator: "'")
    }

    /// A question mark among the marks at the end; what smiles behind it changes nothing.
    private static func isQuestion(_ bytes: [UInt8]) -> Bool {
        let end = bytes.lastIndex { $0 >= 0x80 || isWordByte($0) } ?? -1
        let tail = bytes[(end + 1)...]
        return tail.contains(UInt8(ascii: "?")) || bytes.suffix(3) == [0xEF, 0xBC, 0x9F]
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }

    /// The sentence as it is shown.
    func cited(in messages: [SaidMessage]) -> CitedSentence {
        let message = messages[place]
        let bytes = message.text.utf8
        var range = range
        if range.count > Self.shownByteCountMax {
            let end = tokens.last {
                $0.range.upperBound <= range.lowerBound + Self.shownByteCountMax
            }
            range = range.lowerBound..<(end?.range.upperBound ?? range.lowerBound)
        }
        let start = bytes.index(bytes.startIndex, offsetBy: range.lowerBound)
        let end = bytes.index(start, offsetBy: range.count)
        let text = String(decoding: bytes[start..<end], as: UTF8.self)
        return CitedSentence(
            message: message.number, ordinal: ordinal, text: text,
            isCut: range.count < self.range.count)
    }
}
