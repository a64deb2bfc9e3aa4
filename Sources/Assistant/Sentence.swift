import ParleyWords

/// A sentence of a message, cut into what the rules look at.
struct Sentence {
    /// A word, or a colon that ends a part.
    struct Token: Equatable {
        /// Folded; an apostrophe stays, since "ill" is not "i'll".
        var text: String
        /// Its bytes in the message.
        var range: Range<Int>
        /// Whether an `@` stands right before it.
        var isMarked = false
        /// Whether a comma or a colon stands right behind it, as behind the name of who is addressed.
        var isCalled = false
        /// Whether a comma, a semicolon or a bracket stands between it and the next word.
        var endsPart = false
    }

    /// Bytes of a sentence that are shown, at most.
    static let shownByteCountMax = 400
    /// Words of a sentence that the rules look at: nobody gives a task in the eightieth.
    static let tokenCountMax = 80
    /// Bytes of a sentence in which these are looked for.
    static let wordByteCountMax = 2 << 10

    /// The place of its message in what was given.
    let place: Int
    /// Which sentence of its message it is.
    let ordinal: Int
    /// Its bytes in the message.
    let range: Range<Int>
    /// Its words.
    let tokens: [Token]
    /// The words alone, as phrases are matched against them.
    let words: [String]
    /// What the search compares: endings off, frequent words left out.
    let terms: [[UInt8]]
    /// Whether it ends as a question does.
    let isQuestion: Bool
    /// The language of its message; nil where its words do not tell.
    var language: Language?
}

/// Cuts a message into sentences. Quoted lines and code are none: nobody says them.
///
/// What it costs follows the length of the text, and of a text longer than ``byteCountMax`` only its
/// beginning is looked at.
struct SentenceCutter {
    /// Bytes of a message that are looked at.
    static let byteCountMax = 16 << 10
    /// Sentences of a message, at most.
    static let sentenceCountMax = 64

    private let bytes: [UInt8]
    private(set) var ranges: [Range<Int>] = []

    /// - Parameter text: of any length.
    init(_ text: String) {
        bytes = Self.beginning(of: text)
        var start = 0
        var isCode = false
        while start < bytes.count, ranges.count < Self.sentenceCountMax {
            let end = bytes[start...].firstIndex { $0 == 0x0A || $0 == 0x0D } ?? bytes.count
            let line = bytes[start..<end].drop(while: Self.isBlank)
            if line.starts(with: "```".utf8) {
                isCode.toggle()
            } else if !isCode, !Self.isQuoted(line), !Self.isIndented(bytes[start..<end]) {
                cut(line.startIndex..<end)
            }
            start = end + 1
        }
    }

    /// The text of a range.
    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// Whole letters alone.
    private static func beginning(of text: String) -> [UInt8] {
        var found = Array(text.utf8.prefix(byteCountMax))
        guard found.count == byteCountMax else { return found }
        while let last = found.last, last & 0xC0 == 0x80 { found.removeLast() }
        if let last = found.last, last >= 0xC0 { found.removeLast() }
        return found
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Behind an angle, or behind a time, as logs have it.
    private static func isQuoted(_ line: ArraySlice<UInt8>) -> Bool {
        if line.first == UInt8(ascii: ">") { return true }
        let stamp = line.prefix(24).prefix {
            (0x30...0x3A).contains($0) || [0x20, 0x2D, 0x28, 0x5B].contains($0)
        }
        return stamp.count >= 5 && stamp.contains(0x3A)
            && (line.first == UInt8(ascii: "[") || stamp.count(where: { $0 == 0x3A }) > 1)
    }

    private static func isIndented(_ line: ArraySlice<UInt8>) -> Bool {
        line.first == 0x09 || line.starts(with: "    ".utf8)
    }

    /// Cuts one line.
    private mutating func cut(_ line: Range<Int>) {
        var start = line.lowerBound
        var place = start
        var isCode = false
        while place < line.upperBound {
            if bytes[place] == UInt8(ascii: "`") { isCode.toggle() }
            guard !isCode, let length = mark(at: place) else {
                place += 1
                continue
            }
            var end = place + length
            while end < line.upperBound, let more = mark(at: end) ?? closing(at: end) {
                end += more
            }
            let isEnd = end >= line.upperBound || Self.isBlank(bytes[end]) || length == 3
            if isEnd, !isAbbreviation(before: place, from: start, next: end, line) {
                add(start..<min(end, line.upperBound))
                start = min(end, line.upperBound)
            }
            place = end
        }
        add(start..<line.upperBound)
    }

    /// How many bytes a mark has that ends sentences; nil where there is none.
    private func mark(at place: Int) -> Int? {
        switch bytes[place] {
        case UInt8(ascii: "."), UInt8(ascii: "!"), UInt8(ascii: "?"): return 1
        default: break
        }
        guard bytes[place] >= 0xE2, place + 3 <= bytes.count else { return nil }
        let three = bytes[place..<place + 3]
        let marks: [[UInt8]] = [[0xE2, 0x80, 0xA6], [0xE3, 0x80, 0x82], [0xEF, 0xBC, 0x9F]]
        return marks.contains { three.elementsEqual($0) } ? 3 : nil
    }

    /// A bracket or a quote behind the mark belongs to the sentence.
    private func closing(at place: Int) -> Int? {
        [UInt8(ascii: ")"), UInt8(ascii: "\""), UInt8(ascii: "'")].contains(bytes[place]) ? 1 : nil
    }

    private static let abbreviations: Set<String> = [
        "e.g", "i.e", "etc", "z.b", "d.h", "bzw", "ca", "dr", "mr", "mrs", "ms", "nr", "no", "vs",
        "p.ej", "sr", "sra", "u.a", "usw", "st", "approx", "min", "max",
    ]

    /// Whether a full stop ends an abbreviation or an ordinal number, and no sentence.
    private func isAbbreviation(
        before place: Int, from start: Int, next: Int, _ line: Range<Int>
    ) -> Bool {
        guard bytes[place] == UInt8(ascii: "."), next == place + 1, next < line.upperBound else {
            return false
        }
        let word = bytes[start..<place].suffix(12).split(whereSeparator: Self.isBlank).last ?? []
        if word.count <= 2, word.allSatisfy({ (48...57).contains($0) }), !word.isEmpty {
            return true
        }
        return Self.abbreviations.contains(String(decoding: word, as: UTF8.self).lowercased())
    }

    private mutating func add(_ range: Range<Int>) {
        guard ranges.count < Self.sentenceCountMax else { return }
        let slice = bytes[range].drop(while: Self.isBlank)
        var end = slice.endIndex
        while end > slice.startIndex, Self.isBlank(bytes[end - 1]) { end -= 1 }
        if end > slice.startIndex { ranges.append(slice.startIndex..<end) }
    }
}
