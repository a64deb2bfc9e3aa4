/// What `NodeCore` is composed of: values with private state, few verbs, and one way to say what is to
/// be done.
enum Values {
    /// The values whose state is theirs alone. One that is cut out of the core comes here with it.
    static let names: Set<String> = [
        "Backoff", "BodyRequests", "Confirmations", "Dialer", "DueSpaces", "FileHolders",
        "FileRoom", "LetterBook", "MissingBodies", "Neighbours", "OutboxQueue", "OwnHistory",
        "Passing", "RelayPace", "RelayQuestions", "RelayUpkeep", "Reminders", "Repair", "Repairs",
        "RoundPace", "SpaceWalks", "SuspectedGaps", "Timers", "WithdrawnInvitations",
    ]
    /// Methods that others may call of one value: one that needs more wants another cut.
    static let verbLimit = 10
    /// Stored properties of the core itself. It falls with every value that is cut out of it.
    static let corePropertyLimit = 13
    /// Methods of the core itself, over all files. As all bounds here it may fall, and not rise: who moves work into
    /// a value of its own lowers it.
    static let coreMethodLimit = 843
    /// Pairs of files of the core that call each other, and files that are one cycle of calls (``CallGraph``).
    static let mutualPairLimit = 71, cycleLimit = 72

    static let room = "NodeCore"

    /// Parameters by which a step would say what is to be done, beside its turn.
    static func looseEffects(_ file: SourceFile) -> [Finding] {
        guard file.room == room else { return [] }
        return file.codeLines.enumerated().compactMap { index, line in
            guard line.contains("inout [Effect]") else { return nil }
            return Finding(path: file.path, line: index + 1, what: "effects beside the turn")
        }
    }

    /// Stored properties of values that others may set.
    static func openState(_ file: SourceFile) -> [Finding] {
        guard file.room == room else { return [] }
        return names.sorted().flatMap { name in
            members(of: name, in: file).compactMap { member in
                guard isStored(member.text), !member.text.contains("private") else { return nil }
                return Finding(
                    path: file.path, line: member.line, what: "state of \(name) that is not private"
                )
            }
        }
    }

    /// Values with more verbs than they may have, over all files.
    static func crowded(_ files: [SourceFile]) -> [String] {
        names.sorted().compactMap { name in
            let count = verbs(of: name, in: files).count
            return count > verbLimit ? "\(name): \(count) verbs" : nil
        }
    }

    /// The methods of a value that others may call.
    static func verbs(of name: String, in files: [SourceFile]) -> [Substring] {
        files.filter { $0.room == room }.flatMap { members(of: name, in: $0) }.map(\.text).filter {
            declares("func", $0) && !$0.contains("private ")
        }
    }

    /// The stored properties that may change of a type.
    static func storedProperties(of name: String, in files: [SourceFile]) -> [Substring] {
        files.filter { $0.room == room }.flatMap { members(of: name, in: $0) }.map(\.text)
            .filter(isStored)
    }

    /// The lines that stand directly in a type or in an extension of it.
    static func members(
        of name: String, in file: SourceFile
    ) -> [(line: Int, text: Substring)] {
        var found: [(line: Int, text: Substring)] = []
        // Braces that are open; nil outside of the type.
        var depth: Int?
        for (index, line) in file.codeLines.enumerated() {
            if depth == nil, begins(name, line) { depth = 0 }
            guard let before = depth else { continue }
            if before == 1 { found.append((index + 1, line.trimmed)) }
            let after = before + line.count { $0 == "{" } - line.count { $0 == "}" }
            depth = after <= 0 && line.contains("}") ? nil : after
        }
        return found
    }

    private static func begins(_ name: String, _ line: Substring) -> Bool {
        // Types in types are others.
        guard line.first != " " else { return false }
        let words = line.split { !$0.isLetter && !$0.isNumber }
        return zip(words, words.dropFirst()).contains {
            ["struct", "enum", "extension"].contains($0) && $1 == name
        }
    }

    /// Whether a line declares something by a word, with nothing but modifiers in front.
    private static func declares(_ word: Substring, _ line: Substring) -> Bool {
        for part in line.split(whereSeparator: \.isWhitespace) {
            if part == word { return true }
            guard part.first?.isLowercase == true || part.first == "@", part != "static" else {
                return false
            }
        }
        return false
    }

    /// Whether a line declares a variable that is kept, and not computed each time.
    private static func isStored(_ line: Substring) -> Bool {
        guard declares("var", line) else { return false }
        guard let brace = line.firstIndex(of: "{") else { return true }
        return line.firstIndex(of: "=").map { $0 < brace } ?? false
    }
}
