/// A parsed query: `words "an exact phrase" -not from:ann in:hut after:2026-01-31`.
///
/// Source: `Protocol/10-search.md`, "Queries".
public struct SearchQuery: Equatable, Sendable {
    /// A text longer than this is no search, in bytes.
    public static let byteCountMax = 1024
    /// At most so many conditions are looked at.
    static let conditionCountMax = 32

    /// All of these a text must have. Frequent words are left out where others remain.
    public private(set) var wanted: [Condition] = []
    /// Any of these a text must not have.
    public private(set) var unwanted: [Condition] = []
    /// Names of authors; one of them wrote it.
    public internal(set) var authors: [String] = []
    /// Names of conversations; it stands in one of them.
    public internal(set) var conversations: [String] = []
    /// It was written earlier, in Unix milliseconds.
    public internal(set) var before: UInt64?
    /// It was written then or later, in Unix milliseconds.
    public internal(set) var after: UInt64?
    /// What it must have: `link` or `reaction`.
    public private(set) var has: [String] = []
    /// What it must be: `reply` or `edited`.
    public private(set) var states: [String] = []
    /// The question itself, without conditions: used for the search by meaning.
    public private(set) var question = ""
    /// Whether something must stand in the text exactly: by meaning alone nothing is found then.
    public private(set) var isExact = false
    /// How many of the things that are wanted, the first ones, are phrases in quotation marks.
    private(set) var exactCount = 0
    /// How much of what is wanted is enough; nil where all of it must be there.
    var covering: Covering?

    /// Why a text is no search.
    public enum Refusal: Error, Equatable, Sendable {
        /// It is longer than ``byteCountMax``.
        case tooLong
        /// This is no day: `2026-01-31`, `2026-01`, `2026`, `today`, `yesterday` or `7d` is one.
        case noDay(String)
        /// The query contains nothing to search for.
        case empty
        /// Nothing stands behind this key.
        case missing(String)
        /// There is nothing of this kind that a message could have.
        case unknownHas(String)
        /// There is nothing of this kind that a message could be.
        case unknownState(String)
    }

    /// Parses what a person typed.
    ///
    /// - Parameters:
    ///   - time: now, in Unix milliseconds, for `after:7d`.
    ///   - isTyping: whether the last word may be the beginning of one.
    public init(_ text: String, at time: UInt64, isTyping: Bool = false) throws(Refusal) {
        guard text.utf8.count <= Self.byteCountMax else { throw .tooLong }
        let parts = QueryPart.parts(of: text)
        guard isTyping || !parts.isEmpty else { throw .empty }
        var optional: [Condition] = []
        var said: [String] = []
        for (index, part) in parts.enumerated() {
            let isLast = isTyping && index == parts.count - 1 && !part.isClosed
            if part.value.isEmpty {
                // Who types has not come to it yet.
                guard isTyping else { throw .missing(part.key) }
                continue
            }
            switch part.key {
            case "from": authors.append(part.value)
            case "in": conversations.append(part.value)
            case "before": before = try Self.day(part.value, at: time)
            case "after": after = try Self.day(part.value, at: time)
            case "has":
                guard ["link", "reaction"].contains(part.value) else {
                    throw .unknownHas(part.value)
                }
                has.append(part.value)
            case "is":
                guard ["reply", "edited"].contains(part.value) else {
                    throw .unknownState(part.value)
                }
                states.append(part.value)
            default:
                if !part.isNegated { said.append(part.value) }
                let found = Self.conditions(of: part, isLast: isLast)
                if part.isNegated {
                    unwanted += found
                } else if part.isQuoted {
                    isExact = isExact || !found.isEmpty
                    wanted += found
                } else {
                    optional += found
                }
            }
        }
        question = said.joined(separator: " ")
        exactCount = wanted.count
        let telling = optional.filter { !$0.isFrequent }
        wanted += telling.isEmpty && wanted.isEmpty ? optional : telling
        wanted = Array(wanted.prefix(Self.conditionCountMax))
        exactCount = min(exactCount, wanted.count)
        unwanted = Array(unwanted.prefix(Self.conditionCountMax))
    }

    /// A search for what is like this text.
    public init(like text: String) {
        question = text
    }

    /// Whether nothing but conditions of place, time and author was said.
    public var isEmpty: Bool { wanted.isEmpty && question.isEmpty }

