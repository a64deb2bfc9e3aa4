/// The terms of `Protocol/01-glossary.md`, and the words that do not stand for them.
struct Glossary {
    /// A row of the table.
    struct Row: Equatable {
        let term: String
        /// In lower case.
        let not: [String]
    }

    let rows: [Row]

    init(markdown: String) {
        rows = markdown.split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
            guard line.hasPrefix("|"), cells.count == 5, !line.hasPrefix("|--") else { return nil }
            let term = Self.trimmed(cells[1])
            guard term != "term" else { return nil }
            let words = cells[3].split(separator: ",").map { Self.trimmed($0).lowercased() }
            return Row(term: term, not: words.filter { !$0.isEmpty })
        }
    }

    /// Words of a file that the glossary has another one for: parts of identifiers in source, any words on a page.
    func strangers(in file: SourceFile) -> [Finding] {
        let terms = Dictionary(
            rows.flatMap { row in row.not.map { ($0, row.term) } },
            uniquingKeysWith: { one, _ in one }
        )
        let lines = file.path.hasSuffix(".swift") ? file.codeLines : file.lines
        return lines.enumerated().flatMap { index, line in
            Self.words(of: line).compactMap { word in
                let single = word.hasSuffix("s") ? String(word.dropLast()) : word
                guard let term = terms[word] ?? terms[single] else { return nil }
                return Finding(
                    path: file.path, line: index + 1, what: "\(word): the glossary says \(term)")
            }
        }
    }

    /// The words of a line in lower case, of an identifier those that it is put together from.
    static func words(of line: Substring) -> [String] {
        var words: [String] = []
        var word = ""
        for character in line {
            // An identifier of another script has none of these words.
            let isInside = character.isASCII && character.isLetter
            let isStart = character.isUppercase && word.last?.isLowercase == true
            if !isInside || isStart, !word.isEmpty {
                words.append(word.lowercased())
                word = ""
            }
            if isInside { word.append(character) }
        }
        return word.isEmpty ? words : words + [word.lowercased()]
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text.trimmed
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
