import Foundation

/// What a person reads when something goes wrong: a sentence that says what, and one that says what to do.
enum ErrorTexts {
    /// How source begins the message of an error, or its hint.
    private static let openings = ["ValidationError(", "NodeError(", "hint:"]

    /// Messages and hints that do not begin as sentences do.
    static func fragments(_ file: SourceFile) -> [Finding] {
        guard file.path.hasPrefix("Sources/") else { return [] }
        return openings.flatMap { opening in
            texts(after: opening, in: file).compactMap { text, line in
                guard text.first?.isLowercase == true else { return nil }
                return Finding(
                    path: file.path, line: line, what: "is no sentence: \(text.prefix(40))")
            }
        }
    }

    /// The texts behind an opening, each from its quote on, with the lines that they begin in.
    private static func texts(
        after opening: String, in file: SourceFile
    ) -> [(text: Substring, line: Int)] {
        var found: [(text: Substring, line: Int)] = []
        var rest = file.text[...]
        var line = 1
        while let place = rest.range(of: opening) {
            var text = rest[place.upperBound...].drop(while: \.isWhitespace)
            // The code of an error comes first.
            if opening == "NodeError(", text.first == "\"",
                let comma = text.firstIndex(of: ",")
            {
                text = text[comma...].dropFirst().drop(while: \.isWhitespace)
                if text.hasPrefix("whole:") {
                    text = text.dropFirst("whole:".count).drop(while: \.isWhitespace)
                }
            }
            line += rest[..<place.upperBound].count { $0 == "\n" }
            if text.first == "\"" { found.append((text.dropFirst(), line)) }
            rest = rest[place.upperBound...]
        }
        return found
    }
}
