import ArgumentParser

/// Says what may stand at the cursor of a command line. Made from the declarations of the commands:
/// there is no list of them to keep.
struct Completer {
    /// Something that may stand there.
    struct Candidate: Equatable {
        /// The whole word, as the program is to read it.
        var word: String
        /// Its description, in a few words; may be empty.
        var meaning = ""
    }

    /// The completions.
    enum Offer: Equatable {
        case words([Candidate])
        /// The shell knows files, and whether only folders are meant. What precedes the path in its word
        /// stays.
        case files(foldersOnly: Bool)
    }

    let line: TypedLine
    /// Names of a kind of thing, as the node knows them.
    let names: (NameKind) async -> [Candidate]

    /// Candidates, at most: a person does not read more.
    private static let candidateCountMax = 200

    func offer() async throws -> Offer {
        // The program itself stands first.
        var words = line.words.dropFirst()
        if words.first == "help" {
            return matching(commands(below: CommandWords.commands(of: words.dropFirst()).path))
        }
        let (path, rest) = CommandWords.commands(of: words)
        words = rest
        guard var command = path.last else { return .words([]) }
        var candidates: [Candidate] = []
        if !command.configuration.allSubcommands.isEmpty {
            if words.isEmpty { candidates = commands(below: path) }
            guard let usual = command.configuration.defaultSubcommand else {
                return words.isEmpty ? matching(candidates) : .words([])
            }
            command = usual
        }
        return try await offer(of: CommandForm.of(command), after: Array(words), with: candidates)
    }

    private func commands(below path: [any ParsableCommand.Type]) -> [Candidate] {
        guard let last = path.last else { return [] }
        let all = last.configuration.allSubcommands.filter { $0.configuration.shouldDisplay }
        let help = path.count == 1 ? [Candidate(word: "help", meaning: "show help")] : []
        return all.map { Candidate(word: $0._commandName, meaning: $0.configuration.abstract) }
            + help
    }

    /// What may follow the words of one command.
    private func offer(
        of form: CommandForm, after words: [String], with commands: [Candidate]
    ) async throws -> Offer {
        var (place, isOver, used) = (0, false, Set<String>())
        var awaited: ArgumentForm?
        for word in words {
            if awaited != nil {
                awaited = nil
            } else if !isOver, word == "--" {
                isOver = true
            } else if !isOver, word.hasPrefix("-"), word.count > 1 {
                used.insert(word)
                awaited = Self.option(word, of: form).flatMap { $0.kind == .option ? $0 : nil }
            } else {
                place += 1
            }
        }
        if let awaited { return await values(of: awaited) }
        if !isOver, line.current.hasPrefix("-") {
            if let equals = line.current.firstIndex(of: "="),
                let option = Self.option(String(line.current[..<equals]), of: form)
            {
                return await values(of: option, behind: String(line.current[...equals]))
            }
            return matching(Self.options(of: form, used))
        }
        let positionals = form.positionals
        let last = positionals.last.flatMap { $0.isRepeating == true ? $0 : nil }
        guard let argument = place < positionals.count ? positionals[place] : last else {
            return matching(commands + (line.current.isEmpty ? Self.options(of: form, used) : []))
        }
        let offer = await values(of: argument, isOver: isOver)
        guard case .words(let found) = offer, !commands.isEmpty else { return offer }
        guard case .words(let started) = matching(commands) else { return offer }
        return .words(started + found)
    }

    private static func option(_ word: String, of form: CommandForm) -> ArgumentForm? {
        form.options.first { $0.names?.contains { $0.text == word } == true }
    }

    private static func options(of form: CommandForm, _ used: Set<String>) -> [Candidate] {
        form.options.flatMap { option -> [Candidate] in
            let names = (option.names ?? []).map(\.text)
            if option.isRepeating != true, names.contains(where: used.contains) { return [] }
            return names.filter { $0.hasPrefix("--") }.map {
                Candidate(word: $0, meaning: option.abstract ?? "")
            }
        }
    }

    private func values(
        of argument: ArgumentForm, behind start: String = "", isOver: Bool = false
    ) async -> Offer {
        switch CompletionSource(argument) {
        case .files: return .files(foldersOnly: false)
        case .folders: return .files(foldersOnly: true)
        case .words(let words): return matching(words.map { Candidate(word: start + $0) })
        case .names(let kind):
            let found = await names(kind).filter { candidate in
                isOver || !start.isEmpty || !candidate.word.hasPrefix("-")
            }
            return matching(found.map { Candidate(word: start + $0.word, meaning: $0.meaning) })
        case .nothing: return .words([])
        }
    }

    /// Those that begin as the cursor's word does, in whatever case.
    private func matching(_ candidates: [Candidate]) -> Offer {
        let start = line.current.lowercased()
        var seen: Set<String> = []
        let found = candidates.filter {
            $0.word.lowercased().hasPrefix(start) && seen.insert($0.word).inserted
        }
        return .words(Array(found.prefix(Self.candidateCountMax)))
    }
}
