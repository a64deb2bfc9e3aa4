import ArgumentParser

/// Makes commands in advice work as they stand: for the named home, which need not be the default
/// one.
enum Advice {
    /// The value of `--home`; nil if not given.
    @TaskLocal static var home: String?
    /// The value of `--profile`; nil if not given.
    @TaskLocal static var profile: String?
    /// Whether the command that runs is one of a relay, whose homes are others than a node's.
    @TaskLocal static var isOfRelay = false

    /// The program's name with a blank, as an advised command begins.
    private static let name = "parley "

    /// What names the home that was meant, as it stands on a command line.
    private static var place: String? {
        home.map { " --home " + quoted($0) } ?? profile.map { " --profile " + quoted($0) }
    }

    /// The text with `--home`, or `--profile`, behind each command in it that names none.
    ///
    /// What stands in “these” is typed elsewhere: on another device, or by another person. Whatever
    /// home that is, it is not this one.
    static func complete(_ text: String) -> String {
        guard let place else { return text }
        var shown = ""
        var rest = Substring(text)
        while let start = rest.firstRange(of: name) {
            let before = rest[..<start.lowerBound].last
            let isHere = before.map { $0.isLetter || $0 == "-" || $0 == "“" } != true
            shown += rest[..<start.upperBound]
            rest = rest[start.upperBound...]
            guard isHere, let end = end(of: rest), !namesHome(rest) else { continue }
            shown += rest[..<end] + place
            rest = rest[end...]
        }
        return shown + rest
    }

    /// ``complete(_:)`` for the home that is meant now, wherever it is called.
    static var completer: @Sendable (String) -> String {
        let (home, profile) = (home, profile)
        return { text in
            $home.withValue(home) { $profile.withValue(profile) { complete(text) } }
        }
    }

    /// Whether the command that a text begins with says itself which home it is about.
    private static func namesHome(_ text: Substring) -> Bool {
        let command = text.prefix { !"`,;\n".contains($0) }
        return command.contains("--home ") || command.contains("--profile ")
    }

    /// Where the words end that name a command; nil where they name none that takes this home.
    private static func end(of text: Substring) -> Substring.Index? {
        let words = text.split(separator: " ", maxSplits: 3).prefix(3).map { word in
            word.prefix { $0.isLetter || $0 == "-" }
        }
        let path = CommandWords.commands(of: words.map(String.init)[...]).path
        let count = path.count - 1
        guard count > 0, let command = path.last, (words[0] == "relay") == isOfRelay,
            isOfRelay || takesHome(command)
        else { return nil }
        return words[count - 1].endIndex
    }

    /// Whether a command is about a home of a node, as its help says; of several in one, whether the
    /// one is that is meant without another word, or any where none is meant.
    private static func takesHome(_ command: any ParsableCommand.Type) -> Bool {
        let configuration = command.configuration
        if let usual = configuration.defaultSubcommand { return takesHome(usual) }
        if !configuration.allSubcommands.isEmpty {
            return configuration.allSubcommands.contains(where: takesHome)
        }
        return command.helpMessage(columns: 1_000).contains("--home <")
    }

    /// A word for a shell.
    static func quoted(_ word: String) -> String {
        let isPlain = word.allSatisfy {
            $0.isASCII && ($0.isLetter || $0.isNumber || "/._-+,:@%".contains($0))
        }
        return isPlain && !word.isEmpty
            ? word : "'" + word.replacing("'", with: "'\\''") + "'"
    }

    /// The text in lines of at most so many columns. A command between backticks stays on one line, however
    /// long that is: what is copied from there is one command.
    static func wrapped(_ text: String, to count: Int?) -> [String] {
        // Between backticks blanks are others until the lines are made.
        let blank: Character = "\u{A0}"
        var isCommand = false
        let whole = String(
            text.map { character in
                if character == "`" { isCommand.toggle() }
                return isCommand && character == " " ? blank : character
            })
        var lines: [String] = []
        var line = ""
        for word in whole.split(separator: " ") {
            let needed = columnCount(line) + 1 + columnCount(String(word))
            if let count, needed > count, !line.isEmpty {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        return (lines + [line]).map { line in
            String(line.map { $0 == blank ? " " : $0 })
        }
    }
}