    private static func conditions(of part: QueryPart, isLast: Bool) -> [Condition] {
        let words = WordSplitter.words(of: part.value)
        if part.isQuoted { return words.isEmpty ? [] : [.phrase(words.map(\.folded))] }
        var found: [Condition] = []
        var run: [Word] = []
        for word in words {
            if let last = run.last, word.follows(last) {
                run.append(word)
                continue
            }
            if !run.isEmpty { found.append(.phrase(run.map(\.folded))) }
            run = word.isUnspaced ? [word] : []
            if !word.isUnspaced { found.append(.word(word.folded)) }
        }
        if !run.isEmpty { found.append(.phrase(run.map(\.folded))) }
        if isLast, case .word(let word)? = found.last {
            // What is to be left out is not guessed from a letter or two.
            let isTelling = Terms.beginning(of: word, Terms.beginningLengths[0]) != nil
            if isTelling || !part.isNegated { found[found.count - 1] = .beginning(word) }
        }
        return found
    }

    /// The first millisecond of a day, month or year, or so many days ago.
    private static func day(_ text: String, at time: UInt64) throws(Refusal) -> UInt64 {
        let today = time / Calendar.dayMilliseconds * Calendar.dayMilliseconds
        if text == "today" { return today }
        if text == "yesterday" { return today &- Calendar.dayMilliseconds }
        if text.last == "d", let days = UInt64(text.dropLast()), days <= 40_000 {
            return time > days * Calendar.dayMilliseconds
                ? time - days * Calendar.dayMilliseconds : 0
        }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { Int($0) }
        guard (1...3).contains(parts.count), numbers.count == parts.count,
            let start = Calendar.milliseconds(
                year: numbers[0], month: numbers.count > 1 ? numbers[1] : 1,
                day: numbers.count > 2 ? numbers[2] : 1)
        else { throw .noDay(text) }
        return start
    }
}

extension Condition {
    /// Whether it is a word that says little by itself.
    fileprivate var isFrequent: Bool {
        if case .word(let word) = self { return Language.isFrequent(word) }
        return false
    }
}

/// One part of what was typed.
private struct QueryPart {
    var key = ""
    var value = ""
    var isNegated = false
    var isQuoted = false
    /// Whether a blank or a quotation mark ended it.
    var isClosed = true

    private static let keys = ["from", "in", "before", "after", "has", "is"]
    private static let quotes: Set<Character> = ["\"", "“", "”", "„"]

    static func parts(of text: String) -> [QueryPart] {
        var parts: [QueryPart] = []
        var rest = text[...]
        while true {
            rest = rest.drop(while: \.isWhitespace)
            guard !rest.isEmpty else { return parts }
            var part = QueryPart()
            if rest.first == "-", rest.dropFirst().first.map({ !$0.isWhitespace }) == true {
                part.isNegated = true
                rest = rest.dropFirst()
            }
            for key in keys where rest.lowercased().hasPrefix(key + ":") {
                part.key = key
                rest = rest.dropFirst(key.count + 1)
            }
            rest = part.take(from: rest)
            if !part.value.isEmpty || !part.key.isEmpty { parts.append(part) }
        }
    }

    private mutating func take(from text: Substring) -> Substring {
        if let first = text.first, Self.quotes.contains(first) {
            let inside = text.dropFirst()
            let end = inside.firstIndex { Self.quotes.contains($0) }
            isQuoted = true
            isClosed = end != nil
            value = String(inside[..<(end ?? inside.endIndex)])
            return end.map { inside[inside.index(after: $0)...] } ?? ""
        }
        let end = text.firstIndex(where: \.isWhitespace)
        isClosed = end != nil
        value = String(text[..<(end ?? text.endIndex)])
        return end.map { text[$0...] } ?? ""
    }
}

/// Days of the Gregorian calendar, in universal time.
enum Calendar {
    static let dayMilliseconds: UInt64 = 86_400_000

    /// When a day begins, in Unix milliseconds; nil for what is no day, or one before 1970.
    static func milliseconds(year: Int, month: Int, day: Int) -> UInt64? {
        guard (1970...9999).contains(year), (1...12).contains(month) else { return nil }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard (1...lengths[month - 1]).contains(day) else { return nil }
        let before = year - 1
        let days =
            365 * before + before / 4 - before / 100 + before / 400 - 719_162
            + lengths[..<(month - 1)].reduce(0, +) + day - 1
        return UInt64(days) * dayMilliseconds
    }
}
