/// A command line as somebody types it, up to the cursor, read as a shell reads it.
///
/// It is never evaluated: what a shell would replace stays as it is, except a home folder in front.
struct TypedLine: Equatable {
    /// How the cursor's word is quoted at the cursor.
    enum Quotes: Equatable {
        case none, single, double
    }

    /// Words of the last command of the line that are complete, its program first.
    private(set) var words: [String] = []
    /// The word at the cursor, without what quotes it.
    private(set) var current = ""
    /// The same as it was typed.
    private(set) var typed = ""
    /// Quotes that are open at the cursor.
    private(set) var quotes = Quotes.none

    /// Words that a shell has taken apart.
    init(words: [String], current: String) {
        (self.words, self.current, typed) = (words, current, current)
    }

    /// A line, or of what precedes the cursor so much as is known.
    init(_ line: String) {
        var isWord = false
        var isEscaped = false
        for character in line {
            if isEscaped {
                isEscaped = false
                // In double quotes a backslash quotes these alone.
                if quotes == .double, !"\"\\$`".contains(character) { current.append("\\") }
                add(character)
                isWord = true
                continue
            }
            switch (quotes, character) {
            case (.none, "\\"), (.double, "\\"):
                isEscaped = true
                typed.append(character)
                isWord = true
            case (.none, "'"): open(.single, character, &isWord)
            case (.none, "\""): open(.double, character, &isWord)
            case (.single, "'"), (.double, "\""):
                quotes = .none
                typed.append(character)
            case (.none, let blank) where blank.isWhitespace:
                if isWord { words.append(current) }
                (current, typed, isWord) = ("", "", false)
            case (.none, let sign) where "|;&()".contains(sign):
                // Another command begins.
                (words, current, typed, isWord) = ([], "", "", false)
            default:
                add(character)
                isWord = true
            }
        }
    }

    private mutating func add(_ character: Character) {
        current.append(character)
        typed.append(character)
    }

    private mutating func open(_ quotes: Quotes, _ character: Character, _ isWord: inout Bool) {
        self.quotes = quotes
        typed.append(character)
        isWord = true
    }
}

/// How a word is written for a shell.
enum ShellWord {
    /// Characters that no shell gives a meaning.
    private static func isPlain(_ character: Character) -> Bool {
        guard character.isASCII else { return !character.isWhitespace }
        return character.isLetter || character.isNumber || "/._-+,@%=:".contains(character)
    }

    /// The word as bash reads it back where the quotes are open already.
    static func bash(_ word: String, in quotes: TypedLine.Quotes) -> String {
        switch quotes {
        case .single: return word.replacing("'", with: "'\\''")
        case .double:
            // A mark of exclamation calls for an earlier line, and a backslash would stay before it.
            return word.map { character in
                if character == "!" { return "\"'!'\"" }
                return "\"\\$`".contains(character) ? "\\\(character)" : String(character)
            }.joined()
        case .none:
            // A tilde in front stands for a folder.
            return String(word.flatMap { isPlain($0) ? [$0] : ["\\", $0] })
        }
    }
}
