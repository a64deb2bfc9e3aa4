/// Words as troff reads them: nothing in them is taken for a command.
enum ManualText {
    /// A text within a line.
    static func escaped(_ text: String) -> String {
        var shown = ""
        for character in text {
            switch character {
            case "\\": shown += "\\e"
            case "-": shown += "\\-"
            case "'": shown += "\\(aq"
            case "`": shown += "\\(ga"
            case "^": shown += "\\(ha"
            case "~": shown += "\\(ti"
            case "“": shown += "\\(lq"
            case "”": shown += "\\(rq"
            case "’": shown += "\\(cq"
            case "…": shown += "..."
            case "–", "—": shown += "\\(en"
            default: shown += character.unicodeScalars.map(Self.escaped).joined()
            }
        }
        return shown
    }

    /// What is not ASCII by its number: every reader of manuals knows that.
    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        guard !scalar.isASCII else { return String(scalar) }
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return "\\[u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "]"
    }

    /// A paragraph in lines of a bearable length, a new line for each sentence. Between backticks stands a
    /// command, which is bold.
    static func paragraph(_ text: String) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ", omittingEmptySubsequences: true).map(String.init) {
            let shown = Self.word(word)
            if !line.isEmpty, line.count + 1 + shown.count > 76 {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + shown
            if word.hasSuffix(".") || word.hasSuffix("?") || word.hasSuffix("!") {
                lines.append(line)
                line = ""
            }
        }
        if !line.isEmpty { lines.append(line) }
        return lines.map(guarded)
    }

    /// Words that are made up already, in lines of a bearable length.
    static func wrapped(_ text: String) -> [String] {
        var lines = [""]
        for word in text.split(separator: " ").map(String.init) {
            let line = lines[lines.count - 1]
            if line.isEmpty {
                lines[lines.count - 1] = word
            } else if line.count + 1 + word.count > 76 {
                lines.append(word)
            } else {
                lines[lines.count - 1] = line + " " + word
            }
        }
        return lines.map(guarded)
    }

    /// A word, bold between backticks; several words of one command are bold each.
    private static func word(_ word: String) -> String {
        let parts = word.split(separator: "`", omittingEmptySubsequences: false).map(String.init)
        guard parts.count > 1 else { return escaped(word) }
        return parts.enumerated().map { place, part in
            place.isMultiple(of: 2) || part.isEmpty ? escaped(part) : "\\fB\(escaped(part))\\fP"
        }.joined()
    }

    /// A line that begins as a command would is none.
    static func guarded(_ line: String) -> String {
        line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" + line : line
    }
}
